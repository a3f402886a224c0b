/**
 * Marks a session in which agt could not record a step: the next complete autocommit makes it active again. Or one in
 * which a turn of the agent failed: it is active again when the agent goes on.
 */

import { isActive } from '../filter/session-file.ts';
import type { Repository } from '../repository/repository.ts';
import { isBusy, withSessionLock } from '../session/lock.ts';
import { inState } from '../session/operation.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';

/** Never throws: on a full disk agt cannot write this down either, and its caller reports the first error. */
export async function markFailed({ repository, id }: Session, error: unknown, now: Date): Promise<void> {
  if (isBusy(error)) return;
  const reason = error instanceof Error ? error.message : String(error);
  await writeFailure(repository, id, { now, reason }).catch(() => {}); // the disk is full, or the metadata are damaged
}

/** The agent has failed. Only its going on makes the session active again. @throws AgtError if agt cannot write that. */
export async function failAgent({ repository, id }: Session, reason: string, now: Date): Promise<void> {
  await writeFailure(repository, id, { now, reason }, { failed_turn: true });
}

function writeFailure(
  repository: Repository,
  id: SessionRecord['session_id'],
  failure: { now: Date; reason: string },
  by: Pick<SessionRecord, 'failed_turn'> = {},
): Promise<void> {
  return withSessionLock({ repository, id }, async (session) => {
    const record = session.read();
    if (record !== undefined && isActive(record))
      session.write({ ...inState(record, 'failed', failure), ...by });
  });
}
