/** agt mode: agt's own commands by yargs, everything else by the real git, unfiltered. */
import { resolve } from 'node:path';
import { AgtError, EXIT, systemReason, usageError } from '../errors.ts';
import { becomeGit } from '../git/run/become.ts';
import { plainArguments } from './command-line/plain-arguments.ts';
import { COMMANDS } from './commands/index.ts';
import { overview, ownWords } from './output/overview.ts';
import { makeProgram, type Program } from './program.ts';

declare const AGT_VERSION: string;

export async function runAgtMode(args: string[]): Promise<number> {
  const { directory, rest } = takeDirectory(args);
  const program = makeProgram(enter(directory), process.env);
  const [word] = rest;
  const own = ownWords(COMMANDS);
  if (word === undefined || ((word === 'help' || word === '--help' || word === '-h') && rest.length === 1)) {
    program.out(overview(COMMANDS));
    return word === undefined ? EXIT.usage : EXIT.done;
  }
  if (word === '--version' || word === '-v') {
    program.out(`agt ${AGT_VERSION}\n`);
    return EXIT.done;
  }
  if (word === 'help')
    return own.has(rest[1] ?? '') ? parse([...rest.slice(1), '--help'], program) : becomeReal(program, rest);
  if (word === 'git') return becomeReal(program, rest.slice(1));
  const asked = own.has(word) || word === 'completion' || word === '--get-yargs-completions';
  return asked ? parse(rest, program) : becomeReal(program, rest);
}

async function parse(args: string[], program: Program): Promise<number> {
  const plain = plainArguments(COMMANDS, args);
  if (plain !== undefined) return plain.command.run(plain.args as never, program);
  const { makeParser } = await import('./command-line/cli.ts');
  const outcome = { exitCode: 0 };
  const parser = makeParser(COMMANDS, program, outcome);
  if (args[0] === 'completion') parser.showCompletionScript();
  else await parser.parseAsync(args);
  return outcome.exitCode;
}

function becomeReal(program: Program, args: string[]): Promise<number> {
  return becomeGit(program.gitPath(), args);
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
