/** `mkdir -p`. Node's own never ends where the parent exists and yet the system says ENOENT, as in /proc. */
import { accessSync, constants, lstatSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgtError, errorCode, succeeds, systemReason } from '../errors.ts';
import { isDirectory } from './read-file.ts';

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

/** Its path begins with `prefix`. Another agt may delete the directory above at any moment as long as that is empty. */
export function makeTemporaryDirectory(prefix: string, attempts = MOST_ATTEMPTS): string {
  makeDirectories(dirname(prefix));
  try {
    return mkdtempSync(prefix);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || attempts === 1) throw error;
    return makeTemporaryDirectory(prefix, attempts - 1);
  }
}

const MOST_ATTEMPTS = 200;

export interface RefusedWrite {
  /** The directory, or the one above it in which agt would have to make it. */
  readonly path: string;
  readonly reason: string;
}

/** Another user can own it, and a file system can be read-only. Undefined if agt may write in `directory`, or make it. */
export function refusedWrite(directory: string): RefusedWrite | undefined {
  const path = nearestPresent(directory);
  try {
    if (!statSync(path).isDirectory()) return { path, reason: 'it is no directory' };
    accessSync(path, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return { path, reason: systemReason(error) };
  }
}

/** A link that leads nowhere is present. */
function nearestPresent(path: string): string {
  const above = dirname(path);
  return above === path || succeeds(() => lstatSync(path)) ? path : nearestPresent(above);
}
