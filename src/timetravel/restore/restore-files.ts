/** Restores the files of a session, and captures first whatever it would replace. */
import type { CaptureResult } from '../../autocommit/capture.ts';
import { linkedSandbox } from '../../autocommit/observe.ts';
import { hasContent } from '../../autocommit/scan/content.ts';
import { readStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { applyPlan } from '../../checkout/apply.ts';
import type { TargetFolder } from '../../checkout/folder-writer.ts';
import { type CheckoutPlan, prepareCheckout } from '../../checkout/plan.ts';
import { requireSpaceFor } from '../../checkout/required-space.ts';
import { entriesOf } from '../../disk/folder-entries.ts';
import { insideCheck } from '../../disk/is-inside.ts';
import { attempt } from '../../errors.ts';
import type { Git } from '../../git/run/git.ts';
import { statCacheFile } from '../../layout.ts';
import type { LockedSession } from '../../session/lock.ts';
import { isAttached, type SessionRecord, sessionFolder } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import { parentDirectories, readSnapshotTree } from '../../snapshot/tree.ts';
import { captureSession } from '../../workspace/capture-session.ts';
import { type AmbiguousFolders, lstatIn, shownPath } from '../session-paths.ts';
import { type IgnoresFile, keepIgnored, type Taking } from './ignored-files.ts';
import type { RestoreRequest } from './unfinished-restore.ts';

export interface FilesToRestore {
  /** The session as it will be after the restore: agt captures only active sessions. */
  readonly record: SessionRecord;
  readonly snapshot: Snapshot;
  /** The snapshot, apart from files that stay at an undo. */
  readonly wanted: SnapshotMetadata;
  /** The capture before the restore; undefined if the folder was empty. */
  readonly before: CaptureResult | undefined;
  /** From there to the snapshot; undefined if agt does not know it yet. */
  readonly plan: CheckoutPlan | undefined;
  /** The files that git ignores before the restore or after it, in an attached folder. */
  readonly isIgnored: IgnoresFile | undefined;
  readonly taking: Taking;
  readonly ambiguous: AmbiguousFolders;
}

/** How often agt captures the folder again, if other processes change it during the restore, before it goes on. */
const ATTEMPTS = 3;

/**
 * Restores files, links, directories and permissions. `changed`: the paths that were not as wanted. `whole`: the plan, if
 * the folder was empty and agt has written every file of it.
 */
export async function restoreFiles(
  session: LockedSession,
  files: FilesToRestore,
  { scope, now }: RestoreRequest,
) {
  const { git } = session.repository;
  const { record, wanted, before, isIgnored, taking, ambiguous } = files;
  const shown = (path: string) => shownPath(path, ambiguous);
  const paths = new Map<string, ChangedPath>();
  let captured = before?.commit;
  const notes: string[] = [];
  let plan = files.plan ?? (await planFrom(session, { captured, wanted, scope, isIgnored }));
  for (let attempt = 1; ; attempt++) {
    for (const one of describePlan(plan, ambiguous))
      if (one.kind !== '!' && !paths.has(one.path)) paths.set(one.path, one);
    const { changed, refused } = await applyPlan(git, plan, openSessionFolder(session.with(record)));
    if (changed.length === 0 || attempt === ATTEMPTS) {
      const busy = changed.map((path) => ({ path, reason: whyChanged(path, { record, plan, isIgnored }) }));
      const warnings = [...refused, ...busy].map(
        ({ path, reason }) => `${shown(path)} was not restored: ${reason}`,
      );
      const isWhole = before === undefined && attempt === 1 && warnings.length === 0;
      return {
        changed: sorted([...paths.values()]),
        warnings: [...notes, ...warnings],
        whole: isWhole ? plan : undefined,
      };
    }
    const marks = { now, unfinished: files.snapshot.commit, ...taking };
    captured = (await captureSession(session.with(record), marks)).commit;
    plan = await planFrom(session, { captured, wanted, scope, isIgnored });
    // The snapshot before the restore does not have these files, so undo would not bring them back.
    const isNewlyCaptured = (path: string) => isIgnored?.(path) === true && changed.includes(path);
    const replaced = plan.writes.find(({ path, isNew }) => !isNew && isNewlyCaptured(path));
    if (replaced === undefined || captured === undefined) continue;
    const [example, snapshot] = [shown(replaced.path), captured.slice(0, 10)];
    notes.push(
      `files that git ignores are replaced, such as ${example}: snapshot ${snapshot} has them as they were`,
    );
  }
}

/** Why a path is not as captured, although agt has captured the folder again. */
function whyChanged(
  path: string,
  { record, plan, isIgnored }: Pick<FilesToRestore, 'record' | 'isIgnored'> & { readonly plan: CheckoutPlan },
): string {
  if (isIgnored !== undefined && isDirectory(record, path))
    return 'it is a directory that holds files that no restore deletes, such as those that git ignores';
  if (plan.directories.has(path) && isIgnored?.(path) === true)
    return 'it is a file that git ignores, where the snapshot has a directory';
  return hasAnotherName(record, path)
    ? 'this disk takes its name for that of another file there'
    : 'a process keeps changing it';
}

/** On a disk that does not tell `a` from `A`, as on a Mac, nothing is listed under the name that leads to it. */
function hasAnotherName(record: SessionRecord, path: string): boolean {
  const absolute = `${Buffer.from(sessionFolder(record)).toString('latin1')}/${path}`;
  const slash = absolute.lastIndexOf('/');
  const names = () => entriesOf(absolute.slice(0, slash)).map(({ name }) => name);
  return lstatIn(record, path) !== undefined && attempt(names)?.includes(absolute.slice(slash + 1)) === false;
}

export interface Way {
  /** The last snapshot; undefined if the folder is empty. */
  readonly captured?: string | undefined;
  readonly wanted: SnapshotMetadata;
  readonly scope: RestoreRequest['scope'];
  readonly isIgnored?: IgnoresFile | undefined;
}

export async function planFrom(
  session: Session,
  { captured, wanted, scope, isIgnored }: Way,
): Promise<CheckoutPlan> {
  const { git } = session;
  const from = captured === undefined ? undefined : await readSnapshotMetadata(git, captured);
  return keepIgnored(await prepareCheckout(git, from, wanted, scope), isIgnored, session);
}

export interface ChangedPath {
  /** `A` added, `M` changed, `D` deleted, `!` not restored, because something that was never captured is in the way. */
  readonly kind: 'A' | 'M' | 'D' | '!';
  /** As shown to people, relative to the sandbox. */
  readonly path: string;
  /** Of a file or directory of which only the permissions change. */
  readonly bits?: number;
}

export function describePlan(plan: CheckoutPlan, ambiguous: AmbiguousFolders): ChangedPath[] {
  const paths: ChangedPath[] = [
    ...plan.deletions.map((path) => ({ kind: 'D' as const, path })),
    ...plan.writes.map(({ path, isNew }) => ({ kind: isNew ? ('A' as const) : ('M' as const), path })),
    ...plan.emptyDirectories.removed.map((path) => ({ kind: 'D' as const, path })),
    ...plan.emptyDirectories.made.map((path) => ({ kind: 'A' as const, path })),
    ...[...plan.modes].map(([path, bits]) => ({ kind: 'M' as const, path, bits })),
    ...plan.blocked.map((path) => ({ kind: '!' as const, path })),
  ];
  const first = [...new Map(paths.toReversed().map((one) => [one.path, one])).values()];
  // A user who reads `A config` beside files looks for it among them.
  const inside = first.filter(({ path }) => !TOP_FOLDERS.some((top) => top === path));
  const told = inside.length > 0 ? inside : first;
  return sorted(told.map((one) => ({ ...one, path: shownPath(one.path, ambiguous) })));
}

function sorted(paths: readonly ChangedPath[]): ChangedPath[] {
  const isMode = ({ bits }: ChangedPath) => Number(bits !== undefined);
  return paths.toSorted((a, b) => isMode(a) - isMode(b) || (a.path < b.path ? -1 : 1));
}

/** Every path that a plan changes. */
export function pathsOf(plan: CheckoutPlan): string[] {
  const { made, removed } = plan.emptyDirectories;
  const files = [...plan.deletions, ...plan.writes.map(({ path }) => path)];
  return [...files, ...made, ...removed, ...plan.modes.keys()];
}

/** @throws AgtError if the disk has too little room for the restore. Nothing has changed then. */
export async function requireRoom(session: Session, way: Way): Promise<CheckoutPlan> {
  const plan = await planFrom(session, way);
  await requireSpaceFor(session.git, plan, session.folder, linkedSandbox(session.record));
  return plan;
}

interface StayingFiles {
  /** With the directories above; as shown to people. */
  readonly paths: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

export const NO_FILES: StayingFiles = { paths: new Set(), warnings: [] };

/**
 * Files of an attached folder that git ignored before the restore, and that the restored `.gitignore` does not name, and
 * those that somebody wrote during the restore. agt deletes none of them, and the snapshot after the restore has them.
 */
export async function stayingFiles(
  git: Git,
  { record, wanted, before, isIgnored, ambiguous }: FilesToRestore,
  after: string,
): Promise<StayingFiles> {
  if (!isAttached(record)) return NO_FILES;
  const shown = (path: string) => shownPath(path, ambiguous);
  const read = (commit: string) => readSnapshotTree(git, commit);
  const [now, then] = await Promise.all([read(after), read(wanted.commit)]);
  const captured = before?.commit === undefined ? undefined : await read(before.commit);
  const staying = [...now.keys()].filter(
    (path) => !then.has(path) && (captured?.has(path) !== true || isIgnored?.(path) === true),
  );
  // A directory that was empty may hold files that agt never captures.
  const directories = wanted.emptyDirectories.filter((path) => isDirectory(record, path));
  const above = staying.flatMap(parentDirectories).filter((path) => !then.has(path));
  const paths = [...staying, ...above, ...directories];
  const wasIgnored = (path: string) => isIgnored?.(path) === true;
  const [ignored, written] = [staying.filter(wasIgnored), staying.filter((path) => !wasIgnored(path))];
  const during = 'written during the restore';
  const warnings = [
    ...ignoredStay(ignored.map(shown)),
    ...told(written.map(shown), `a file ${during} stays`, (count) => `${count} files ${during} stay`),
  ];
  return { paths: new Set(paths.map(shown)), warnings };
}

/** A warning, or none. */
export function ignoredStay(paths: readonly string[]): string[] {
  const rule = 'a restore deletes no file that git ignores or did ignore, so';
  return told(paths, `${rule} this one stays`, (count) => `${rule} ${count} stay`);
}

function told([first, ...others]: readonly string[], one: string, several: (count: number) => string) {
  if (first === undefined) return [];
  return [others.length === 0 ? `${one}: ${first}` : `${several(others.length + 1)}, such as ${first}`];
}

export function isDirectory(record: SessionRecord, path: string): boolean {
  return lstatIn(record, path)?.isDirectory() === true;
}

/** As the last capture left it, for a checkout that must not replace anything newer. */
function openSessionFolder(session: Session): TargetFolder {
  const files = readStatCache(statCacheFile(session.repository.agtDir, session.id))?.files;
  const path = Buffer.from(session.folder).toString('latin1');
  const linked = linkedSandbox(session.record);
  const isInside = insideCheck(path, linked);
  return {
    path,
    linked,
    isCaptured: (entry, stat) => {
      const row = files?.find(entry) ?? -1;
      if (files === undefined || row < 0) return false;
      if (files.isSame(row, stat, Number.POSITIVE_INFINITY)) return true;
      // Its stat data would not show a change.
      const isUnread = Number.isNaN(files.mtimeMs(row)) && stat.isFile();
      return isUnread && hasContent(`${path}/${entry}`, files.oid(row), isInside);
    },
  };
}
