/** `agt gc`: what the plans say, session by session, each under its lock and planned anew there; then the disk. */
import { AgtError, EXIT } from '../../errors.ts';
import type { Repository } from '../../repository/repository.ts';
import { withSessionLock } from '../../session/lock.ts';
import { listRecords, readRecord, type SessionRecord } from '../../session/record.ts';
import { patiently } from '../../session/wait.ts';
import { dropHistory } from './drop.ts';
import { obstacle, planSession, type RetentionRequest, type SessionPlan } from './plan.ts';
import { PATIENCE_MS } from './quiet.ts';
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
      if (!mayConcern(listed, request)) continue;
      const outcome = await patiently(PATIENCE_MS, () =>
        withSessionLock(repository, id, async () => {
          const record = readRecord(repository, id);
          return record === undefined ? undefined : applyToSession(repository, record, request);
        }),
      );
      if (outcome !== undefined) outcomes.push(outcome);
    } catch (error) {
      failures.push({ id, error });
    }
  }
  return { outcomes, failures };
}

/** Sessions that are at work are left alone where nothing is asked of them. */
function mayConcern({ state }: SessionRecord, { thin }: RetentionRequest): boolean {
  return state === 'removed' || (thin && state === 'active');
}

/** For those who hold the session's lock. */
export async function applyToSession(
  repository: Repository,
  record: SessionRecord,
  request: RetentionRequest,
): Promise<SessionOutcome | undefined> {
  const plan = await planSession(repository, record, request);
  if (plan === undefined) {
    if (request.thin && record.state === 'active') await forgetReflog(repository.git, record);
    return undefined;
  }
  const refused = await obstacle(repository, plan);
  if (refused !== undefined) return { plan, refused };
  if (plan.action === 'drop') return { plan, workBranch: await dropHistory(repository, record, plan.chain) };
  await rewriteChain(repository, record, plan.chain, plan.kept);
  return { plan };
}

/** The exit code that a list of failures comes to: busy only where nothing worse happened. */
export function worstExitCode(failures: readonly Failure[]): number {
  const codes = failures.map(({ error }) => (error instanceof AgtError ? error.exitCode : EXIT.failed));
  return codes.find((code) => code !== EXIT.busy) ?? codes[0] ?? EXIT.done;
}
