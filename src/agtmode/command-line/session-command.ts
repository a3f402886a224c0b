/**
 * Commands on one session: the first argument or --session names it. Without both it is the session of the current
 * directory.
 */

import type { InferredOptionTypes } from 'yargs';
import { usageError } from '../../errors.ts';
import { findSession } from '../../session/find-session.ts';
import { Session } from '../../session/session.ts';
import type { Context } from '../context.ts';
import { sessionHere } from '../session-here.ts';
import {
  type Answer,
  type Command,
  type CommandDeclaration,
  defineCommand,
  type OptionTable,
  type PositionalTable,
  withValue,
} from './command.ts';

export const SESSION_ARGUMENT = withValue('session id (default: the session of the current directory)');
export const SESSION_OPTION = withValue('session id, in place of the argument');

interface SessionCommand<O extends OptionTable, T>
  extends Omit<CommandDeclaration<O, PositionalTable>, 'usage' | 'positionals' | 'run'> {
  /** The words that call the command. */
  readonly name: string;
  /** The session may also be the snapshots of a folder. */
  readonly alsoFolders?: true;
  /** Refuses what is wrong before agt looks for the session. `run` gets the result. */
  readonly check?: (args: InferredOptionTypes<O>, context: Context) => T;
  readonly run: (
    args: InferredOptionTypes<O>,
    context: Context,
    session: Session,
    checked: T,
  ) => Promise<Answer>;
}

export function defineSessionCommand<const O extends OptionTable, T = undefined>({
  name,
  alsoFolders,
  check,
  run,
  ...declaration
}: SessionCommand<O, T>): Command {
  return defineCommand({
    ...declaration,
    usage: `${name} [id]`,
    positionals: { id: SESSION_ARGUMENT },
    options: { session: SESSION_OPTION, ...declaration.options },
    run: async (args, context) => {
      const own = args as never;
      const checked = check?.(own, context) as T;
      const session = await (alsoFolders === true
        ? sessionHere(context, givenSession(args))
        : sessionInRepository(context, args));
      return run(own, context, session, checked);
    },
  });
}

interface GivenSession {
  readonly id?: string | undefined;
  readonly session?: string | undefined;
}

/** A session of the repository here. */
export async function sessionInRepository(context: Context, given: GivenSession): Promise<Session> {
  const repository = await context.repository();
  return new Session(repository, findSession(repository, givenSession(given), context.cwd));
}

export function givenSession({ id, session }: GivenSession): string | undefined {
  if (id !== undefined && session !== undefined && id !== session)
    throw usageError(`two sessions are given: "${id}" and "${session}"`, 'give one');
  return id ?? session;
}
