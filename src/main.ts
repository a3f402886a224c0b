/**
 * Chooses the face by the name that the program was called with, and prints the one error that ends it.
 * The bundle of this file holds git mode and nothing of agt mode, which is a file of its own (src/process/load-agtmode.ts).
 */
import { EXIT, formatError, isAgtError } from './errors.ts';
import { runGitMode } from './gitmode/main.ts';
import { programArguments, programName } from './process/invocation.ts';
import { loadAgtMode } from './process/load-agtmode.ts';

async function main(): Promise<number> {
  const args = programArguments();
  return /^git(\.exe)?$/i.test(programName()) ? runGitMode(args) : loadAgtMode()(args);
}

function fail(error: unknown): void {
  process.stderr.write(formatError(error, Boolean(process.env['AGT_DEBUG'])));
  process.exitCode = isAgtError(error) ? error.exitCode : EXIT.failed;
}

// What no call waits for, such as a git for which there are no file descriptors left.
process.on('uncaughtException', (error) => {
  fail(error);
  process.exit();
});

// Where nothing is left to wait for, Node ends with 0, whatever main was in the middle of.
const unfinished = () => fail(new Error('ended before it was done'));
process.once('beforeExit', unfinished);

main()
  .then((exitCode) => {
    process.exitCode = exitCode;
  }, fail)
  .finally(() => process.off('beforeExit', unfinished));
