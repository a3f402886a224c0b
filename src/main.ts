/**
 * Starts git mode or agt mode, by the name that the program was called with, and prints the error that ends it. The
 * bundle of this file contains git mode only; agt mode is a bundle of its own (src/process/load-agtmode.ts).
 */
import { exitCodeFor, formatError } from './errors.ts';
import { runGitMode } from './gitmode/main.ts';
import { programArguments, programName } from './process/invocation.ts';
import { loadAgtMode } from './process/load-agtmode.ts';

async function main(): Promise<number> {
  const args = programArguments();
  return /^git(\.exe)?$/i.test(programName()) ? runGitMode(args) : loadAgtMode()(args);
}

function fail(error: unknown): void {
  process.stderr.write(formatError(error, Boolean(process.env['AGT_DEBUG'])));
  process.exitCode = exitCodeFor(error);
}

// Errors that no call waits for, such as a failed start of git without free file descriptors.
process.on('uncaughtException', (error) => {
  fail(error);
  process.exit();
});

// If main waits for something that never comes, Node runs out of events and exits with 0.
const unfinished = () => fail(new Error('agt ended before the command was done'));
process.once('beforeExit', unfinished);

main()
  .then((exitCode) => {
    process.exitCode = exitCode;
  }, fail)
  .finally(() => process.off('beforeExit', unfinished));
