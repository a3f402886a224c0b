/** `agt gc`: what the plans say, session by session, each under its lock and planned anew there; then the disk. */
import { AgtError, EXIT } from '../../errors.ts';
import type { Repository } from '../../repository/repository.ts';
import { type LockedSession, withSessionLock } from '../../session/lock.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import { retryWhileBusy } from '../../session/retry.ts';
import { isActive, isRemoved } from '../../session/state.ts';
import { dropHistory } from './drop.ts';
import { LONGEST_WAIT_MS } from './idle-sessions.ts';
import { planSession, type RetentionRequest, reasonToSkip, type SessionPlan } from './plan.ts';
import { forgetReflog, rewriteChain } from './rewrite.ts';

export interface SessionOutcome {
  readonly plan: SessionPlan;
  /** The work branch that stays as an ordinary branch. */
  readonly workBranch?: string | undefined;
  /** Why nothing was done. */
  readonly refused?: string | undefined;
}

export interface Failure {
  readonly id: string;
  readonly error: unknown;
}

export interface RetentionOutcome {
  readonly outcomes: readonly SessionOutcome[];
  readonly failures: readonly Failure[];
}

/** Waits for sessions that are busy, and goes on past one that fails. */
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

/** Sessions that the request does not concern need no lock, so a busy one is no failure. */
function isAffected(record: SessionRecord, { thin }: RetentionRequest): boolean {
  return isRemoved(record) || (thin && isActive(record));
}

export async function applyRetentionToSession(
  session: LockedSession,
  record: SessionRecord,
  request: RetentionRequest,
): Promise<SessionOutcome | undefined> {
  const { repository } = session;
  const plan = await planSession(repository, record, request);
  if (plan === undefined) {
    if (request.thin && isActive(record)) await forgetReflog(repository.git, record);
    return undefined;
  }
  const refused = await reasonToSkip(repository, plan);
  if (refused !== undefined) return { plan, refused };
  if (plan.action === 'drop') return { plan, workBranch: await dropHistory(session, record, plan.chain) };
  await rewriteChain(session, record, plan.chain, plan.kept);
  return { plan };
}

/** The exit code that a list of failures comes to: busy only where nothing worse happened. */
export function worstExitCode(failures: readonly Failure[]): number {
  const codes = failures.map(({ error }) => (error instanceof AgtError ? error.exitCode : EXIT.failed));
  return codes.find((code) => code !== EXIT.busy) ?? codes[0] ?? EXIT.done;
}
