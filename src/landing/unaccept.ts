/** `agt session unaccept`: takes the commits of an acceptance off the branch again, and brings the session back. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { HEADS, shortBranch } from '../git/files/ref-files.ts';
import {
  type DiffEntry,
  diffTrees,
  editsOf,
  entryOf,
  type ShownChange,
  withRenames,
} from '../git/objects/raw-diff.ts';
import { editIndex, editTree, readIndex, withIndex } from '../git/objects/scratch-index.ts';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import { fieldsOf, type Git, gitBytes, inDirectory, resolveObject } from '../git/run/git.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { begin, complete, requireAllowed, unfinishedError } from '../session/operation.ts';
import type { Landed, SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import type { BranchMove, Present } from '../session/state.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { parentDirectories } from '../snapshot/tree.ts';
import { nameNow } from '../survey/forms.ts';
import { restoreSession } from '../timetravel/restore/restore.ts';
import { keepSources } from './end-session.ts';
import { carryOut } from './land.ts';
import { problemWith } from './off-branch.ts';
import { refuseOtherContent } from './overlap.ts';
import { settleMove } from './recover.ts';
import { takenChanges } from './taken.ts';
import { branchesWith, type Holder, holdersOf } from './taken-back.ts';
import { findTarget } from './target.ts';

export interface UnacceptResult {
  readonly record: SessionRecord;
  /** A full name. */
  readonly onto: string;
  /** The commit that the branch has lost. */
  readonly commit: string;
  /** The tip of the branch now. */
  readonly tip: string;
  readonly worktree: string | undefined;
  readonly changes: readonly DiffEntry[];
  /** The same for a person. */
  readonly shown: readonly ShownChange[];
  /** The sandbox was gone. */
  readonly restored: boolean;
  /** Other sessions that have the commit. */
  readonly holders: readonly Holder[];
  /** Other branches of the user's that have it. */
  readonly branches: readonly string[];
  /** The sandbox that came back is not all as it was. */
  readonly warnings: readonly string[];
}

export interface UnacceptRequest {
  readonly dryRun: boolean;
  /** In a dry run of several sessions: by branch, its tip without those before. */
  readonly tips?: Map<string, string>;
  readonly now: Date;
}

export async function unacceptSession(
  session: Session,
  { dryRun, tips, now }: UnacceptRequest,
): Promise<UnacceptResult> {
  const { intent } = session.record;
  if (intent?.operation === 'restore' && intent.unaccepted !== undefined) {
    const result = await resultOf(session, intent.unaccepted, true);
    return dryRun ? result : bringBack(session, result, now);
  }
  if (dryRun) {
    const move = await planUnaccept(session, tips);
    if (move.to !== undefined) tips?.set(move.onto, move.to);
    return resultOf(session, move);
  }
  const result = await withSessionLock(session, (locked) => moveBack(locked, now));
  return result.restored ? bringBack(session.with(result.record), result, now) : result;
}

async function moveBack(session: LockedSession, now: Date): Promise<UnacceptResult> {
  const { repository } = session;
  const { intent, ...rest } = session.record;
  if (intent?.operation === 'unaccept' && (await settleMove(repository, intent))) {
    const { operation: _, ...move } = intent;
    return moved(session, move, now);
  }
  const record = intent?.operation === 'unaccept' ? rest : session.record;
  const move = await planUnaccept(session.with(record));
  const { record: begun } = await carryOut(session.with(record), { operation: 'unaccept', ...move });
  return moved(session.with(begun), move, now);
}

/** The branch has moved. A session that was kept goes on; the sandbox of another one comes back afterwards. */
async function moved(session: LockedSession, move: BranchMove, now: Date): Promise<UnacceptResult> {
  const { landed, ...rest } = session.record;
  const before = landed?.before;
  await unstage(session, move, landed?.taken ?? []);
  await deleteAgain(session, move, new Set(landed?.present));
  await keepSources(session, before);
  const record = {
    ...rest,
    ...(before && { landed: before }),
    ...(landed && {
      taken_back: [
        ...(rest.taken_back ?? []),
        { ...withoutContent(landed), onto: move.onto, taken_at: now.toISOString() },
      ],
    }),
  };
  const result = await resultOf(session.with(record), move);
  if (!result.restored) return { ...result, record: complete(session.with(record), 'unaccept', now) };
  const { commit: snapshot } = await newestSnapshot(session.with(record));
  const restore = { operation: 'restore', by: 'restore', scope: TOP_FOLDERS, snapshot } as const;
  return { ...result, record: begin(session.with(record), { ...restore, unaccepted: move }) };
}

/** @throws AgtError if the branch cannot simply go back. */
async function planUnaccept(session: Session, tips?: ReadonlyMap<string, string>): Promise<BranchMove> {
  const { git, id, record } = session;
  const { landed, intent } = record;
  if (landed === undefined) {
    const why = record.taken_back?.length
      ? `"${id}" was taken back already`
      : `session "${id}" was not accepted, so there is nothing to take back`;
    throw new AgtError(why, { hints: [`see: agt session show ${id}`] });
  }
  if (intent !== undefined) throw unfinishedError(id, intent.operation);
  const { commit: from, from: to } = landed;
  const onto = await ontoNow(session, landed);
  const keep = isActive(record);
  const branch = shortBranch(onto);
  const named = `if it has another name now, give it this one again: git branch -m NAME ${branch}`;
  const { worktree, from: tip } = await findTarget(session, branch, named);
  const problem = await problemWith(session, landed, tips?.get(onto) ?? tip, worktree);
  if (problem !== undefined) throw problem;
  requireAllowed(record, 'unaccept');
  const changes = await diffTrees(git, from, to);
  const place = worktree && inDirectory(git, worktree);
  const own = new Set(landed.present);
  const others = changes.filter(({ path }) => !own.has(path));
  const present = place
    ? [
        ...(await refuseOtherContent(session.repository, place, others)),
        ...(await leftAlone(place, changes, own)),
      ]
    : [];
  const back = await takenBy(session, landed);
  const tree = await withScratchObjects(session.repository, ({ dir }) =>
    editTree(withIndex(git, join(dir, 'index')), { tree: to }, editsOf(back, 'after')),
  );
  return { onto, from, to, tree, worktree, keep, present };
}

/** Of the branch, which the user may have renamed. */
async function ontoNow({ git }: Session, { onto }: Landed): Promise<string> {
  const renamed = (await resolveObject(git, onto)) === undefined ? nameNow(git, onto) : undefined;
  return renamed === undefined ? onto : HEADS + shortBranch(renamed);
}

function withoutContent({ before: _, source: __, present: ___, taken: ____, ...landed }: Landed): Landed {
  return landed;
}

/** The user's files that the acceptance replaced by what the agent made of them. */
async function takenBy(session: Session, { taken = [] }: Landed): Promise<DiffEntry[]> {
  if (taken.length === 0) return [];
  return (await takenChanges(session)).filter(({ path }) => taken.includes(path));
}

/** They are on disk again, and uncommitted, as they were. */
async function unstage({ git }: Session, { worktree, from, to = '' }: BranchMove, taken: readonly string[]) {
  if (worktree === undefined || taken.length === 0) return;
  const files = (await diffTrees(git, from, to)).filter(({ path }) => taken.includes(path));
  await editIndex(inDirectory(git, worktree), editsOf(files, 'after'), to.length);
}

/** Whether a path is below a file that goes, and is not the user's: the index cannot have both. */
function belowFile(changes: readonly DiffEntry[], own: ReadonlySet<string>) {
  const gone = changes.filter(({ path, after }) => after === undefined && !own.has(path));
  const going = new Set(gone.map(({ path }) => path));
  return (path: string) => parentDirectories(path).some((above) => going.has(above));
}

/** Files that the user had deleted below such a file come back with the branch, and go again. */
async function deleteAgain(
  { git }: Session,
  { worktree, from, to = '' }: BranchMove,
  own: ReadonlySet<string>,
) {
  if (worktree === undefined || own.size === 0) return;
  const changes = await diffTrees(git, from, to);
  const isBelow = belowFile(changes, own);
  const back = changes.filter(({ path, after }) => after && own.has(path) && isBelow(path));
  if (back.length === 0) return;
  const listed = await gitBytes(inDirectory(git, worktree), ['diff-files', '--name-only', '-z']);
  const changed = new Set(fieldsOf(listed));
  for (const { path } of back)
    if (!changed.has(path))
      rmSync(Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from(path, 'latin1')]), { force: true });
}

/** The user's files that were not committed before the acceptance are uncommitted again. */
async function leftAlone(
  git: Git,
  changes: readonly DiffEntry[],
  own: ReadonlySet<string>,
): Promise<Present[]> {
  if (own.size === 0) return [];
  const indexed = await readIndex(git);
  const isBelow = belowFile(changes, own);
  return changes
    .filter(({ path }) => own.has(path) && !isBelow(path))
    .map(({ path, after }) => ({ path, entry: entryOf(after), was: indexed.get(path) }));
}

/** Without a sandbox it comes back, unless another repository has it. */
async function resultOf(
  session: Session,
  { onto, from, to = '', worktree }: BranchMove,
  restored = !isActive(session.record) && session.record.away === undefined,
): Promise<UnacceptResult> {
  const { git, record } = session;
  const [changes, holders] = [await diffTrees(git, from, to), await holdersOf(session, from)];
  const shown = await withRenames(git, from, to, changes);
  const branches = (await branchesWith(session, from)).filter((branch) => branch !== shortBranch(onto));
  const told = { worktree, changes, shown, restored, holders, branches, warnings: [] };
  return { record, onto, commit: from, tip: to, ...told };
}

async function bringBack(session: Session, result: UnacceptResult, now: Date): Promise<UnacceptResult> {
  const choose = () => newestSnapshot(session);
  const request = { scope: TOP_FOLDERS, by: 'restore', now, choose } as const;
  const { record, warnings } = await restoreSession(session, request);
  return { ...result, record, warnings };
}

async function newestSnapshot(session: Session): Promise<Snapshot> {
  const [newest] = await session.history();
  if (newest === undefined) throw new AgtError(`session "${session.id}" has no snapshot`);
  return newest;
}

export async function finishUnaccept(session: Session): Promise<void> {
  await unacceptSession(session, { dryRun: false, now: new Date() });
}
