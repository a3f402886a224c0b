/**
 * Ends a session that works in the user's own checkout: captures it, returns to the user's branch, and puts back what was
 * set aside. The intent says how far it has come, so the next command goes on after a kill.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import type { Remaining } from '../../disk/remove-tree.ts';
import { AgtError } from '../../errors.ts';
import { SESSION_STASH, stashRef } from '../../filter/agent-refs.ts';
import { isActive } from '../../filter/session-file.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { branchUser } from '../../git/files/worktree-registrations.ts';
import { type Git, requireUsable, resolveObject } from '../../git/run/git.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { inPlaceFile } from '../../layout.ts';
import type { LockedSession } from '../../session/lock.ts';
import { begin } from '../../session/operation.ts';
import { removalOf, type SessionRecord, snapshotRefs } from '../../session/record.ts';
import { isCheckoutGone } from '../../session/relocate.ts';
import { requireSandbox } from '../../session/sandbox.ts';
import type { Session } from '../../session/session.ts';
import { readHistory } from '../../snapshot/history.ts';
import { captureSession } from '../../workspace/capture-session.ts';
import { deleteCaptured, nextTick, type RemovalOptions, readable, refuseLoss } from '../delete-folder.ts';
import { gitDir, headBranch, type InPlace, inPlace, pointHead } from './checkout.ts';
import { returnToUser } from './return.ts';
import { aboutSetAside, dropStash } from './set-aside.ts';

export interface LeftCheckout {
  /** The caller completes the removal with it. If the session comes back later, it gets a sandbox of its own. */
  readonly record: SessionRecord;
  /** Readable paths that came too late to be captured. They stay in the session folder. */
  readonly left: Remaining;
  /** Why the user's uncommitted work stays set aside. */
  readonly trouble: AgtError | undefined;
}

export async function leaveCheckout(session: LockedSession, options: RemovalOptions): Promise<LeftCheckout> {
  const { record } = session;
  const { outcome, reason, now } = options;
  const isGone = phaseOf(record) !== 'deleting' && isCheckoutGone(session);
  if (isActive(record) && !isGone) await captureBeforeTheEnd(session, options);
  let begun = isActive(record)
    ? begin(session, {
        operation: 'remove',
        phase: 'returning',
        ...(outcome === undefined ? {} : { outcome }),
        ...(reason === undefined ? {} : { reason }),
      })
    : record;
  let trouble: AgtError | undefined;
  if (isGone) {
    trouble = await keptWithoutCheckout(session);
    begun = inLastPhase(session.with(begun), trouble);
  }
  if (phaseOf(begun) !== 'deleting') {
    const place = inPlace(session.with(begun));
    await requireReturnable(session);
    trouble = await returnToUser(place, now);
    dropSessionStash(place);
    rmSync(inPlaceFile(gitDir(place)), { force: true });
    begun = inLastPhase(session.with(begun), trouble);
    failurePoint('in place: put back');
  }
  if (removalOf(begun)?.keepsStash !== true) await dropStash(session);
  failurePoint('in place: stash dropped');
  const left = readable(await deleteCaptured(session, options.force));
  failurePoint('in place: folder removed');
  const { checkout: _, ...ended } = begun;
  return { record: { ...ended, working_copy: 'worktree' }, left, trouble };
}

/** @throws AgtError if agt would delete files that it cannot capture, or cannot return. Nothing has changed then. */
async function captureBeforeTheEnd(
  session: LockedSession,
  { force, outcome, now }: RemovalOptions,
): Promise<void> {
  requireSandbox(session);
  await requireReturnable(session);
  await nextTick(session.folder);
  const captured = await captureSession(session, { now, label: `before ${outcome ?? 'remove'}` });
  if (!force) refuseLoss(session.record, captured);
  await leaveUsersBranch(inPlace(session));
}

/** The agent has switched to the user's branch. There, HEAD would tell that everything of the user is back. */
async function leaveUsersBranch(place: InPlace): Promise<void> {
  if ((await headBranch(place)) !== place.userBranch) return;
  await pointHead(place, place.record.work_branch);
  failurePoint('in place: left the branch of the user');
}

/** There is no checkout to return to. Undefined if nothing of the user's was set aside. */
async function keptWithoutCheckout({
  git,
  id,
  record: { checkout, user_branch: branch = '' },
}: Session): Promise<AgtError | undefined> {
  const ref = stashRef(id);
  if ((await resolveObject(git, ref)) === undefined) return undefined;
  return new AgtError(
    `${checkout} is gone, so agt could not put back the work that you had not committed when session "${id}" began`,
    {
      hints: [`it is safe, for a checkout of ${shortBranch(branch)}`, ...aboutSetAside(ref)],
    },
  );
}

/** @throws AgtError if the branch to return to is gone, or another worktree has it. */
export async function requireReturnable({ git, record }: Session): Promise<void> {
  const { session_id: id, checkout, user_branch: branch } = record;
  if (checkout === undefined || branch === undefined) return;
  if ((await resolveObject(git, branch)) === undefined) {
    await requireUsable(git);
    const known = (await lastTip(git, record)).slice(0, 10);
    throw new AgtError(`"${shortBranch(branch)}" is gone, so session "${id}" cannot return to it`, {
      hints: [
        `make it again: git branch ${shellQuote(shortBranch(branch))} ${known}`,
        'if it had commits after that one, git fsck --lost-found finds them',
      ],
    });
  }
  const other = await branchUser(git, branch, checkout);
  if (other === undefined) return;
  const name = shortBranch(branch);
  throw new AgtError(
    `"${name}" is ${other.use} in ${other.worktree}, so session "${id}" cannot return to it`,
    {
      hints: [`switch that worktree to another branch: git -C ${other.worktree} switch --detach`],
    },
  );
}

/** Each snapshot names the commit that the user's branch had; without the branch, the one of the beginning. */
async function lastTip(git: Git, record: SessionRecord): Promise<string> {
  const start = record.from_commit;
  const history = await readHistory(git, snapshotRefs(record));
  return history.map(({ parents }) => parents[1]).find((tip) => tip !== undefined && tip !== start) ?? start;
}

/** The last snapshot has its entries. */
function dropSessionStash(place: InPlace): void {
  for (const path of [SESSION_STASH, join('logs', SESSION_STASH)])
    rmSync(join(gitDir(place), path), { force: true });
}

function phaseOf(record: SessionRecord) {
  return removalOf(record)?.phase;
}

/** @param trouble why the ref of what was set aside stays */
function inLastPhase(session: LockedSession, trouble: AgtError | undefined): SessionRecord {
  const { keepsStash: _, ...removal } = removalOf(session.record) ?? { operation: 'remove' as const };
  const keeps = trouble === undefined ? {} : { keepsStash: true as const };
  const next: SessionRecord = { ...session.record, intent: { ...removal, ...keeps, phase: 'deleting' } };
  session.write(next);
  return next;
}
