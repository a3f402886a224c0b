/**
 * Ends a session that works in the user's own checkout: captures it, returns to the user's branch, and puts back what was
 * set aside. The intent says how far it has come, so the next command goes on after a kill.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError } from '../../errors.ts';
import { SESSION_STASH, stashRef } from '../../filter/agent-refs.ts';
import { isActive } from '../../filter/session-file.ts';
import { branchUser } from '../../git/files/branch-user.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { gitText, resolveObject } from '../../git/run/git.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { inPlaceFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { RemovalOptions } from '../lifecycle/delete-folder.ts';
import type { LockedSession } from '../lock.ts';
import { begin } from '../operation.ts';
import { type SessionRecord, sessionFolder } from '../record.ts';
import {
  captureDirty,
  dropOperation,
  gitDir,
  headBranch,
  type InPlace,
  inPlace,
  switchTo,
} from './checkout.ts';
import { putIgnoredBack } from './ignored-back.ts';
import { putBack } from './put-back.ts';
import { applySetAside, removeUntracked } from './set-aside.ts';

/**
 * The caller completes the removal. If it comes back later, the session gets a sandbox of its own.
 * @returns the record to complete, and readable paths of the user's work that are in the way of putting it back
 */
export async function leaveCheckout(
  session: LockedSession,
  record: SessionRecord,
  options: RemovalOptions,
): Promise<{ readonly record: SessionRecord; readonly conflicts: readonly string[] }> {
  const { outcome, reason, now } = options;
  if (isActive(record)) await requireReturnable(session.repository, record);
  let begun = isActive(record)
    ? begin(session, record, {
        operation: 'remove',
        phase: 'moving',
        ...(outcome === undefined ? {} : { outcome }),
        ...(reason === undefined ? {} : { reason }),
      })
    : record;
  let conflicts: readonly string[] = [];
  if (phaseOf(begun) !== 'deleting') {
    const place = inPlace(session, begun);
    if (phaseOf(begun) !== 'returning') {
      await captureDirty(place, { label: `before ${outcome ?? 'remove'}`, now });
      begun = inPhase(session, begun, 'returning');
      failurePoint('in place: captured at the end');
    }
    await returnToUser(place, now);
    await putIgnoredBack(place);
    conflicts = await putBack(place);
    if (conflicts.length === 0) await dropStash(place);
    dropSessionStash(place);
    rmSync(inPlaceFile(gitDir(place)), { force: true });
    begun = inPhase(session, begun, 'deleting');
    failurePoint('in place: put back');
  }
  removeTree(sessionFolder(record));
  failurePoint('in place: folder removed');
  const { checkout: _, ...ended } = begun;
  return { record: { ...ended, working_copy: 'worktree' }, conflicts };
}

/** @throws AgtError if another worktree has the branch to return to. */
export async function requireReturnable(
  { git }: Repository,
  { session_id: id, checkout, user_branch: branch }: SessionRecord,
): Promise<void> {
  if (checkout === undefined || branch === undefined) return;
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

/** The last snapshot has all that goes. If agt was killed after it, somebody may have worked there since. */
async function returnToUser(place: InPlace, now: Date): Promise<void> {
  if ((await headBranch(place)) === place.userBranch) return;
  const dirty = await captureDirty(place, { label: 'before the return', now, onlyIfNeeded: true });
  removeUntracked(place, dirty);
  dropOperation(place);
  failurePoint('in place: agent files removed');
  await switchTo(place, place.userBranch);
  failurePoint('in place: returned');
}

export async function dropStash({ git, record }: InPlace): Promise<void> {
  const ref = stashRef(record.session_id);
  const stash = await resolveObject(git, ref);
  if (stash !== undefined) await gitText(git, ['update-ref', '-d', ref, stash]);
}

/** The last snapshot has its entries. */
function dropSessionStash(place: InPlace): void {
  for (const path of [SESSION_STASH, join('logs', SESSION_STASH)])
    rmSync(join(gitDir(place), path), { force: true });
}

function phaseOf({ intent }: SessionRecord) {
  return intent?.operation === 'remove' ? intent.phase : undefined;
}

function inPhase(
  session: LockedSession,
  record: SessionRecord,
  phase: 'returning' | 'deleting',
): SessionRecord {
  const { intent } = record;
  const removal = intent?.operation === 'remove' ? intent : { operation: 'remove' as const };
  const next: SessionRecord = { ...record, intent: { ...removal, phase } };
  session.write(next);
  return next;
}

export function notPutBack(
  { session_id: id, checkout }: SessionRecord,
  conflicts: readonly string[],
): AgtError {
  const options = checkout === undefined ? '' : `-C ${shellQuote(checkout)} `;
  return new AgtError(`your uncommitted work of before session "${id}" could not be put back`, {
    hints: [
      `in the way: ${conflicts.join(', ')}`,
      `it is safe; to get it, first move those away, then: ${applySetAside(stashRef(id), options)}`,
    ],
  });
}
