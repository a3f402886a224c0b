/** Lists what a restore would change. It changes and stores nothing. */
import { digestOfCapturedIndex } from '../../autocommit/last-snapshot.ts';
import { type FolderOnDisk, prepareCheckout } from '../../checkout/plan.ts';
import { holdsFiles } from '../../disk/folder-entries.ts';
import { repositoryOf } from '../../folders/git-state/kept-repositories.ts';
import { previewGit } from '../../folders/git-state/put-back.ts';
import { describeLeft, type RefMove } from '../../folders/git-state/ref-plan.ts';
import { withScratchObjects } from '../../git/objects/scratch-objects.ts';
import type { Git } from '../../git/run/git.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { metadataOf, readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import type { ChangedFile } from '../../snapshot/tree.ts';
import { observeSession } from '../../workspace/capture-session.ts';
import { readAmbiguousFolders, shownPath } from '../session-paths.ts';
import { committedFiles, NONE_COMMITTED, withCommittedFiles } from './committed-files.ts';
import { isSameManifest } from './differences.ts';
import { previewHead } from './git-dir-of-session.ts';
import { filesOfLast, keepIgnored, listIgnored, withObstructed } from './ignored-files.ts';
import { describeLater, laterCommits } from './later-commits.ts';
import { NO_CHANGES, type OthersChanges, othersChanges, othersRefs } from './others-changes.ts';
import { type ChangedPath, describePlan, ignoredStay, pathsOf } from './restore-files.ts';
import {
  type RestoreRequest,
  refusePart,
  refuseRedo,
  refuseTarget,
  unfinishedTarget,
} from './unfinished-restore.ts';

export interface Preview {
  readonly record: SessionRecord;
  readonly snapshot: Snapshot;
  readonly paths: readonly ChangedPath[];
  /** The snapshot is the last one, and nothing has changed since. */
  readonly isThere: boolean;
  /** The session has no folder, and gets one again. */
  readonly isBack: boolean;
  /** Commits that come back after the snapshot. */
  readonly later: string | undefined;
  /** Refs that would go back: those of the session, or of the user's repository. */
  readonly moves: readonly RefMove[];
  /** Why some do not. */
  readonly staying: readonly string[];
  /** For an undo: what no agent has done. */
  readonly others: OthersChanges;
}

export async function previewRestore(
  session: Session,
  request: RestoreRequest,
  passed = 0,
): Promise<Preview> {
  const { repository, record } = session;
  const { git } = repository;
  refuseRedo(record, request.by);
  refusePart(session, request);
  const { content: present, indexDigest, ...current } = await readCurrent(session);
  const { isUncaptured, isOfGit, isFirst, ...onDisk } = current;
  const isOthers = isOfGit && (await othersMoved(session, request, onDisk.changes));
  const unfinished = await unfinishedTarget(session, request);
  const snapshot = unfinished ?? (await request.choose(isUncaptured && !isOthers, passed));
  await refuseTarget(session, snapshot, request);
  // The start commit has the files of the sandbox at its top, and its snapshot has the same files.
  const content = present && (isFirst ? { ...present, commit: snapshot.commit } : present);
  const to = await readSnapshotMetadata(git, snapshot.commit);
  const isIgnored = session.place === 'here' ? await listIgnored(session, to.commit) : undefined;
  const isNew = isUncaptured ? ('to come' as const) : false;
  const committed =
    content === undefined || request.by === 'restore'
      ? NONE_COMMITTED
      : await committedFiles(session, { from: content.commit, isNew }, to.commit, { onDisk: onDisk.changes });
  const planTo = (objects: Git, wanted: SnapshotMetadata) =>
    prepareCheckout(objects, content, wanted, request.scope, onDisk);
  const whole =
    content === undefined || committed.files.size === 0
      ? await planTo(git, to)
      : await withScratchObjects(repository, async (scratch) =>
          planTo(scratch.git, await withCommittedFiles(session, snapshot, committed, content, scratch)),
        );
  const plan = keepIgnored(whole, isIgnored, session);
  const trees = [to.commit, content?.commit].filter((commit) => commit !== undefined);
  const ambiguous = await readAmbiguousFolders(git, trees);
  const kept = isAttached(record) ? whole.deletions.filter((path) => isIgnored?.(path) === true) : [];
  const planned = isIgnored === undefined ? plan : withObstructed(record, plan);
  const going = new Set(pathsOf(plan));
  const uncaptured = onDisk.changes.map(({ path }) => path).filter((path) => going.has(path));
  const last = request.by === 'undo' ? content?.commit : undefined;
  const isWhole = request.scope.includes('sandbox') && request.filesOnly !== true;
  const { moves, staying, isUndo } = isWhole
    ? await previewMoves(session, { content, isUncaptured }, snapshot, to, request)
    : NO_MOVES;
  const others =
    last === undefined
      ? NO_CHANGES
      : await othersChanges(session, { from: last, isNew, isUndo }, to.commit, {
          uncaptured,
        });
  const later = session.place === 'here' ? undefined : await laterCommits(session, snapshot, request);
  // Once the folder is captured, an undo passes over a snapshot that is the same.
  const isEmpty = isUncaptured && planned.blocked.length + going.size + moves.length === 0;
  const mayPass = request.by === 'undo' && unfinished === undefined && passed === 0;
  if (mayPass && isEmpty && (await isSameGit(session, content, to, indexDigest)))
    return previewRestore(session, request, 1);
  return {
    record,
    snapshot,
    paths: describePlan(planned, ambiguous),
    isThere: content?.commit === snapshot.commit && !isUncaptured,
    isBack: content === undefined,
    later: later && describeLater(record, later),
    moves,
    staying: [...staying, ...ignoredStay(kept.map((path) => shownPath(path, ambiguous)))],
    others: {
      ...others,
      paths: new Map([...others.paths].filter(([path]) => going.has(path) || !committed.files.has(path))),
    },
  };
}

async function isSameGit(
  { repository }: Session,
  now: SnapshotMetadata | undefined,
  to: SnapshotMetadata,
  indexDigest: string | undefined,
): Promise<boolean> {
  if (now === undefined || now.manifest.git_dir_digest !== to.manifest.git_dir_digest) return false;
  return (
    isSameManifest(repository, now.manifest, to.manifest) &&
    indexDigest === (await digestOfCapturedIndex(repository.git, to.commit))
  );
}

interface Moves extends Pick<Preview, 'moves' | 'staying'> {
  readonly isUndo: boolean;
}

const NO_MOVES: Moves = { moves: [], staying: [], isUndo: false };

async function previewMoves(
  session: Session,
  { content: now, isUncaptured }: Pick<Current, 'content' | 'isUncaptured'>,
  snapshot: Snapshot,
  to: SnapshotMetadata,
  { by }: RestoreRequest,
): Promise<Moves> {
  if (!isAttached(session.record)) {
    if (now === undefined || session.place !== 'here') return NO_MOVES;
    const { moves, warnings: staying } = await previewHead(session, snapshot, now, to);
    return { moves, staying, isUndo: staying.length > 0 };
  }
  const { commit } = to;
  const last = (await session.history())[0]?.commit;
  const latest = {
    from: last,
    isNew: isUncaptured ? ('to come' as const) : false,
    isUndo: by !== 'restore',
  };
  const { moved, hasUncaptured } = await othersRefs(session, latest, commit);
  const plan = await previewGit(session, { commit, last: hasUncaptured ? last : undefined }, moved);
  const staying = describeLeft(plan);
  return { moves: plan.moves, staying, isUndo: staying.length > 0 && plan.isKept !== true };
}

/** An undo passes over what nobody has captured then: somebody else has moved refs, and committed all files that differ. */
async function othersMoved(
  session: Session,
  { by }: RestoreRequest,
  changes: readonly ChangedFile[],
): Promise<boolean> {
  const last = (await session.history())[0]?.commit;
  if (by !== 'undo' || last === undefined) return false;
  const latest = { from: last, isNew: 'to come', isUndo: true } as const;
  if (!(await othersRefs(session, latest, last)).hasUncaptured) return false;
  const committed =
    changes.length === 0
      ? NONE_COMMITTED
      : await committedFiles(session, { from: last, isNew: 'to come' }, last, { onDisk: changes });
  return changes.every(({ path }) => committed.staying.has(path));
}

interface Current extends FolderOnDisk {
  /** Describes the disk; its `commit` is the last snapshot. Undefined without a sandbox. */
  readonly content: SnapshotMetadata | undefined;
  readonly isUncaptured: boolean;
  /** There is no snapshot yet. */
  readonly isFirst?: boolean;
  readonly indexDigest?: string;
  /** In an attached folder: of files and of git alone. */
  readonly isOfGit: boolean;
}

async function readCurrent(session: Session): Promise<Current> {
  const isHere = session.place === 'here';
  if (!isHere && (isAttached(session.record) || !holdsFiles(session.folder)))
    return { content: undefined, isUncaptured: false, isOfGit: false, directories: new Set(), changes: [] };
  const options = isHere ? await filesOfLast(session) : { filesOnly: true };
  const { refs, last, index, scanned, manifest } = await observeSession(session, options);
  const changed = [...scanned.writes, ...scanned.deletions.map((path) => [path, undefined] as const)];
  const changes = changed.map(([path, after]) => ({ path, before: last.find(path), after }));
  const { manifest: before } = last;
  const isGitSame =
    index.digest === last.indexDigest &&
    (manifest.git_dir_digest === before?.git_dir_digest || manifest.session !== before?.session);
  const isSame = before !== undefined && isGitSame && isSameManifest(session.repository, before, manifest);
  const isUncaptured = changes.length > 0 || !isSame;
  const { head, operation } = manifest;
  const isOfGit =
    isAttached(session.record) &&
    repositoryOf(session.record.checkout ?? session.record.sandbox) !== undefined &&
    before !== undefined &&
    isSameManifest(session.repository, { ...before, head, operation }, manifest);
  const content = metadataOf(refs.tip, manifest);
  const { directories } = scanned;
  const indexDigest = index.digest;
  return { content, indexDigest, isUncaptured, isOfGit, isFirst: last.isFirst, directories, changes };
}
