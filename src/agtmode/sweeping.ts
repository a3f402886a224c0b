/** The sweep of abandoned sessions by `session new` and `autocommit --all`: one line for each, to standard error. */
import { formatError } from '../errors.ts';
import type { Repository } from '../repository/repository.ts';
import { type Swept, sweep } from '../running/sweep.ts';
import type { Context } from './context.ts';

export async function sweepFirst(context: Context, repository: Repository): Promise<void> {
  for (const swept of await sweep(repository, context.now())) context.err(sweptLine(swept));
}

export function sweptLine({ record, reason, error }: Swept): string {
  const id = record.session_id;
  if (error === undefined) return `${id}: reverted, because ${reason}; bring it back: agt undo ${id}\n`;
  return `warning: ${id}: not reverted, although ${reason}\n${formatError(error, false)}`;
}
