/**
 * `agt session restore`, `undo` and `redo`: bring a session, or a part of it, back to a snapshot. agt captures the folder
 * before and after, so the history only grows and every restore can be undone.
 */
import { LOST_REPOSITORY } from '../../autocommit/capture.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { holdsFiles } from '../../disk/folder-entries.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { AgtError, plural } from '../../errors.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { type PutBack, putGitBack } from '../../folders/git-state/put-back.ts';
import type { RefMove } from '../../folders/git-state/ref-plan.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { editIndex } from '../../git/objects/scratch-index.ts';
import { commandToRestore } from '../../session/advised-commands.ts';
import { type LockedSession, withSessionLock } from '../../session/lock.ts';
import { begin, complete, inState } from '../../session/operation.ts';
import { isAttached, type SessionRecord, sessionFolder } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import type { LaterCommits } from '../../session/state.ts';
import { bringSubmodulesBack } from '../../session/submodules.ts';
import { isUnder } from '../../snapshot/folders.ts';
import { THE_START } from '../../snapshot/format.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { restoreIgnoreFile } from '../../snapshot/ignore-file.ts';
import { readSnapshotMetadata } from '../../snapshot/manifest.ts';
import { captureSession } from '../../workspace/capture-session.ts';
import { ensureWorktree, keepGitState } from '../../workspace/ensure-worktree.ts';
import { readAmbiguousFolders, relativeToSandbox } from '../session-paths.ts';
import { examineWritten } from '../written-folder.ts';
import { contentToRestore } from './committed-files.ts';
import { movedRefs, refsOf, restoreGitDir, workBranches } from './git-dir-of-session.ts';
import { filesOfLast, filesToTake, listIgnored } from './ignored-files.ts';
import { bringLaterCommits, describeLater, laterCommits, unkeptWorkTip } from './later-commits.ts';
import { othersRefs } from './others-changes.ts';
import {
  type ChangedPath,
  type FilesToRestore,
  NO_FILES,
  pathsOf,
  requireRoom,
  restoreFiles,
  stayingFiles,
} from './restore-files.ts';
import {
  isOfFiles,
  placeForRestore,
  type RestoreRequest,
  refuseTarget,
  snapshotIn,
  unfinishedTarget,
} from './unfinished-restore.ts';
import { verifyRestore } from './verify.ts';

export interface RestoreResult {
  readonly record: SessionRecord;
  readonly snapshot: Snapshot;
  /** The files that the folder got: those of the snapshot, apart from committed ones that stay. */
  readonly content: string;
  /** The snapshot made before the restore, which undoes it; undefined if the folder was empty. */
  readonly before: string | undefined;
  /** The snapshot made after the restore; the one before it if there was nothing to restore. */
  readonly commit: string;
  readonly changed: readonly ChangedPath[];
  /** Refs that have gone back: those of the session, or of the user's repository. */
  readonly moves: readonly RefMove[];
  /** The commits of its work branch that came back as well. */
  readonly later: string | undefined;
  /** Paths that are not as in the snapshot, as shown to people. None: the restore is verified. */
  readonly mismatches: readonly string[];
  readonly warnings: readonly string[];
}

export function restoreSession(session: Session, request: RestoreRequest): Promise<RestoreResult> {
  return withSessionLock(session, (locked) => restore(locked, request));
}

async function restore(session: LockedSession, request: RestoreRequest): Promise<RestoreResult> {
  const start = await prepare(session, request);
  if (start.begun === undefined) return unchanged(start);
  const { changed, warnings, git } = await bringBack(session, start, request);
  await bringSubmodulesBack(session.repository, start.record);
  failurePoint('restore: brought back');
  const verified = await captureAndVerify(session, start, request, git);
  failurePoint('restore: compared');
  const { before, later, record } = start;
  const own = later === undefined ? [] : await bringLaterCommits(session.with(record), later);
  failurePoint('restore: later commits');
  if (later) await captureSession(session.with(record), { now: request.now });
  return {
    record: complete(session.with(start.begun), 'restore', request.now),
    snapshot: start.snapshot,
    content: start.wanted.commit,
    before: before?.commit,
    commit: verified.commit,
    changed,
    moves: (git?.moves ?? verified.moves).filter(({ ref }) => !later || ref !== record.work_branch),
    ...{ mismatches: verified.mismatches, later: later && describeLater(record, later) },
    warnings: [...warnings, ...verified.warnings, ...own],
  };
}

function unchanged({ record, snapshot, wanted, before }: RestoreStart): RestoreResult {
  const none = { changed: [], moves: [], mismatches: [], warnings: [], later: undefined };
  const { commit = '' } = before ?? {};
  return { record, snapshot, content: wanted.commit, before: commit, commit, ...none };
}

interface RestoreStart extends FilesToRestore {
  /** The session with the intent to restore; undefined if there is nothing to restore. */
  readonly begun: SessionRecord | undefined;
  /** What came after it, of a session without a folder. */
  readonly later: LaterCommits | undefined;
  /** If nothing differs, no snapshot says so once more. */
  readonly mayBeThere: boolean;
}

/** Makes sure that there is a worktree, captures the folder, chooses the snapshot and writes the intent. */
async function prepare(session: LockedSession, request: RestoreRequest): Promise<RestoreStart> {
  const { repository } = session;
  const { now, scope, choose } = request;
  const found = await placeForRestore(session, request);
  const { intent, ...rest } = found;
  const record = inState(rest, 'active', { now });

  const resumed = await unfinishedTarget(session.with(found), request);
  const pick = async () => resumed ?? (await choose(session));
  // If agt has to create the sandbox again, the intent must be written before that.
  const chosenEarly = session.with(record).place === 'here' ? undefined : await pick();
  const known = intent?.operation === 'restore' ? intent.later : undefined;
  const later = known ?? (chosenEarly && (await laterCommits(session.with(record), chosenEarly, request)));
  if (chosenEarly !== undefined) {
    if (!holdsFiles(sessionFolder(record))) {
      const wanted = await readSnapshotMetadata(repository.git, chosenEarly.commit);
      await requireRoom(session.with(record), { wanted, scope });
    }
    await beginWith(session.with(found), chosenEarly, request, later);
  }
  const folder = await ensureWorktree(session.with(record));
  const active = session.with(record);
  const keep = await unkeptWorkTip(active);
  if (folder !== 'files') await keepGitState(active, { now, keep, isNew: folder === 'new' });
  const marks = { unfinished: resumed?.commit, ...(await filesOfLast(active)) };
  const capture = () =>
    captureSession(session.with(intent ? { ...record, intent } : record), { now, keep, ...marks });
  const before = folder === 'files' ? (request.before ?? (await capture())) : undefined;
  const snapshot = chosenEarly ?? (await pick());
  await refuseTarget(active, snapshot, request);
  failurePoint('restore: captured before');
  const wanted = await contentToRestore(active, snapshot, before?.commit, request.by);
  const isIgnored = before && (await listIgnored(active, snapshot.commit));
  const way = { captured: before?.commit, wanted, scope, isIgnored };
  const plan = before && (await requireRoom(active, way));
  const isNothing =
    isOfFiles(request) && intent === undefined && plan && pathsOf(plan).length + plan.blocked.length === 0;
  const begun = isNothing ? undefined : await beginWith(session.with(found), snapshot, request, later);
  const isFirst = intent === undefined && request.before === undefined;
  const mayBeThere = request.by === 'restore' && isFirst && before?.warnings.length === 0;
  const trees = [snapshot.commit, before?.commit].filter((commit) => commit !== undefined);
  if (folder !== 'files' || request.before)
    restoreIgnoreFile(sessionFolder(record), wanted.manifest.agtignore, request.before !== undefined);
  const taking = await filesToTake(active, snapshot.commit);
  const ambiguous = await readAmbiguousFolders(repository.git, trees);
  const planned = { wanted, before, plan, isIgnored, taking, ambiguous };
  return { record, begun, snapshot, later, mayBeThere, ...planned };
}

async function beginWith(
  session: LockedSession,
  { commit: snapshot }: Snapshot,
  { by, scope, label, undone }: RestoreRequest,
  later: LaterCommits | undefined,
): Promise<SessionRecord> {
  const tip = await findObject(session.git, tipRef(session.id));
  const { intent: known } = session.record;
  const before = known?.operation === 'restore' ? known.unaccepted : undefined;
  const intent = {
    operation: 'restore',
    snapshot,
    scope,
    by,
    ...(tip === undefined ? {} : { tip }),
    ...(before === undefined ? {} : { unaccepted: before }),
    ...(later === undefined ? {} : { later }),
    ...(label === undefined ? {} : { label }),
    ...(undone === undefined ? {} : { undone }),
  } as const;
  return begin(session, intent);
}

/** Restores the folder and, if the sandbox is in the scope, its git directory. */
async function bringBack(
  session: LockedSession,
  start: RestoreStart,
  request: RestoreRequest,
): Promise<Pick<RestoreResult, 'changed'> & { readonly warnings: string[]; readonly git?: PutBack }> {
  const { record, snapshot, wanted, before, ambiguous } = start;
  const { changed, warnings: notRestored, whole } = await restoreFiles(session, start, request);
  const notCaptured = (before?.failed ?? []).map(
    ({ path, reason }) =>
      `${relativeToSandbox(path, ambiguous)} was not restored, because agt could not capture it before (${reason})`,
  );
  const found = (before?.warnings ?? []).filter((warning) => warning !== LOST_REPOSITORY);
  const warnings = [...found, ...notCaptured, ...notRestored];
  // If another git has it locked, it stays.
  if (request.index?.length)
    await editIndex(session.sandboxGit, request.index, record.from_commit.length).catch(() => undefined);
  if (!request.scope.includes('sandbox') || request.filesOnly === true) return { changed, warnings };
  if (isAttached(record)) {
    const there = session.with(record);
    const latest = { from: before?.commit, isUndo: request.by !== 'restore' };
    const others = await othersRefs(there, latest, snapshot.commit);
    const isNamed = request.by === 'restore';
    const git = await putGitBack(there, wanted, { ...others, isNamed });
    return { changed, warnings: [...warnings, ...git.warnings], git };
  }
  const written = whole && (await examineWritten(session.with(record), whole));
  const restored = await restoreGitDir(session.with(record), snapshot, wanted, written?.statOf);
  return { changed, warnings: [...warnings, ...restored] };
}

async function captureAndVerify(
  session: LockedSession,
  start: RestoreStart,
  { now, by, scope, filesOnly, label, undone }: RestoreRequest,
  git: PutBack | undefined,
): Promise<Pick<RestoreResult, 'commit' | 'moves' | 'mismatches' | 'warnings'>> {
  const { repository } = session;
  const { record, snapshot, wanted, taking, ambiguous } = start;
  const name = label ?? (snapshot.label === THE_START ? THE_START : undefined);
  const restored = { commit: snapshot.commit, by, undone };
  const marks = { restored, label: name, onlyIfChanged: start.mayBeThere };
  const { commit = '', failed } = await captureSession(session.with(record), { now, ...marks, ...taking });
  const after = await readSnapshotMetadata(repository.git, commit);
  const last = isAttached(record) || filesOnly ? undefined : start.before?.commit;
  const known = last === undefined ? after : await readSnapshotMetadata(repository.git, last);
  const moves = movedRefs(session, await refsOf(session, known), await refsOf(session, after));
  const branches = workBranches(new Session(repository, record), snapshot);
  const { mismatches, ignored } = await verifyRestore(repository.git, after, wanted, scope, {
    branches,
    ambiguous,
    withGit: isAttached(record) ? git?.isWhole === true : scope.includes('sandbox') && filesOnly !== true,
  });
  const unread = failed.map(({ path }) => path).filter((path) => isUnder(path, scope.map(displayPath)));
  const warnings = ignored.map((path) => `${path} was not compared, because .agtignore matches it`);
  const staying = mismatches.length > 0 ? await stayingFiles(repository.git, start, commit) : NO_FILES;
  warnings.push(...staying.warnings);
  const shownUnread = unread.map((path) => relativeToSandbox(path, ambiguous));
  const different = [...mismatches, ...shownUnread].filter((path) => !staying.paths.has(path));
  return { commit, moves, mismatches: [...new Set(different)], warnings };
}

/** Returns what changed, and how to get back what was there. */
export async function finishRestore(session: Session): Promise<string> {
  const { repository, record } = session;
  const { session_id: id, intent } = record;
  if (intent?.operation !== 'restore') throw new AgtError(`session "${id}" has no unfinished restore`);
  const now = new Date();
  const snapshot = await snapshotIn(repository.git, await session.history(), intent.snapshot);
  const choose = async () => snapshot;
  const request = { ...intent, now, choose };
  const { before, changed, mismatches } = await restoreSession(session, request);
  const paths = plural(changed.length, 'path');
  const result = mismatches.length === 0 ? '' : ', some differ from the snapshot';
  // The snapshot that was taken now is of the folder between the two.
  const last = intent.tip ?? before;
  const back =
    last === undefined ? '' : `; to take this back: ${commandToRestore(record, last.slice(0, 10))}`;
  return `restored ${paths}${result}${back}`;
}
