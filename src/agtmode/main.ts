/**
 * agt mode: runs the commands of agt, and leaves every other command to the real git, which hides nothing. The guard is
 * as in git mode.
 */
import { basename, resolve } from 'node:path';
import { AgtError, EXIT, systemReason, usageError } from '../errors.ts';
import { becomeGit } from '../git/run/become.ts';
import { guardWords } from '../gitmode/guard/guard.ts';
import { isStartedByGuard } from '../process/started-by-guard.ts';
import { commandName } from './command-line/command.ts';
import { withNewNames } from './command-line/old-options.ts';
import { parseWithoutYargs } from './command-line/parse-without-yargs.ts';
import { COMMANDS } from './commands/index.ts';
import { type Context, openContext } from './context.ts';
import { overview } from './output/overview.ts';

declare const AGT_VERSION: string;

/** Commands by which settings are mended: like the guard, they go on with defaults in place of what agt cannot use. */
const MENDING = ['doctor', 'config set', 'config unset'];

/** First words of commands that agt runs itself. */
const OWN_WORDS = new Set(COMMANDS.map((command) => commandName(command).split(' ')[0] ?? ''));

/** Commands on sessions that may be called without the word `session`. git has none of these names. */
const SHORT_FORMS = new Set(['new', 'list', 'fork', 'run', 'remove', 'undo', 'redo']);

export async function runAgtMode(args: string[]): Promise<number> {
  const { directory, rest: given } = takeDirectoryOptions(args);
  const rest = SHORT_FORMS.has(given[0] ?? '') ? ['session', ...given] : given;
  const [word, ...others] = rest;
  const tolerant =
    isStartedByGuard(process.env) ||
    MENDING.some((name) => `${rest.slice(0, 2).join(' ')} `.startsWith(`${name} `));
  const context = openContext(enterDirectory(directory), process.env, tolerant);
  if (word === undefined) {
    context.out(overview(COMMANDS));
    return EXIT.usage;
  }
  if (['help', '--help', '-h'].includes(word) && others.length === 0) {
    context.out(overview(COMMANDS));
    return EXIT.done;
  }
  if (word === '--version' || word === '-v') {
    context.out(`agt ${AGT_VERSION}\n`);
    return EXIT.done;
  }
  if (word === 'help' && SHORT_FORMS.has(others[0] ?? ''))
    return runOwnCommand(['session', ...others, '--help'], context);
  if (word === 'help' && OWN_WORDS.has(others[0] ?? '')) return runOwnCommand([...others, '--help'], context);
  if (word === 'completion') return printCompletionScript(others);
  if (OWN_WORDS.has(word) || word === '--get-yargs-completions') return runOwnCommand(rest, context);
  const words = word === 'git' ? others : rest;
  guardWords(words, context.gitPath(), process.env);
  return becomeGit(context.gitPath(), words);
}

async function runOwnCommand(given: string[], context: Context): Promise<number> {
  const words = withNewNames(COMMANDS, given);
  const parsed = parseWithoutYargs(COMMANDS, words);
  if (parsed !== undefined) return parsed.command.run(parsed.args as never, context);
  const { runWithYargs } = await import('./command-line/parser.ts');
  return runWithYargs(COMMANDS, context, words);
}

/** yargs writes the script for zsh if SHELL is zsh, else the one for bash. */
async function printCompletionScript([shell = process.env['SHELL'] ?? '']: string[]): Promise<number> {
  const name = basename(shell);
  if (!['bash', 'zsh', 'sh', ''].includes(name)) {
    throw usageError(`no completion for the shell "${shell}"`, 'choose one: agt completion bash|zsh');
  }
  process.env['SHELL'] = name;
  if (name !== 'zsh') delete process.env['ZSH_NAME'];
  const { makeParser } = await import('./command-line/parser.ts');
  makeParser(COMMANDS, async () => undefined).showCompletionScript();
  return EXIT.done;
}

/** `-C <path>`, which may be repeated as in git. */
function takeDirectoryOptions(args: string[]): { directory: string | undefined; rest: string[] } {
  let directory: string | undefined;
  let rest = args;
  while (rest[0] === '-C') {
    if (rest[1] === undefined)
      throw usageError('no directory given for -C', 'usage: agt -C <path> <command>');
    directory = resolve(directory ?? '.', rest[1]);
    rest = rest.slice(2);
  }
  return { directory, rest };
}

function enterDirectory(directory: string | undefined): string {
  try {
    if (directory !== undefined) process.chdir(directory);
    return process.cwd();
  } catch (error) {
    const what = directory === undefined ? 'read the current directory' : `change to "${directory}"`;
    throw new AgtError(`cannot ${what}: ${systemReason(error)}`, { exitCode: EXIT.git, cause: error });
  }
}
