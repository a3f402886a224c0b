import { isActive } from '../../filter/session-file.ts';
import type { Repository } from '../../repository/repository.ts';
import { type LockedSession, withSessionLock } from '../../session/lock.ts';
import { isAttached, listRecords, type SessionRecord } from '../../session/record.ts';
import { retryAfterChange, retryWhileBusy } from '../../session/retry.ts';
import { isEnded } from '../../session/state.ts';
import { dropHistory } from './drop.ts';
import { LONGEST_WAIT_MS } from './idle-sessions.ts';
import { planSession, type RetentionRequest, reasonToSkip, type SessionPlan } from './plan.ts';
import { forgetReflog, rewriteChain } from './rewrite.ts';

export interface SessionOutcome {
  readonly plan: SessionPlan;
  /** The work branch, if it stays as an ordinary branch. */
  readonly workBranch?: string | undefined;
  /** Why agt did nothing. */
  readonly refused?: string | undefined;
}

export interface Failure {
  readonly id: string;
  readonly error: unknown;
}

interface RetentionOutcome {
  readonly outcomes: readonly SessionOutcome[];
  readonly failures: readonly Failure[];
}

/** Waits for sessions that are in use. If one session fails, it continues with the next. */
export async function applyRetention(
  repository: Repository,
  request: RetentionRequest,
): Promise<RetentionOutcome> {
  const outcomes: SessionOutcome[] = [];
  const failures: Failure[] = [];
  for (const listed of listRecords(repository).records) {
    const id = listed.session_id;
    try {
      if (!isAffected(listed, request)) continue;
      const outcome = await retryWhileBusy(LONGEST_WAIT_MS, () =>
        withSessionLock(repository, id, async (session) => {
          const record = session.read();
          return record === undefined ? undefined : applyRetentionToSession(session, record, request);
        }),
      );
      if (outcome !== undefined) outcomes.push(outcome);
    } catch (error) {
      failures.push({ id, error });
    }
  }
  return { outcomes, failures };
}

/** agt takes no lock for the other sessions, so it does not matter if they are in use. */
function isAffected(record: SessionRecord, { thin }: RetentionRequest): boolean {
  return isEnded(record) || isAttached(record) || (thin && isActive(record));
}

/** Undefined if there is nothing to do. */
export async function applyRetentionToSession(
  session: LockedSession,
  record: SessionRecord,
  request: RetentionRequest,
): Promise<SessionOutcome | undefined> {
  const { repository } = session;
  const plan = await retryAfterChange(() => planSession(repository, record, request));
  if (plan === undefined) {
    // A gc that was killed may have left the reflog.
    if (request.thin && isActive(record)) await forgetReflog(session, record);
    return undefined;
  }
  const refused = await reasonToSkip(repository, plan);
  if (refused !== undefined) return { plan, refused };
  if (plan.action === 'drop') return { plan, workBranch: await dropHistory(session, record, plan.chain) };
  await rewriteChain(session, record, plan.chain, plan.kept);
  return { plan };
}
