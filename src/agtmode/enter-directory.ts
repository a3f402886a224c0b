import { existsSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { readArea } from '../config/local-config.ts';
import { AgtError, attempt, EXIT, errorCode, systemReason } from '../errors.ts';
import { birthOf } from '../folders/moved.ts';
import { deletedFolder } from '../folders/store.ts';
import { noteUserDirectory, userDirectory } from '../process/invocation.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { repositoryAround } from '../repository/find-repository.ts';
import { bringBack } from '../session/advised-commands.ts';

let birthOfOwn: string | undefined;
/** The function of `agt shell-init` leaves a directory that is gone. */
let isFollowed = false;

export const FOLLOWED = 'AGT_SHELL_FOLLOWS';

/** Returns the current directory. `directory`: the one of `-C`, to change to first. */
export function enterDirectory(directory: string | undefined): string {
  isFollowed = process.env[FOLLOWED] !== undefined;
  delete process.env[FOLLOWED]; // it holds for this agt alone
  try {
    noteUserDirectory(process.cwd());
    birthOfOwn = birthOf('.');
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

/** The shell knows where it was before somebody deleted the directory; Linux does if a shell began there, which empties PWD. */
function hintsOutside(): string[] {
  const link = attempt(() => readlinkSync('/proc/self/cwd').replace(/ \(deleted\)$/, ''));
  const place = placeOutside(process.env['PWD'] || (link ?? ''));
  if (!isAbsolute(place)) return [];
  return [`it is gone; change to one that is there: cd ${shellQuote(place)}`];
}

/** Where to go from a directory that is gone: the nearest one above, but from a sandbox that is gone to the repository. */
export function placeOutside(gone: string): string {
  const place = nearest(gone);
  const isLost = /\/sessions\/[^/]/.test(gone) && !/\/sessions\/[^/]+\/./.test(place);
  const commonDir = isLost ? repositoryAround(gone) : undefined;
  return commonDir === undefined ? place : nearest(readArea(commonDir) ?? dirname(commonDir));
}

function nearest(place: string): string {
  return isAbsolute(place) && !existsSync(place) ? nearest(dirname(place)) : place;
}

/** A command may have deleted the directory that the user's shell is in, or made it anew. */
export function hintOutside(): string {
  const directory = userDirectory();
  const birth = attempt(() => birthOf(directory));
  if (directory === '' || birth === birthOfOwn || (isFollowed && birth === undefined)) return '';
  const [change, place] =
    birth === undefined ? ['gone', placeOutside(directory)] : ['another one', directory];
  return `hint: the directory that you are in is ${change} now: cd ${shellQuote(place)}\n`;
}

function cannot(what: string, error: unknown, hints: string[]): AgtError {
  return new AgtError(`cannot ${what}: ${systemReason(error)}`, { exitCode: EXIT.git, hints, cause: error });
}
