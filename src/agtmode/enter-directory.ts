import { AgtError, EXIT, systemReason } from '../errors.ts';

/** Returns the current directory. `directory`: the one of `-C`, to change to first. */
export function enterDirectory(directory: string | undefined): string {
  try {
    if (directory !== undefined) process.chdir(directory);
    return process.cwd();
  } catch (error) {
    const what = directory === undefined ? 'read the current directory' : `change to "${directory}"`;
    throw new AgtError(`cannot ${what}: ${systemReason(error)}`, { exitCode: EXIT.git, cause: error });
  }
}
