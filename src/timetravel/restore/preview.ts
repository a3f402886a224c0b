/** Lists what a restore would change. It changes and stores nothing. */
import { type CheckoutPlan, type FolderOnDisk, prepareCheckout } from '../../checkout/plan.ts';
import { holdsFiles } from '../../disk/folder-entries.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { metadataOf, readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import { observeSession } from '../../workspace/capture-session.ts';
import { type AmbiguousFolders, readAmbiguousFolders, shownPath } from '../session-paths.ts';
import { filesOfLast, keepIgnored, listIgnored, withObstructed } from './ignored-files.ts';
import { type RestoreRequest, refuseRedo, refuseUsersWork, unfinishedTarget } from './unfinished-restore.ts';

export interface Preview {
  readonly record: SessionRecord;
  readonly snapshot: Snapshot;
  readonly paths: readonly PreviewedPath[];
}

interface PreviewedPath {
  /** `A` added, `M` changed, `D` deleted, `!` not restored, because something that was never captured is in the way. */
  readonly kind: 'A' | 'M' | 'D' | '!';
  /** As shown to people, relative to the sandbox. */
  readonly path: string;
}

export async function previewRestore(session: Session, request: RestoreRequest): Promise<Preview> {
  const { repository, record } = session;
  const { git } = repository;
  refuseRedo(record, request.by);
  const { content, ...onDisk } = await readCurrent(session);
  const snapshot =
    (await unfinishedTarget(session, request)) ?? (await request.choose(onDisk.changes.length > 0));
  refuseUsersWork(record, snapshot);
  const to = await readSnapshotMetadata(git, snapshot.commit);
  const isIgnored = session.place === 'here' ? await listIgnored(session, to.commit) : undefined;
  const plan = keepIgnored(await prepareCheckout(git, content, to, request.scope, onDisk), isIgnored);
  const trees = [to.commit, content?.commit].filter((commit) => commit !== undefined);
  const ambiguous = await readAmbiguousFolders(git, trees);
  const planned = isIgnored === undefined ? plan : withObstructed(record, plan);
  return { record, snapshot, paths: describePlan(planned, ambiguous) };
}

/** `content` describes the disk; its `commit` is the last snapshot. Undefined without a sandbox. */
async function readCurrent(
  session: Session,
): Promise<FolderOnDisk & { readonly content: SnapshotMetadata | undefined }> {
  const isHere = session.place === 'here';
  if (!isHere && (isAttached(session.record) || !holdsFiles(session.folder)))
    return { content: undefined, directories: new Set(), changes: [] };
  const options = isHere ? await filesOfLast(session) : { filesOnly: true };
  const { refs, last, scanned, manifest } = await observeSession(session, options);
  const changed = [...scanned.writes, ...scanned.deletions.map((path) => [path, undefined] as const)];
  const changes = changed.map(([path, after]) => ({ path, before: last.find(path), after }));
  return { content: metadataOf(refs.tip, manifest), directories: scanned.directories, changes };
}

function describePlan(plan: CheckoutPlan, ambiguous: AmbiguousFolders): PreviewedPath[] {
  const paths: PreviewedPath[] = [
    ...plan.deletions.map((path) => ({ kind: 'D' as const, path })),
    ...plan.writes.map(({ path, isNew }) => ({ kind: isNew ? ('A' as const) : ('M' as const), path })),
    ...plan.emptyDirectories.removed.map((path) => ({ kind: 'D' as const, path })),
    ...plan.emptyDirectories.made.map((path) => ({ kind: 'A' as const, path })),
    ...[...plan.modes.keys()].map((path) => ({ kind: 'M' as const, path })),
    ...plan.blocked.map((path) => ({ kind: '!' as const, path })),
  ];
  return paths
    .map(({ kind, path }) => ({ kind, path: shownPath(path, ambiguous) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
