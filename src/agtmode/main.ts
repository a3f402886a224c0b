/** agt mode: agt's own commands by yargs, everything else by the real git, unfiltered. */
import { resolve } from 'node:path';
import { AgtError, EXIT, systemReason, usageError } from '../errors.ts';
import { becomeGit } from '../git/run/become.ts';
import { parseWithoutYargs } from './command-line/parse-without-yargs.ts';
import { COMMANDS } from './commands/index.ts';
import { type Context, openContext } from './context.ts';
import { commandWords, overview } from './output/overview.ts';

declare const AGT_VERSION: string;

export async function runAgtMode(args: string[]): Promise<number> {
  const { directory, rest } = takeDirectory(args);
  const context = openContext(enter(directory), process.env);
  const [word] = rest;
  const own = commandWords(COMMANDS);
  if (word === undefined || ((word === 'help' || word === '--help' || word === '-h') && rest.length === 1)) {
    context.out(overview(COMMANDS));
    return word === undefined ? EXIT.usage : EXIT.done;
  }
  if (word === '--version' || word === '-v') {
    context.out(`agt ${AGT_VERSION}\n`);
    return EXIT.done;
  }
  if (word === 'help')
    return own.has(rest[1] ?? '') ? parse([...rest.slice(1), '--help'], context) : becomeReal(context, rest);
  if (word === 'git') return becomeReal(context, rest.slice(1));
  const asked = own.has(word) || word === 'completion' || word === '--get-yargs-completions';
  return asked ? parse(rest, context) : becomeReal(context, rest);
}

async function parse(args: string[], context: Context): Promise<number> {
  const plain = parseWithoutYargs(COMMANDS, args);
  if (plain !== undefined) return plain.command.run(plain.args as never, context);
  const { makeParser } = await import('./command-line/parser.ts');
  const outcome = { exitCode: 0 };
  const parser = makeParser(COMMANDS, context, outcome);
  if (args[0] === 'completion') parser.showCompletionScript();
  else await parser.parseAsync(args);
  return outcome.exitCode;
}

function becomeReal(context: Context, args: string[]): Promise<number> {
  return becomeGit(context.gitPath(), args);
}

/** git's `-C <path>`, as often as git allows it. */
function takeDirectory(args: string[]): { directory: string | undefined; rest: string[] } {
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

function enter(directory: string | undefined): string {
  try {
    if (directory !== undefined) process.chdir(directory);
    return process.cwd();
  } catch (error) {
    const what = directory === undefined ? 'read the current directory' : `change to "${directory}"`;
    throw new AgtError(`cannot ${what}: ${systemReason(error)}`, { exitCode: EXIT.git, cause: error });
  }
}
