/**
 * `agt session restore`, `undo` and `redo`: bring a session, or a part of it, back to a snapshot. agt captures the folder
 * before and after, so the history only grows and every restore can be undone.
 */

import type { CaptureResult } from '../../autocommit/capture.ts';
import { linkedSandbox } from '../../autocommit/observe.ts';
import type { CaptureOptions } from '../../autocommit/request.ts';
import { applyPlan } from '../../checkout/apply.ts';
import { prepareCheckout } from '../../checkout/checkout.ts';
import { restoreGitDirFiles, type WorkBranches } from '../../checkout/git-dir-files.ts';
import type { CheckoutPlan } from '../../checkout/plan.ts';
import { requireSpaceFor } from '../../checkout/required-space.ts';
import { requireGitDir, restoreIndex } from '../../checkout/sandbox-git-dir.ts';
import { restoreHead } from '../../checkout/sandbox-head.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { holdsFiles } from '../../disk/folder-entries.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { AgtError } from '../../errors.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { type Git, gitAnswer } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureSession } from '../../session/capture-session.ts';
import { type LockedSession, withSessionLock } from '../../session/lock.ts';
import { begin, complete, inState, requireAllowed } from '../../session/operation.ts';
import { isAttached, type SessionRecord, sessionFolder, workBranchOf } from '../../session/record.ts';
import { placeToRestore } from '../../session/relocate.ts';
import { sandboxExists } from '../../session/sandbox-place.ts';
import { isUnder } from '../../snapshot/folders.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { restoreIgnoreFile } from '../../snapshot/ignore-file.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/metadata.ts';
import { readSnapshotTree } from '../../snapshot/tree.ts';
import { ensureWorktree, refuseToReplace } from './ensure-worktree.ts';
import { keepGitState } from './keep-git-state.ts';
import type { RestoreRequest } from './request.ts';
import { openSessionFolder } from './session-folder.ts';
import { unfinishedTarget } from './unfinished-restore.ts';
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
  refuseInPlace(found);
  const start = await prepare(session, found, request);
  const { changed, warnings } = await bringBack(session, start, request);
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

/** @throws AgtError if the session works in the user's own checkout. When it has ended, it comes back with a sandbox. */
function refuseInPlace({ session_id: id, working_copy }: SessionRecord): void {
  if (working_copy !== 'in-place') return;
  throw new AgtError(`session "${id}" works in your own checkout, and agt does not go back there`, {
    hints: [`take an earlier snapshot into a sandbox: agt session fork ${id} --at SNAPSHOT`],
  });
}

interface RestoreStart {
  /** The session as it will be after the restore: agt captures only active sessions. */
  readonly record: SessionRecord;
  /** The session with the intent to restore. */
  readonly begun: SessionRecord;
  readonly snapshot: Snapshot;
  readonly wanted: SnapshotMetadata;
  /** The capture before the restore; undefined if the folder was empty. */
  readonly before: CaptureResult | undefined;
  /** From there to the snapshot; undefined if agt does not know it yet. */
  readonly plan: CheckoutPlan | undefined;
  /** For the captures that follow: agt replaces no file that it has not captured, also if git ignores it by now. */
  readonly taking: Pick<CaptureOptions, 'alsoTake'>;
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
  const resumed = await unfinishedTarget(repository, found, request);
  const pick = async () => resumed ?? (await choose(false));
  // If agt has to create the sandbox again, the intent must be written before that.
  const chosenEarly = sandboxExists(repository, record) ? undefined : await pick();
  if (chosenEarly !== undefined) {
    if (!holdsFiles(sessionFolder(record)))
      await requireRoom(repository, record, { from: undefined, to: chosenEarly, scope });
    await beginWith(session, found, chosenEarly, request);
  }
  const folder = await ensureWorktree(repository, record);
  const keep = await unkeptWorkTip(repository, record);
  if (folder !== 'files') await keepGitState(session, record, { now, keep, isNew: folder === 'new' });
  const marks = resumed === undefined ? {} : { unfinished: resumed.commit };
  const before =
    folder === 'files' ? await captureSession(session, record, { now, keep, ...marks }) : undefined;
  const snapshot = chosenEarly ?? (await pick());
  failurePoint('restore: captured before');
  const plan =
    before?.commit === undefined
      ? undefined
      : await requireRoom(repository, record, { from: before.commit, to: snapshot, scope });
  const begun = await beginWith(session, found, snapshot, request);
  const wanted = await readSnapshotMetadata(repository.git, snapshot.commit);
  if (folder !== 'files') restoreIgnoreFile(sessionFolder(record), wanted.manifest.agtignore);
  return {
    record,
    begun,
    snapshot,
    wanted,
    before,
    plan,
    taking: await filesToTake(repository, record, wanted),
  };
}

async function filesToTake(
  { git }: Repository,
  record: SessionRecord,
  { commit }: SnapshotMetadata,
): Promise<RestoreStart['taking']> {
  if (!isAttached(record)) return {};
  return { alsoTake: [...(await readSnapshotTree(git, commit)).files.keys()] };
}

async function beginWith(
  session: LockedSession,
  found: SessionRecord,
  { commit: snapshot }: Snapshot,
  { by, scope }: RestoreRequest,
): Promise<SessionRecord> {
  const tip = await findObject(session.repository.git, tipRef(found.session_id));
  const intent = {
    operation: 'restore',
    snapshot,
    scope,
    by,
    ...(tip === undefined ? {} : { tip }),
  } as const;
  return begin(session, found, intent);
}

/** @throws AgtError if the disk has too little room for the restore. Nothing has changed then. */
async function requireRoom(
  { git }: Repository,
  record: SessionRecord,
  { from, to, scope }: { from: string | undefined; to: Snapshot; scope: RestoreRequest['scope'] },
): Promise<CheckoutPlan> {
  const plan = await planFrom(git, from, await readSnapshotMetadata(git, to.commit), scope);
  await requireSpaceFor(git, plan, sessionFolder(record), linkedSandbox(record));
  return plan;
}

/** The tip of the work branch, which a restore may move, if nothing that the snapshot before refers to leads to it. */
async function unkeptWorkTip(repository: Repository, record: SessionRecord): Promise<string[]> {
  const tip = await findObject(repository.git, record.work_branch);
  if (tip === undefined) return [];
  const kept = [record.branch, record.user_branch ?? record.from_commit];
  const missing = await gitAnswer(repository.git, ['rev-list', '--max-count=1', tip, '--not', ...kept, '--']);
  return missing === '' ? [] : [tip];
}

/** Restores the folder and, if the sandbox is in the scope, its git directory. */
async function bringBack(
  session: LockedSession,
  start: RestoreStart,
  request: RestoreRequest,
): Promise<{ changed: number; warnings: string[] }> {
  const { record, snapshot, wanted, before } = start;
  const { changed, warnings: notRestored } = await restoreFiles(session, start, request);
  const notCaptured = (before?.failed ?? []).map(
    ({ path, reason }) => `${path} was not restored, because agt could not capture it before (${reason})`,
  );
  const warnings = [...(before?.warnings ?? []), ...notCaptured, ...notRestored];
  if (request.scope.includes('sandbox') && !isAttached(record)) {
    warnings.push(...(await restoreGitDir(session.repository, record, snapshot, wanted)));
  }
  return { changed, warnings };
}

/** How often agt captures the folder again, if other processes change it during the restore, before it goes on. */
const ATTEMPTS = 3;

/** Restores files, links, directories and permissions. Returns the number of paths that were not as wanted. */
async function restoreFiles(
  session: LockedSession,
  { record, wanted, before, plan: firstPlan, taking }: RestoreStart,
  { scope, now }: RestoreRequest,
): Promise<{ changed: number; warnings: string[] }> {
  const { git } = session.repository;
  const paths = new Set<string>();
  let captured = before?.commit;
  let plan = firstPlan ?? (await planFrom(git, captured, wanted, scope));
  for (let attempt = 1; ; attempt++) {
    for (const path of pathsOf(plan)) paths.add(path);
    const { changed, refused } = await applyPlan(git, plan, openSessionFolder(session.repository, record));
    if (changed.length === 0 || attempt === ATTEMPTS) {
      const busy = changed.map((path) => ({ path, reason: 'a process keeps changing it' }));
      const warnings = [...refused, ...busy].map(
        ({ path, reason }) => `${displayPath(path)} was not restored: ${reason}`,
      );
      return { changed: paths.size, warnings };
    }
    const marks = { now, unfinished: wanted.commit, ...taking };
    captured = (await captureSession(session, record, marks)).commit;
    plan = await planFrom(git, captured, wanted, scope);
  }
}

/** `captured` is the last snapshot; undefined if the folder is empty. */
async function planFrom(
  git: Git,
  captured: string | undefined,
  wanted: SnapshotMetadata,
  scope: readonly string[],
): Promise<CheckoutPlan> {
  const from = captured === undefined ? undefined : await readSnapshotMetadata(git, captured);
  return prepareCheckout(git, from, wanted, scope);
}

/** Every path that a plan changes. */
function pathsOf(plan: CheckoutPlan): string[] {
  return [...plan.deletions, ...plan.writes.map(({ path }) => path), ...plan.modes.keys()];
}

/** Restores HEAD, the work branch, the index and the other files of the git directory. Returns warnings. */
async function restoreGitDir(
  repository: Repository,
  record: SessionRecord,
  snapshot: Snapshot,
  wanted: SnapshotMetadata,
): Promise<string[]> {
  const { git } = repository;
  const { sandbox } = record;
  const branches = workBranches(repository, record, snapshot);
  const warnings = await restoreHead(git, wanted.manifest.head, { sandbox, ...branches });
  failurePoint('restore: head moved');
  await restoreIndex(git, wanted, sandbox);
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
  { record, snapshot, wanted, taking }: RestoreStart,
  { now, by, scope }: RestoreRequest,
): Promise<{ commit: string; mismatches: string[]; warnings: string[] }> {
  const { repository } = session;
  const restored = { commit: snapshot.commit, by };
  const { commit = '', failed } = await captureSession(session, record, { now, restored, ...taking });
  const after = await readSnapshotMetadata(repository.git, commit);
  const branches = workBranches(repository, record, snapshot);
  const { mismatches, ignored } = await verifyRestore(repository.git, after, wanted, scope, branches);
  const unread = failed.map(({ path }) => path).filter((path) => isUnder(path, scope.map(displayPath)));
  const warnings = ignored.map((path) => `${path} was not compared, because .agtignore matches it`);
  return { commit, mismatches: [...new Set([...mismatches, ...unread])], warnings };
}
