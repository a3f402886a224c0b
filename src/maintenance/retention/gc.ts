import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { AgtError, errorCode } from '../../errors.ts';
import { landedRef, reviewRef, takenRef, tipRef } from '../../filter/agent-refs.ts';
import { isActive } from '../../filter/session-file.ts';
import { listWorktrees } from '../../git/files/worktree-registrations.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { dropBranchSettings, resolveObject, updateRefs } from '../../git/run/git.ts';
import { knownMergesFile, knownRefsFile, statCacheFile } from '../../layout.ts';
import { unmergedCommits } from '../../lifecycle/unsaved-work.ts';
import { reportProgress } from '../../process/progress.ts';
import type { Repository } from '../../repository/repository.ts';
import { type LockedSession, retryAfterChange, withSessionLock } from '../../session/lock.ts';
import { begin, complete } from '../../session/operation.ts';
import { isAttached, listRecords } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { isEnded } from '../../session/state.ts';
import { type Chain, planSession, type RetentionRequest, type SessionPlan } from './plan.ts';
import { LONGEST_WAIT_MS } from './prune.ts';
import { forgetReflog, rewriteChain } from './rewrite.ts';

export interface SessionOutcome {
  readonly plan: SessionPlan;
  readonly work?: WorkBranch | undefined;
}

interface WorkBranch {
  readonly ref: string;
  readonly commit: string;
  /** As an ordinary branch. */
  readonly stays: boolean;
}

/** Waits for sessions that are in use. If one session fails, it continues with the next. */
export async function applyRetention(repository: Repository, request: RetentionRequest) {
  const outcomes: SessionOutcome[] = [];
  const failures: { readonly id: string; readonly error: unknown }[] = [];
  // agt takes no lock for the other sessions, so it does not matter if they are in use.
  const affected = listRecords(repository).records.filter(
    (record) => isEnded(record) || isAttached(record) || (request.thin && isActive(record)),
  );
  for (const [i, { session_id: id }] of affected.entries()) {
    reportProgress('shortening histories', i, affected.length);
    try {
      const apply = async (session: LockedSession) => {
        const record = session.read();
        return record === undefined ? undefined : applyRetentionToSession(session.with(record), request);
      };
      const outcome = await withSessionLock({ repository, id }, apply, { waitMs: LONGEST_WAIT_MS });
      if (outcome !== undefined) outcomes.push(outcome);
    } catch (error) {
      failures.push({ id, error });
    }
  }
  return { outcomes, failures };
}

/** Undefined if there is nothing to do. */
export async function applyRetentionToSession(
  session: LockedSession,
  request: RetentionRequest,
): Promise<SessionOutcome | undefined> {
  const plan = await retryAfterChange(() => planSession(session, request));
  if (plan === undefined) {
    // A gc that was killed may have left the reflog.
    if (request.thin && isActive(session.record)) await forgetReflog(session);
    return undefined;
  }
  if (plan.refused !== undefined) return { plan };
  if (plan.action === 'drop') return { plan, work: await dropHistory(session, plan.chain) };
  await rewriteChain(session, plan.chain, plan.kept);
  return { plan };
}

/** If agt is killed, the next `agt gc` reads the intent and finishes. */
async function dropHistory(session: LockedSession, chain: Chain): Promise<WorkBranch | undefined> {
  const { git, id } = session;
  const record = begin(session, { operation: 'drop' });
  const work = await workOf(session.with(record));
  const deletesWork = work?.stays === false;
  // They keep the user's work of the begin, the work that landed, and what was seen in agt review.
  const beside = [takenRef(id), landedRef(id), reviewRef(id)];
  const found = await findObjects(git, beside);
  const refs: (readonly [ref: string, commit: string | undefined])[] = [
    ...beside.map((ref, i) => [ref, found[i]?.oid] as const),
    [tipRef(id), chain.tip],
    [record.branch, chain.branch],
    [record.work_branch, deletesWork ? work.commit : undefined],
  ];
  const deletions = refs.flatMap(([ref, commit]) => (commit === undefined ? [] : `delete ${ref} ${commit}`));
  failurePoint('gc: dropping');
  await updateRefs(git, deletions);
  if (deletesWork) await dropBranchSettings(git, record.work_branch);
  failurePoint('gc: refs deleted');
  complete(session.with(record), 'drop');
  return work;
}

/** The branch stays if a worktree has it checked out, or the user lacks its work, in this form and any other. */
export async function workOf(session: Session): Promise<WorkBranch | undefined> {
  const { work_branch: ref } = session.record;
  const commit = await resolveObject(session.git, `${ref}^{commit}`);
  if (commit === undefined) return undefined;
  const worktrees = await listWorktrees(session.git);
  const isUsed = worktrees.some(({ branch }) => branch === ref);
  return { ref, commit, stays: isUsed || (await unmergedCommits(session, commit)) > 0 };
}

/** Bytes for the locks, refs and metadata that a cleaning writes before it frees anything. */
const NEEDED = 128 * 1024;

/** If the disk is full, agt deletes its caches: they cost time, and no data. @throws AgtError if that is too little */
export function makeRoom({ agtDir }: Repository): void {
  if (hasRoom(agtDir)) return;
  const caches = [dirname(statCacheFile(agtDir, 'any')), dirname(knownRefsFile(agtDir, 'any'))];
  for (const path of [...caches, knownMergesFile(agtDir)]) rmSync(path, { recursive: true, force: true });
  if (hasRoom(agtDir)) return;
  throw new AgtError(`the disk of ${agtDir} is full, and nothing was cleaned up`, {
    hints: [`free ${NEEDED / 1024} KiB on it, for example by moving one file away; then run agt gc again`],
  });
}

function hasRoom(agtDir: string): boolean {
  const probe = join(agtDir, `.agt-${process.pid}.tmp`);
  try {
    mkdirSync(agtDir, { recursive: true });
    writeFileSync(probe, Buffer.alloc(NEEDED));
    return true;
  } catch (error) {
    if (['ENOSPC', 'EDQUOT'].includes(errorCode(error))) return false;
    throw error;
  } finally {
    rmSync(probe, { force: true });
  }
}
