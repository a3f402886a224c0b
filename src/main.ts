/**
 * Chooses the face by the name that the program was called with, and prints the one error that ends it.
 * The bundle of this file holds git mode and nothing of agt mode, which is a file of its own (src/load.ts).
 */
import { EXIT, formatError, isAgtError } from './errors.ts';
import { runGitMode } from './gitmode/main.ts';
import { calledName, programArguments } from './invocation.ts';
import { loadAgtMode } from './load.ts';

async function main(): Promise<number> {
  const args = programArguments();
  return /^git(\.exe)?$/i.test(calledName()) ? runGitMode(args) : loadAgtMode()(args);
}

main().then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(formatError(error, Boolean(process.env['AGT_DEBUG'])));
    process.exitCode = isAgtError(error) ? error.exitCode : EXIT.failed;
  },
);
