/**
 * Looks at paths of which nothing is known, as a shell or git does: what cannot be reached is not there, and what is no
 * regular file is not opened. To open a named pipe would mean to wait for a writer, for ever.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';

/** Undefined for a path that cannot be reached: missing, in a directory without permission, a loop of links. */
export function statOrUndefined(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** @throws Error if the file cannot be opened, or is not a regular file. */
export function readRegularFile(path: string): Buffer {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) throw new Error(`${path} is not a regular file`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
