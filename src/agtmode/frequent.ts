/** A bundle for the commands that agents and cron call all the time: it starts sooner (scripts/bundle.ts). */
import { isStartedByGuard } from '../process/invocation.ts';
import { isHelp } from './command-line/command.ts';
import { parseWithoutYargs, withNewNames } from './command-line/parse-without-yargs.ts';
import { runCommand } from './command-line/run-command.ts';
import { autocommit } from './commands/autocommit.ts';
import { openContext } from './context.ts';
import { enterDirectory } from './enter-directory.ts';
import { answerHook } from './hooks/answer.ts';

/** Undefined for a command line that only the other bundle understands. */
export async function runAgtMode(args: string[]): Promise<number | undefined> {
  const [word, tool] = args;
  if (word === 'hook' && tool !== undefined && !isHelp(tool)) return answerHook(args.slice(1));
  const commands = [autocommit];
  const parsed = parseWithoutYargs(commands, withNewNames(commands, args));
  if (parsed === undefined) return undefined;
  const context = openContext(enterDirectory(undefined), process.env, isStartedByGuard(process.env));
  return runCommand(parsed.command, parsed.args, context);
}
