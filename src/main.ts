/**
 * Chooses git mode or agt mode by the name that the program was called with, and prints the one error that ends it.
 * The bundle of this file holds git mode; agt mode is in files of their own (src/process/load-agtmode.ts).
 */
import { exitCodeFor, formatError, isAgtError } from './errors.ts';
import { runGitMode } from './gitmode/main.ts';
import { asksForOwnVersion, printOwnVersion, programArguments, programName } from './process/invocation.ts';
import { runAgtMode } from './process/load-agtmode.ts';

async function main(): Promise<number> {
  const args = programArguments();
  const isGit = /^git(\.exe)?$/i.test(programName());
  if (asksForOwnVersion(isGit, args, process.env)) return printOwnVersion();
  return isGit ? runGitMode(args) : runAgtMode(args);
}

function fail(error: unknown): void {
  if (!(isAgtError(error) && error.isTold))
    process.stderr.write(formatError(error, Boolean(process.env['AGT_DEBUG'])));
  process.exitCode = exitCodeFor(error);
}

// An error that no call waits for, such as that of a git for which there were no file descriptors.
process.on('uncaughtException', (error) => {
  fail(error);
  process.exit();
});

// When Node has nothing left to wait for, it exits with 0, even if main() has not finished.
const unfinished = () => fail(new Error('agt stopped before the command was finished'));
process.once('beforeExit', unfinished);

export const finished = main()
  .then((exitCode) => {
    process.exitCode = exitCode;
  }, fail)
  .finally(() => process.off('beforeExit', unfinished));
