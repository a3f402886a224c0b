/**
 * One grammar for the session of a command: its first argument, or --session. Without both it is the session of the
 * current directory.
 */
import { usageError } from '../../errors.ts';

export const SESSION_ARGUMENT = {
  type: 'string',
  describe: 'session id (default: the session of the current directory)',
} as const;
export const SESSION_OPTION = { type: 'string', describe: 'session id, in place of the argument' } as const;

export function givenSession({
  id,
  session,
}: {
  readonly id: string | undefined;
  readonly session: string | undefined;
}): string | undefined {
  if (id !== undefined && session !== undefined && id !== session)
    throw usageError(`two sessions are given: "${id}" and "${session}"`, 'give one');
  return id ?? session;
}
