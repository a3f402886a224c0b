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
import type { Repository } from '../../repository/repository.ts';
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
import { sandboxExists } from '../../session/sandbox-place.ts';
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

export function restoreSession(
  repository: Repository,
  record: SessionRecord,
  request: RestoreRequest,
): Promise<RestoreResult> {
  return withSessionLock(repository, record.session_id, (session) =>
    restore(session, session.read() ?? record, request),
  );
}

async function restore(
  session: LockedSession,
  found: SessionRecord,
  request: RestoreRequest,
): Promise<RestoreResult> {
  requireAllowed(found, 'restore');
  refuseRedo(found, request.by);
  const start = await prepare(session, found, request);
  const { changed, warnings } = await bringBack(session, start, request);
  await bringSubmodulesBack(session.repository, start.record);
  failurePoint('restore: brought back');
  const verified = await captureAndVerify(session, start, request);
  failurePoint('restore: compared');
  return {
    record: complete(session, start.begun, 'restore', request.now),
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
async function prepare(
  session: LockedSession,
  recorded: SessionRecord,
  request: RestoreRequest,
): Promise<RestoreStart> {
  const { repository } = session;
  const { now, scope, choose } = request;
  const found = await placeToRestore(repository, recorded);
  const { intent: _, ...rest } = found;
  const record = inState(rest, 'active', { now });

  refuseToReplace(repository, record);
  await refuseLostHistory(repository.git, snapshotRefs(record));
  const resumed = await unfinishedTarget(repository, found, request);
  const pick = async () => resumed ?? (await choose(false));
  // If agt has to create the sandbox again, the intent must be written before that.
  const chosenEarly = sandboxExists(repository, record) ? undefined : await pick();
  if (chosenEarly !== undefined) {
    if (!holdsFiles(sessionFolder(record))) {
      const wanted = await readSnapshotMetadata(repository.git, chosenEarly.commit);
      await requireRoom(repository, record, { wanted, scope });
    }
    await beginWith(session, found, chosenEarly, request);
  }
  const folder = await ensureWorktree(repository, record);
  const keep = await unkeptWorkTip(repository, record);
  if (folder !== 'files') await keepGitState(session, record, { now, keep, isNew: folder === 'new' });
  const unfinished = resumed?.commit ?? (await killedRedo(repository, found, request.by));
  const marks = {
    ...(unfinished === undefined ? {} : { unfinished }),
    ...(await filesOfLast(repository, record)),
  };
  const before =
    folder === 'files' ? await captureSession(session, record, { now, keep, ...marks }) : undefined;
  const snapshot = chosenEarly ?? (await pick());
  refuseUsersWork(record, snapshot);
  failurePoint('restore: captured before');
  const wanted = await readSnapshotMetadata(repository.git, snapshot.commit);
  const isIgnored = before === undefined ? undefined : await listIgnored(repository, record, snapshot.commit);
  const way = { captured: before?.commit, wanted, scope, isIgnored };
  const plan = before === undefined ? undefined : await requireRoom(repository, record, way);
  const begun = await beginWith(session, found, snapshot, request);
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
    taking: await filesToTake(repository, record, snapshot.commit),
    ambiguous: await readAmbiguousFolders(repository.git, trees),
  };
}

async function beginWith(
  session: LockedSession,
  found: SessionRecord,
  { commit: snapshot }: Snapshot,
  { by, scope }: RestoreRequest,
): Promise<SessionRecord> {
  const tip = await findObject(session.repository.git, tipRef(found.session_id));
  const before = found.intent?.operation === 'restore' ? found.intent.unaccepted : undefined;
  const intent = {
    operation: 'restore',
    snapshot,
    scope,
    by,
    ...(tip === undefined ? {} : { tip }),
    ...(before === undefined ? {} : { unaccepted: before }),
  } as const;
  return begin(session, found, intent);
}

/** The tip of the work branch, which a restore may move, if nothing that the snapshot before refers to leads to it. */
async function unkeptWorkTip(repository: Repository, record: SessionRecord): Promise<string[]> {
  const tip = await findObject(repository.git, record.work_branch);
  if (tip === undefined || (await lastSnapshotKeeps(repository, record, tip))) return [];
  const kept = [record.branch, record.user_branch ?? record.from_commit];
  const missing = await gitAnswer(repository.git, ['rev-list', '--max-count=1', tip, '--not', ...kept, '--']);
  return missing === '' ? [] : [tip];
}

/** As HEAD or as the work branch; false if only git can tell. */
async function lastSnapshotKeeps(
  { git, agtDir }: Repository,
  { session_id: sessionId }: SessionRecord,
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
    const written = whole && (await examineWritten(session.repository, record, whole, { hasTime }));
    const restored = await restoreGitDir(session.repository, record, snapshot, wanted, written?.statOf);
    warnings.push(...restored);
  }
  return { changed, warnings };
}

/** Restores HEAD, the work branch, the index and the other files of the git directory. Returns warnings. */
async function restoreGitDir(
  repository: Repository,
  record: SessionRecord,
  snapshot: Snapshot,
  wanted: SnapshotMetadata,
  statOf: StatOf | undefined,
): Promise<string[]> {
  const { git } = repository;
  const sandbox = record.checkout ?? record.sandbox;
  const branches = workBranches(repository, record, snapshot);
  const warnings = await restoreHead(git, wanted.manifest.head, { sandbox, ...branches });
  failurePoint('restore: head moved');
  await restoreIndex(git, wanted, sandbox, statOf);
  return [...warnings, ...(await restoreGitDirFiles(git, requireGitDir(sandbox), wanted, branches))];
}

function workBranches(
  repository: Repository,
  { work_branch: workBranch }: SessionRecord,
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
  const { commit = '', failed } = await captureSession(session, record, { now, restored, ...taking });
  const after = await readSnapshotMetadata(repository.git, commit);
  const branches = workBranches(repository, record, snapshot);
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
export async function finishRestore(repository: Repository, record: SessionRecord): Promise<string> {
  const { session_id: id, intent } = record;
  if (intent?.operation !== 'restore') throw new AgtError(`session "${id}" has no unfinished restore`);
  const now = new Date();
  const snapshot = await resolveSnapshot(repository.git, snapshotRefs(record), intent.snapshot, now);
  const choose = async () => snapshot;
  const request = { scope: intent.scope, by: intent.by, now, choose };
  const { before, changed, mismatches } = await restoreSession(repository, record, request);
  const paths = changed === 1 ? '1 path' : `${changed} paths`;
  const result = mismatches.length === 0 ? '' : ', some differ from the snapshot';
  const back = before === undefined ? '' : `; to undo: ${commandToRestore(record, before.slice(0, 10))}`;
  return `restored ${paths}${result}${back}`;
}
