import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { AgtError, EXIT, errorCode, systemReason } from '../errors.ts';
import { deletedFolder } from '../folders/store.ts';
import { shellQuote } from '../git/run/trace.ts';
import { noteUserDirectory } from '../process/invocation.ts';
import { bringBack } from '../session/advised-commands.ts';

/** Returns the current directory. `directory`: the one of `-C`, to change to first. */
export function enterDirectory(directory: string | undefined): string {
  try {
    noteUserDirectory(process.cwd());
  } catch (error) {
    if (directory === undefined) throw cannot('read the current directory', error, hintsOutside());
    noteUserDirectory(''); // the shell is in a directory that somebody has deleted
  }
  if (directory === undefined) return process.cwd();
  try {
    process.chdir(directory);
    return process.cwd();
  } catch (error) {
    const isGone = errorCode(error) === 'ENOENT';
    const folder = isGone ? deletedFolder({ env: process.env }, directory) : undefined;
    const hint = folder && `it has snapshots; to bring it back: ${bringBack(folder)}`;
    throw cannot(`change to "${directory}"`, error, hint === undefined ? [] : [hint]);
  }
}

/** The shell knows where it was before somebody deleted the directory. */
function hintsOutside(): string[] {
  let place = process.env['PWD'] ?? '/';
  while (isAbsolute(place) && !existsSync(place)) place = dirname(place);
  if (!isAbsolute(place)) return [];
  return [`somebody has deleted it; change to one that is there: cd ${shellQuote(place)}`];
}

function cannot(what: string, error: unknown, hints: string[]): AgtError {
  return new AgtError(`cannot ${what}: ${systemReason(error)}`, { exitCode: EXIT.git, hints, cause: error });
}
