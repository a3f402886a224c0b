/**
 * Ends a session that works in the user's own checkout: captures it, returns to the user's branch, and puts back what was
 * set aside. The intent says how far it has come, so the next command goes on after a kill.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CaptureResult } from '../../autocommit/capture.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { AgtError } from '../../errors.ts';
import { SESSION_STASH, stashRef } from '../../filter/agent-refs.ts';
import { isActive } from '../../filter/session-file.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { branchUser } from '../../git/files/worktree-registrations.ts';
import { readStatus } from '../../git/objects/status.ts';
import { inDirectory, requireUsable, resolveObject } from '../../git/run/git.ts';
import { inPlaceFile } from '../../layout.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import type { LockedSession } from '../../session/lock.ts';
import { removalOf, type SessionRecord } from '../../session/record.ts';
import { isCheckoutGone } from '../../session/relocate.ts';
import { requireSandbox } from '../../session/sandbox.ts';
import type { Session } from '../../session/session.ts';
import { BEFORE_END } from '../../snapshot/format.ts';
import { captureSession } from '../../workspace/capture-session.ts';
import {
  beginRemoval,
  deleteCaptured,
  nextTick,
  type RemovalOptions,
  readable,
  refuseLoss,
} from '../delete-folder.ts';
import { returnToUser } from './bring-back.ts';
import { gitDir, headBranch, inPlace, pointHead } from './checkout.ts';
import { aboutSetAside, dropStash } from './set-aside.ts';
import { requireUsersSide } from './users-side.ts';

/**
 * @returns `record`, with which the caller completes the removal: if the session comes back later, it gets a sandbox of its
 * own; `left`: readable paths that came too late to be captured, and stay in the session folder; `staying`: those that no
 * snapshot has, and that stay in the checkout; `trouble`: why the user's uncommitted work stays set aside.
 */
export async function leaveCheckout(session: LockedSession, options: RemovalOptions) {
  const { record } = session;
  const isGone = removalOf(record)?.phase !== 'deleting' && isCheckoutGone(session);
  const captured = isActive(record) && !isGone ? await captureBeforeTheEnd(session, options) : undefined;
  let begun = beginRemoval(session, 'returning', options);
  let trouble: AgtError | undefined;
  if (removalOf(begun)?.phase !== 'deleting') {
    const ending = session.with(begun);
    trouble = isGone ? await keptWithoutCheckout(session) : await returnAll(ending, options.now);
    begun = inLastPhase(ending, trouble);
    failurePoint('in place: put back');
  }
  if (removalOf(begun)?.keepsStash !== true) await dropStash(session);
  failurePoint('in place: stash dropped');
  const left = readable(await deleteCaptured(session, options.force));
  failurePoint('in place: folder removed');
  const { checkout: _, ...ended } = begun;
  const staying = await stayingIn(session, captured);
  return { record: { ...ended, working_copy: 'worktree' as const }, left, trouble, staying };
}

/** Files that agt left out, as for their size, and that git does not have as they are. */
async function stayingIn({ git, record }: Session, captured: CaptureResult | undefined): Promise<string[]> {
  const { checkout } = record;
  const { skipped = [], failed = [] } = captured ?? {};
  if (checkout === undefined || skipped.length + failed.length === 0) return [];
  const { entries } = await readStatus(inDirectory(git, checkout), '--untracked-files=all');
  const open = new Set(entries.map(({ path }) => `sandbox/${displayPath(path)}`));
  return [...skipped, ...failed].flatMap(({ path }) => (open.has(path) ? path.slice('sandbox/'.length) : []));
}

async function returnAll(session: LockedSession, now: Date): Promise<AgtError | undefined> {
  const place = inPlace(session);
  await requireReturnable(session);
  const trouble = await returnToUser(place, now);
  // The last snapshot has the entries of the session's stash.
  for (const path of [SESSION_STASH, join('logs', SESSION_STASH)])
    rmSync(join(gitDir(place), path), { force: true });
  rmSync(inPlaceFile(gitDir(place)), { force: true });
  return trouble;
}

/** @throws AgtError if agt would delete files that it cannot capture, or cannot return. Nothing has changed then. */
async function captureBeforeTheEnd(session: LockedSession, { force, outcome, now }: RemovalOptions) {
  requireSandbox(session);
  await requireReturnable(session);
  await nextTick(session.folder);
  const captured = await captureSession(session, { now, label: BEFORE_END[outcome ?? 'removed'] });
  if (!force) refuseLoss(session.record, captured);
  const place = inPlace(session);
  if ((await headBranch(place)) !== place.userBranch) return captured;
  // The agent has switched to the user's branch. There, HEAD would tell that everything of the user is back.
  await pointHead(place, session.record.work_branch);
  failurePoint('in place: left the branch of the user');
  return captured;
}

/** There is no checkout to return to. Undefined if nothing of the user's was set aside. */
async function keptWithoutCheckout({ git, id, record }: Session): Promise<AgtError | undefined> {
  const ref = stashRef(id);
  if ((await resolveObject(git, ref)) === undefined) return undefined;
  const work = `the work that you had not committed when session "${id}" began`;
  return new AgtError(`${record.checkout} is gone, so agt could not put back ${work}`, {
    hints: [`it is safe, for a checkout of ${shortBranch(record.user_branch ?? '')}`, ...aboutSetAside(ref)],
  });
}

/** @throws AgtError if the branch to return to is gone, or another worktree has it, or if agt lacks the user's side. */
export async function requireReturnable(session: Session): Promise<void> {
  const { git, id, record } = session;
  const { checkout, user_branch: branch } = record;
  if (checkout === undefined || branch === undefined) return;
  if ((await resolveObject(git, branch)) === undefined) {
    await requireUsable(git);
    throw new AgtError(`"${shortBranch(branch)}" is gone, so session "${id}" cannot return to it`, {
      hints: [
        `make it again: ${await commandForBranch(session, branch)}`,
        'if it had commits after that one, git fsck --lost-found finds them',
      ],
    });
  }
  await requireUsersSide(git, record);
  const other = await branchUser(git, branch, checkout);
  if (other === undefined) return;
  const taken = `"${shortBranch(branch)}" is ${other.use} in ${other.worktree}`;
  throw new AgtError(`${taken}, so session "${id}" cannot return to it`, {
    hints: [`switch that worktree to another branch: git -C ${other.worktree} switch --detach`],
  });
}

/** The command that makes the user's branch again, where it was last. */
export async function commandForBranch(session: Session, ref: string): Promise<string> {
  const start = session.record.from_commit;
  const history = await session.history();
  // Each snapshot names the commit that the branch had; without the branch, the one of the beginning.
  const tip = history.map(({ parents }) => parents[1]).find((one) => one !== undefined && one !== start);
  return `git branch ${shellQuote(shortBranch(ref))} ${(tip ?? start).slice(0, 10)}`;
}

/** @param trouble why the ref of what was set aside stays */
function inLastPhase(session: LockedSession, trouble: AgtError | undefined): SessionRecord {
  const { keepsStash: _, ...removal } = removalOf(session.record) ?? { operation: 'remove' as const };
  const keeps = trouble === undefined ? {} : { keepsStash: true as const };
  const next: SessionRecord = { ...session.record, intent: { ...removal, ...keeps, phase: 'deleting' } };
  session.write(next);
  return next;
}
