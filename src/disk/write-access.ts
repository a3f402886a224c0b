/** Whether agt may write in a directory: another user can own it, and a file system can be read-only. */
import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { attempt, systemReason } from '../errors.ts';

export interface RefusedWrite {
  /** The directory, or the one above it in which agt would have to make it. */
  readonly path: string;
  readonly reason: string;
}

/** Undefined if agt may write in `directory`, or may make it. */
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

/** Also true for a link that leads nowhere. */
function isPresent(path: string): boolean {
  return attempt(() => lstatSync(path)) !== undefined;
}

function nearestPresent(path: string): string {
  const above = dirname(path);
  return above === path || isPresent(path) ? path : nearestPresent(above);
}
