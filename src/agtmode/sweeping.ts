/** The sweep of abandoned sessions by `session new` and `autocommit --all`: one line for each, to standard error. */
import { formatError } from '../errors.ts';
import { tellFailure } from '../integrations/note-state.ts';
import type { Repository } from '../repository/repository.ts';
import { failAgent } from '../running/marks.ts';
import { isHalfEnded, type Swept, sweep } from '../running/sweep.ts';
import type { Session } from '../session/session.ts';
import type { Context } from './context.ts';

export async function sweepFirst(context: Context, repository: Repository): Promise<void> {
  for (const swept of await sweep(repository, context.now())) context.err(sweptLine(swept));
}

/** Marks a session whose agent has failed, reverts it if agt.autoRevert says so, and tells which. */
export async function reportFailure(context: Context, session: Session, reason: string): Promise<void> {
  const { id } = session;
  await failAgent(session, reason, context.now());
  tellFailure(session, context.env);
  const [swept] = await sweep(session.repository, context.now(), id);
  context.err(swept === undefined ? `${id}: failed, because ${reason}\n` : sweptLine(swept));
}

export function sweptLine({ record, reason, error, hasEnded }: Swept): string {
  const id = record.session_id;
  const trouble = error === undefined ? '' : formatError(error, false);
  if (!hasEnded) return `warning: ${id}: ${reason}; agt could not revert it\n${trouble}`;
  const ended = isHalfEnded(record)
    ? `agt has brought it to its end, because ${reason}`
    : `reverted, because ${reason}; bring it back: agt undo ${id}`;
  return `${id}: ${ended}\n${trouble}`;
}
