/**
 * Looks at paths of which nothing is known, as a shell or git does: what cannot be reached is not there, and what is no
 * regular file is not opened. To open a named pipe would mean to wait for a writer, for ever.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { attempt } from '../errors.ts';

/** Undefined for a path that cannot be reached: missing, in a directory without permission, a loop of links. */
export function statOrUndefined(path: string): Stats | undefined {
  return attempt(() => statSync(path, { throwIfNoEntry: false }));
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

/** Empty for a file that cannot be read. */
export function readIfThere(path: string): string {
  return attempt(() => readRegularFile(path).toString()) ?? '';
}

/** The text of a small file of git without its final line break, as git's read_oneliner(); undefined if it cannot be read. */
export function readSmallFile(path: string): string | undefined {
  return attempt(() =>
    readRegularFile(path)
      .toString()
      .replace(/\r?\n$/, ''),
  );
}

/** Undefined for a file that is missing or damaged. */
export function readJson(path: string): unknown {
  return attempt(() => JSON.parse(readRegularFile(path).toString()));
}
