/** `mkdir -p`. Node's own never ends where the parent exists and yet the system says ENOENT, as in /proc. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgtError, errorCode, systemReason } from '../errors.ts';

/** Another process may remove an empty parent at the same time. */
const ATTEMPTS = 3;

/** `path` is absolute. @throws AgtError */
export function makeDirectories(path: string, attempts = ATTEMPTS): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectories(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && isDirectory(path)) return;
    if (errorCode(error) === 'ENOENT' && attempts > 1) makeDirectories(path, attempts - 1);
    else
      throw new AgtError(`cannot create the directory "${path}": ${systemReason(error)}`, { cause: error });
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
