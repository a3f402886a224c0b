/** `mkdir -p`. Node's own never ends where the parent exists and yet the system says ENOENT, as in /proc. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../errors.ts';

/** Another process may remove an empty parent at the same time. */
const ATTEMPTS = 3;

/** `path` is absolute. @throws the system's error */
export function makeDirectories(path: string, mode = 0o777, attempts = ATTEMPTS): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectories(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && isDirectory(path)) return;
    if (errorCode(error) !== 'ENOENT' || attempts === 1) throw error;
    makeDirectories(path, mode, attempts - 1);
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
