import { AgtError, EXIT, systemReason } from '../errors.ts';
import { noteUserDirectory } from '../process/user-directory.ts';

/** Returns the current directory. `directory`: the one of `-C`, to change to first. */
export function enterDirectory(directory: string | undefined): string {
  try {
    noteUserDirectory(process.cwd());
  } catch (error) {
    if (directory === undefined) throw cannot('read the current directory', error);
    noteUserDirectory(''); // the shell is in a directory that somebody has deleted
  }
  if (directory === undefined) return process.cwd();
  try {
    process.chdir(directory);
    return process.cwd();
  } catch (error) {
    throw cannot(`change to "${directory}"`, error);
  }
}

function cannot(what: string, error: unknown): AgtError {
  return new AgtError(`cannot ${what}: ${systemReason(error)}`, { exitCode: EXIT.git, cause: error });
}
