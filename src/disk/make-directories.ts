/** `mkdir -p`. Node's own never ends where the parent exists and yet the system says ENOENT, as in /proc. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgtError, errorCode, systemReason } from '../errors.ts';
import { statOrUndefined } from './read-file.ts';

/** Another process may remove an empty parent at the same time. */
const ATTEMPTS = 3;

/** `path` is absolute. @throws AgtError */
export function makeDirectories(path: string): void {
  try {
    tryToMakeDirectories(path);
  } catch (error) {
    const { path: refused = path } = error as NodeJS.ErrnoException;
    throw new AgtError(`cannot create the directory "${refused}": ${systemReason(error)}`, { cause: error });
  }
}

/** `path` is absolute. @throws the system's error */
export function tryToMakeDirectories(path: string, mode = 0o777, attempts = ATTEMPTS): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) tryToMakeDirectories(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && isDirectory(path)) return;
    if (errorCode(error) !== 'ENOENT' || attempts === 1) throw error;
    tryToMakeDirectories(path, mode, attempts - 1);
  }
}

function isDirectory(path: string): boolean {
  return statOrUndefined(path)?.isDirectory() === true;
}
