/**
 * `agt session remove`: captures the session a last time, then deletes its folder. The branches stay, so the
 * session can be restored, unless the user gives --delete-branch. If agt is killed, the next removal finishes
 * this one.
 */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { CaptureResult, NotCaptured } from '../autocommit/capture.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { holdsFiles } from '../disk/folder-entries.ts';
import { refuseMounts } from '../disk/mounts.ts';
import type { Remaining } from '../disk/remove-tree.ts';
import { AgtError, listSome, plural } from '../errors.ts';
import { attributionRef, tipRef } from '../filter/agent-refs.ts';
import { isActive } from '../filter/session-file.ts';
import { branchUser } from '../git/files/worktree-registrations.ts';
import {
  dropBranchSettings,
  gitAnswer,
  gitLines,
  gitText,
  inDirectory,
  resolveObject,
  updateRefs,
} from '../git/run/git.ts';
import { recordFile } from '../layout.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { complete, refuseAway, unfinishedError } from '../session/operation.ts';
import { refuseRunning } from '../session/owner.ts';
import { isOwnMount } from '../session/provider.ts';
import { removalOf, type SessionRecord, sessionFolder } from '../session/record.ts';
import { isFolderOfOther, refuseMovedSandbox } from '../session/relocate.ts';
import { refuseForeign } from '../session/sandbox.ts';
import { Session } from '../session/session.ts';
import { BEFORE_END } from '../snapshot/format.ts';
import { captureSession, previewCapture } from '../workspace/capture-session.ts';
import { endMoments } from '../workspace/moments.ts';
import { deleteFolder, type RemovalOptions, refuseLoss, removeEmptyParents } from './delete-folder.ts';
import { leaveCheckout, requireReturnable } from './in-place/end.ts';
import { refsOfSession } from './unsaved-work.ts';

export type RemovalPlan = Awaited<ReturnType<typeof planRemoval>>;

/** For a report. `folder`: undefined if it is gone already. `refs`: those to delete. */
export async function planRemoval(session: Session, deleteBranch: boolean) {
  const { record, folder } = session;
  const refs = deleteBranch ? await existingRefs(session) : [];
  return { record, folder: existsSync(folder) ? folder : undefined, refs };
}

/** With the commits that they point to. */
async function existingRefs(session: Session) {
  const { repository, record } = session;
  const names = [...refsOfSession(record), ...(await mapsTakenBack(session))];
  const format = '--format=%(refname) %(objectname)';
  const listed = await gitLines(repository.git, ['for-each-ref', format, '--', ...names]);
  return listed
    .map((line) => line.split(' '))
    .filter(([ref = '']) => names.includes(ref))
    .map(([ref = '', commit = '']) => ({ ref, commit }));
}

/** The map of accepted lines, if all its acceptances are taken back: those of an earlier session of this id may stand. */
async function mapsTakenBack({ git, id, record }: Session): Promise<string[]> {
  const back = (record.taken_back ?? []).map(({ commit }) => commit);
  if (back.length === 0 || record.landed !== undefined) return [];
  const ref = attributionRef(id);
  const maps = await gitAnswer(git, ['rev-list', '--parents', ref, '--not', ...back, '--']);
  return maps?.split('\n').every((map) => back.some((commit) => map.endsWith(` ${commit}`))) ? [ref] : [];
}

/** Files that are gone with the session, and that no snapshot holds. */
export interface Deleted {
  /** Paths that `.agtignore` names. */
  readonly ignored: readonly string[];
  /** agt could not capture them, and the user gave them up. */
  readonly uncaptured: readonly NotCaptured[];
  /** agt could not capture them, and they stay in the user's own checkout. */
  readonly staying: readonly string[];
}

export function removeSession({ repository, record }: Session, options: RemovalOptions): Promise<Deleted> {
  const { commonDir, git } = repository;
  // The current directory may be in the folder that goes.
  process.chdir(commonDir);
  const outside = new Session({ ...repository, git: inDirectory(git, commonDir) }, record);
  // With --force a session may go whose folder cannot be mounted.
  return withSessionLock(outside, (locked) => removeLocked(locked, options), { mount: !options.force });
}

/** For a caller that holds the lock and whose current directory is not in the folder. */
export async function removeLocked(session: LockedSession, options: RemovalOptions): Promise<Deleted> {
  const { record } = session;
  await refuseInTheWay(session, options);
  if (record.checkout !== undefined) return removeInPlace(session, options);
  const deleted = isActive(record) ? await captureLastTime(session, options) : NOTHING;
  const left = await deleteFolder(session, options);
  const deleteBranch = options.deleteBranch || (await hadDeletedBranches(session));
  await finish(session.with(session.read() ?? record), { ...options, deleteBranch });
  if (left.paths.length > 0) throw leftFiles(record, left);
  return deleted;
}

const NOTHING: Deleted = { ignored: [], uncaptured: [], staying: [] };

async function refuseInTheWay(session: Session, options: RemovalOptions): Promise<void> {
  const { record } = session;
  refuseUnfinished(record, options);
  if (options.outcome !== undefined) refuseAway(record);
  const end =
    options.outcome === 'rejected'
      ? `reject ${session.id} --running`
      : `session remove ${session.id} --force`;
  if (!options.force && options.running !== true && isActive(record))
    refuseRunning(session, options.wayOut ?? `end the session all the same: agt ${end}`);
  const place = session.place;
  if (place === 'elsewhere' || place === 'unmounted') refuseForeign(record, place);
  await refuseMovedSandbox(session);
  await refuseOtherFolder(session);
  refuseMounts(session.folder, isOwnMount(record));
}

/** Somebody may have changed the metadata. @throws AgtError if the folder that they name is no session folder of this id. */
async function refuseOtherFolder(session: Session): Promise<void> {
  const { session_id: id, sandbox } = session.record;
  const folder = session.folder;
  if (basename(folder) === id && basename(dirname(folder)) === 'sessions') return;
  // Somebody renamed it, and agt doctor connected it again.
  if (dirname(folder) === (await session.repository.sessionsDir()) && !isFolderOfOther(session, folder))
    return;
  throw new AgtError(`agt does not delete ${folder}: it is not the folder of session "${id}"`, {
    hints: [`its metadata name ${sandbox}; correct them: ${recordFile(session.repository.agtDir, id)}`],
  });
}

/** For a dry run. @throws AgtError where a removal would refuse. */
export async function requireRemovable(session: Session, options: RemovalOptions): Promise<Deleted> {
  await refuseInTheWay(session, options);
  if (!isActive(session.record)) return NOTHING;
  await requireReturnable(session);
  if (session.record.checkout !== undefined || session.place !== 'here') return NOTHING;
  const captured = await previewCapture(session, { now: options.now });
  if (!options.force) refuseLoss(session.record, captured, options.wayOut);
  return deletedWith(captured);
}

/** The folder is gone. */
async function finish(session: LockedSession, { deleteBranch, now }: RemovalOptions) {
  const { repository } = session;
  await endMoments(session);
  if (repository.area === undefined) removeEmptyParents(dirname(session.folder));
  if (deleteBranch) {
    await deleteRefs(session);
    failurePoint('remove: refs deleted');
    session.forget();
    return;
  }
  // Accepted, rejected or reverted: nobody needs the work branch, and the snapshots have its commits.
  if ((removalOf(session.record)?.outcome ?? 'removed') !== 'removed') await dropWorkBranch(session);
  complete(session, 'remove', now);
}

/** @throws AgtError if the user's work stays set aside, or files stay in the session folder. The session has ended then. */
async function removeInPlace(session: LockedSession, options: RemovalOptions): Promise<Deleted> {
  const ended = await leaveCheckout(session, options);
  await finish(session.with(ended.record), options);
  if (ended.trouble !== undefined) throw ended.trouble;
  if (ended.left.paths.length > 0) throw leftFiles(session.record, ended.left);
  return { ...NOTHING, staying: ended.staying };
}

/** @throws AgtError if the folder has something that agt could not capture. Nothing is removed then. */
async function captureLastTime(
  session: LockedSession,
  { force, now, outcome = 'removed' }: RemovalOptions,
): Promise<Deleted> {
  const { id, folder } = session;
  if (session.place !== 'here') {
    if (force || !holdsFiles(folder)) return NOTHING;
    throw new AgtError(`cannot capture session "${id}": its sandbox is no longer a worktree`, {
      hints: [
        `its folder still contains files: ${folder}`,
        'move them away, or repair the sandbox: agt doctor',
        'or delete them together with the session: --force',
      ],
    });
  }
  const captured = await captureSession(session, { now, label: BEFORE_END[outcome], isLast: true });
  if (!force) refuseLoss(session.record, captured);
  return deletedWith(captured);
}

function deletedWith({ ignored, skipped, failed }: CaptureResult): Deleted {
  return { ignored, uncaptured: [...skipped, ...failed], staying: [] };
}

function leftFiles(record: SessionRecord, { paths, refused }: Remaining): AgtError {
  const came = paths.filter((path) => !refused.includes(path));
  const reasons = [
    ...(refused.length === 0 ? [] : [`you may not delete ${plural(refused.length, 'file')}`]),
    ...(came.length === 0 ? [] : [`${plural(came.length, 'file')} came meanwhile`]),
  ];
  return new AgtError(`session "${record.session_id}" is removed, but ${reasons.join(', and ')}`, {
    hints: [
      ...(refused.length === 0 ? [] : [`their owner can delete them: ${listSome(refused)}`]),
      ...(came.length === 0 ? [] : [`agt did not capture and did not delete: ${listSome(came)}`]),
      `they are in ${sessionFolder(record)}`,
    ],
  });
}

/** A branch of the user may be on its way, or there is no session yet that could have an outcome. */
function refuseUnfinished({ session_id, intent }: SessionRecord, { outcome }: RemovalOptions): void {
  const isMoving = intent?.operation === 'accept' || intent?.operation === 'unaccept';
  const isCreated = intent?.operation !== 'create' || outcome === undefined;
  if (intent !== undefined && ((isMoving && outcome !== 'accepted') || !isCreated))
    throw unfinishedError(session_id, intent.operation);
}

/** Whether this removal finishes one that was killed after it had deleted the branches. */
async function hadDeletedBranches(session: Session): Promise<boolean> {
  if (removalOf(session.record) === undefined) return false;
  const refs = await existingRefs(session);
  return refs.every(({ ref }) => ref === session.record.work_branch);
}

/** Reads the refs again: the last capture has moved them since the plan. */
async function deleteRefs(session: LockedSession): Promise<void> {
  const refs = await existingRefs(session);
  const deleting = refs.map(({ ref, commit }) => `delete ${ref} ${commit}`);
  await updateRefs(session.git, deleting);
  await dropBranchSettings(session.git, session.record.work_branch);
}

/** A restore makes it again. A branch stays if a worktree uses it, or no snapshot keeps one of its commits. */
export async function dropWorkBranch({ git, record }: Session): Promise<void> {
  const { work_branch: ref, sandbox, session_id: id } = record;
  const tip = await resolveObject(git, ref);
  if (tip === undefined) return;
  const unkept = await gitAnswer(git, ['rev-list', '--max-count=1', tip, '--not', tipRef(id), '--']);
  if (unkept !== '' || (await branchUser(git, ref, sandbox)) !== undefined) return;
  await gitText(git, ['update-ref', '-d', ref, tip]);
  await dropBranchSettings(git, ref);
  failurePoint('remove: work branch deleted');
}

/** For a session that has ended before. */
export function changeReason(session: Session, reason: string): Promise<SessionRecord> {
  return withSessionLock(session, async (locked) => {
    const record = { ...locked.record, state_reason: reason };
    locked.write(record);
    return record;
  });
}
