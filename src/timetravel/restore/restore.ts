/**
 * `agt session restore`, `undo` and `redo`: bring a session, or a part of it, back to a snapshot. agt captures the folder
 * before and after, so the history only grows and every restore can be undone.
 */
import { readKnownRefs } from '../../autocommit/known-refs.ts';
import { restoreGitDirFiles, type WorkBranches } from '../../checkout/git-dir-files.ts';
import { requireGitDir, restoreIndex } from '../../checkout/sandbox-git-dir.ts';
import { restoreHead } from '../../checkout/sandbox-head.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { holdsFiles } from '../../disk/folder-entries.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { AgtError } from '../../errors.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import type { StatOf } from '../../git/files/index-stat.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { gitAnswer } from '../../git/run/git.ts';
import { commandToRestore } from '../../session/advised-commands.ts';
import { type LockedSession, withSessionLock } from '../../session/lock.ts';
import { begin, complete, inState, requireAllowed } from '../../session/operation.ts';
import {
  isAttached,
  type SessionRecord,
  sessionFolder,
  snapshotRefs,
  workBranchOf,
} from '../../session/record.ts';
import { placeToRestore } from '../../session/relocate.ts';
import { Session } from '../../session/session.ts';
import { bringSubmodulesBack } from '../../session/submodules.ts';
import { isUnder } from '../../snapshot/folders.ts';
import { refuseLostHistory, type Snapshot } from '../../snapshot/history.ts';
import { restoreIgnoreFile } from '../../snapshot/ignore-file.ts';
import {
  readSnapshotMetadata,
  type SnapshotManifest,
  type SnapshotMetadata,
} from '../../snapshot/manifest.ts';
import { resolveSnapshot } from '../../snapshot/resolve-snapshot.ts';
import { captureSession } from '../../workspace/capture-session.ts';
import { readAmbiguousFolders, relativeToSandbox } from '../session-paths.ts';
import { examineWritten } from '../written-folder.ts';
import { ensureWorktree, keepGitState, refuseToReplace } from './ensure-worktree.ts';
import { filesOfLast, filesToTake, listIgnored } from './ignored-files.ts';
import { type FilesToRestore, NO_FILES, requireRoom, restoreFiles, stayingFiles } from './restore-files.ts';
import {
  killedRedo,
  type RestoreRequest,
  refuseRedo,
  refuseUsersWork,
  unfinishedTarget,
} from './unfinished-restore.ts';
import { verifyRestore } from './verify.ts';

export interface RestoreResult {
  readonly record: SessionRecord;
  readonly snapshot: Snapshot;
  /** The snapshot made before the restore, which undoes it; undefined if the folder was empty. */
  readonly before: string | undefined;
  /** The snapshot made after the restore. */
  readonly commit: string;
  /** Number of paths. */
  readonly changed: number;
  /** Paths that are not as in the snapshot, as shown to people. None: the restore is verified. */
  readonly mismatches: readonly string[];
  readonly warnings: readonly string[];
}

export function restoreSession(session: Session, request: RestoreRequest): Promise<RestoreResult> {
  return withSessionLock(session, (locked) => restore(locked, request));
}

async function restore(session: LockedSession, request: RestoreRequest): Promise<RestoreResult> {
  requireAllowed(session.record, 'restore');
  refuseRedo(session.record, request.by);
  const start = await prepare(session, request);
  const { changed, warnings } = await bringBack(session, start, request);
  await bringSubmodulesBack(session.repository, start.record);
  failurePoint('restore: brought back');
  const verified = await captureAndVerify(session, start, request);
  failurePoint('restore: compared');
  return {
    record: complete(session.with(start.begun), 'restore', request.now),
    snapshot: start.snapshot,
    before: start.before?.commit,
    commit: verified.commit,
    changed,
    mismatches: verified.mismatches,
    warnings: [...warnings, ...verified.warnings],
  };
}

interface RestoreStart extends FilesToRestore {
  /** The session with the intent to restore. */
  readonly begun: SessionRecord;
  readonly snapshot: Snapshot;
}

/** Makes sure that there is a worktree, captures the folder, chooses the snapshot and writes the intent. */
async function prepare(session: LockedSession, request: RestoreRequest): Promise<RestoreStart> {
  const { repository } = session;
  const { now, scope, choose } = request;
  const found = await placeToRestore(session);
  const { intent: _, ...rest } = found;
  const record = inState(rest, 'active', { now });

  refuseToReplace(session.with(record));
  await refuseLostHistory(repository.git, snapshotRefs(record));
  const resumed = await unfinishedTarget(session.with(found), request);
  const pick = async () => resumed ?? (await choose(false));
  // If agt has to create the sandbox again, the intent must be written before that.
  const chosenEarly = session.with(record).place === 'here' ? undefined : await pick();
  if (chosenEarly !== undefined) {
    if (!holdsFiles(sessionFolder(record))) {
      const wanted = await readSnapshotMetadata(repository.git, chosenEarly.commit);
      await requireRoom(session.with(record), { wanted, scope });
    }
    await beginWith(session.with(found), chosenEarly, request);
  }
  const folder = await ensureWorktree(session.with(record));
  const keep = await unkeptWorkTip(session.with(record));
  if (folder !== 'files') await keepGitState(session.with(record), { now, keep, isNew: folder === 'new' });
  const unfinished = resumed?.commit ?? (await killedRedo(session.with(found), request.by));
  const marks = {
    ...(unfinished === undefined ? {} : { unfinished }),
    ...(await filesOfLast(session.with(record))),
  };
  const before =
    folder === 'files' ? await captureSession(session.with(record), { now, keep, ...marks }) : undefined;
  const snapshot = chosenEarly ?? (await pick());
  refuseUsersWork(record, snapshot);
  failurePoint('restore: captured before');
  const wanted = await readSnapshotMetadata(repository.git, snapshot.commit);
  const isIgnored =
    before === undefined ? undefined : await listIgnored(session.with(record), snapshot.commit);
  const way = { captured: before?.commit, wanted, scope, isIgnored };
  const plan = before === undefined ? undefined : await requireRoom(session.with(record), way);
  const begun = await beginWith(session.with(found), snapshot, request);
  const trees = [snapshot.commit, before?.commit].filter((commit) => commit !== undefined);
  if (folder !== 'files') restoreIgnoreFile(sessionFolder(record), wanted.manifest.agtignore);
  return {
    record,
    begun,
    snapshot,
    wanted,
    before,
    plan,
    isIgnored,
    taking: await filesToTake(session.with(record), snapshot.commit),
    ambiguous: await readAmbiguousFolders(repository.git, trees),
  };
}

async function beginWith(
  session: LockedSession,
  { commit: snapshot }: Snapshot,
  { by, scope }: RestoreRequest,
): Promise<SessionRecord> {
  const tip = await findObject(session.git, tipRef(session.id));
  const before =
    session.record.intent?.operation === 'restore' ? session.record.intent.unaccepted : undefined;
  const intent = {
    operation: 'restore',
    snapshot,
    scope,
    by,
    ...(tip === undefined ? {} : { tip }),
    ...(before === undefined ? {} : { unaccepted: before }),
  } as const;
  return begin(session, intent);
}

/** The tip of the work branch, which a restore may move, if nothing that the snapshot before refers to leads to it. */
async function unkeptWorkTip(session: Session): Promise<string[]> {
  const { repository, record } = session;
  const tip = await findObject(repository.git, record.work_branch);
  if (tip === undefined || (await lastSnapshotKeeps(session, tip))) return [];
  const kept = [record.branch, record.user_branch ?? record.from_commit];
  const missing = await gitAnswer(repository.git, ['rev-list', '--max-count=1', tip, '--not', ...kept, '--']);
  return missing === '' ? [] : [tip];
}

/** As HEAD or as the work branch; false if only git can tell. */
async function lastSnapshotKeeps(
  { git, repository: { agtDir }, record: { session_id: sessionId } }: Session,
  commit: string,
): Promise<boolean> {
  const known = readKnownRefs({ agtDir, sessionId });
  if (known?.tipManifest === undefined || known.tip !== (await findObject(git, tipRef(sessionId))))
    return false;
  const { head } = JSON.parse(known.tipManifest) as SnapshotManifest;
  return head.commit === commit || head.work === commit;
}

/** Restores the folder and, if the sandbox is in the scope, its git directory. */
async function bringBack(
  session: LockedSession,
  start: RestoreStart,
  request: RestoreRequest,
): Promise<{ readonly changed: number; readonly warnings: string[] }> {
  const { record, snapshot, wanted, before, ambiguous } = start;
  const { changed, warnings: notRestored, whole } = await restoreFiles(session, start, request);
  const notCaptured = (before?.failed ?? []).map(
    ({ path, reason }) =>
      `${relativeToSandbox(path, ambiguous)} was not restored, because agt could not capture it before (${reason})`,
  );
  const warnings = [...(before?.warnings ?? []), ...notCaptured, ...notRestored];
  if (request.scope.includes('sandbox') && !isAttached(record)) {
    const hasTime = () => false;
    const written = whole && (await examineWritten(session.with(record), whole, { hasTime }));
    const restored = await restoreGitDir(session.with(record), snapshot, wanted, written?.statOf);
    warnings.push(...restored);
  }
  return { changed, warnings };
}

/** Restores HEAD, the work branch, the index and the other files of the git directory. Returns warnings. */
async function restoreGitDir(
  session: Session,
  snapshot: Snapshot,
  wanted: SnapshotMetadata,
  statOf: StatOf | undefined,
): Promise<string[]> {
  const { git } = session.repository;
  const sandbox = session.record.checkout ?? session.record.sandbox;
  const branches = workBranches(session, snapshot);
  const warnings = await restoreHead(git, wanted.manifest.head, { sandbox, ...branches });
  failurePoint('restore: head moved');
  await restoreIndex(git, wanted, sandbox, statOf);
  return [...warnings, ...(await restoreGitDirFiles(git, requireGitDir(sandbox), wanted, branches))];
}

function workBranches(
  { repository, record: { work_branch: workBranch } }: Session,
  snapshot: Snapshot,
): WorkBranches {
  return { workBranch, snapshotWorkBranch: workBranchOf(repository, snapshot.session) };
}

async function captureAndVerify(
  session: LockedSession,
  start: RestoreStart,
  { now, by, scope }: RestoreRequest,
): Promise<{ commit: string; mismatches: string[]; warnings: string[] }> {
  const { repository } = session;
  const { record, snapshot, wanted, taking, ambiguous } = start;
  const restored = { commit: snapshot.commit, by };
  const { commit = '', failed } = await captureSession(session.with(record), { now, restored, ...taking });
  const after = await readSnapshotMetadata(repository.git, commit);
  const branches = workBranches(new Session(repository, record), snapshot);
  const { mismatches, ignored } = await verifyRestore(repository.git, after, wanted, scope, {
    branches,
    ambiguous,
  });
  const unread = failed.map(({ path }) => path).filter((path) => isUnder(path, scope.map(displayPath)));
  const warnings = ignored.map((path) => `${path} was not compared, because .agtignore matches it`);
  const staying = mismatches.length > 0 ? await stayingFiles(repository.git, start, commit) : NO_FILES;
  warnings.push(...staying.warnings);
  const shownUnread = unread.map((path) => relativeToSandbox(path, ambiguous));
  const different = [...mismatches, ...shownUnread].filter((path) => !staying.paths.has(path));
  return { commit, mismatches: [...new Set(different)], warnings };
}

/** Returns what changed, and how to get back what was there. */
export async function finishRestore(session: Session): Promise<string> {
  const { repository, record } = session;
  const { session_id: id, intent } = record;
  if (intent?.operation !== 'restore') throw new AgtError(`session "${id}" has no unfinished restore`);
  const now = new Date();
  const snapshot = await resolveSnapshot(repository.git, snapshotRefs(record), intent.snapshot, now);
  const choose = async () => snapshot;
  const request = { scope: intent.scope, by: intent.by, now, choose };
  const { before, changed, mismatches } = await restoreSession(session, request);
  const paths = changed === 1 ? '1 path' : `${changed} paths`;
  const result = mismatches.length === 0 ? '' : ', some differ from the snapshot';
  const back = before === undefined ? '' : `; to undo: ${commandToRestore(record, before.slice(0, 10))}`;
  return `restored ${paths}${result}${back}`;
}
