/**
 * Looks at paths of which nothing is known, as a shell or git does: what cannot be reached is not there, and what is no
 * regular file is not opened. To open a named pipe would mean to wait for a writer, for ever.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { AgtError, attempt, errorCode } from '../errors.ts';
import type { IsInside } from './is-inside.ts';
import { systemPath } from './long-path.ts';

/** Undefined for a path that cannot be reached: missing, in a directory without permission, a loop of links. */
export function statOrUndefined(path: string): Stats | undefined {
  return attempt(() => statSync(path, { throwIfNoEntry: false }));
}

/** Also of a link that leads to one. */
export function isDirectory(path: string): boolean {
  return statOrUndefined(path)?.isDirectory() === true;
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

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

interface ReadRules {
  /** In bytes. */
  readonly largest?: number;
  readonly isInside?: IsInside;
}

/**
 * Reads what an agent may have put there: a link could lead to a file that the agent may not read. Undefined if there is
 * no such file. `path` holds one byte per character.
 * @throws AgtError if it is something else or too large, and system errors.
 */
export function readNoFollow(path: string, rules: ReadRules = {}): Buffer | undefined {
  const fd = open(path);
  if (fd === undefined) return undefined;
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new AgtError('is not a regular file');
    if (stat.size > (rules.largest ?? Number.POSITIVE_INFINITY))
      throw new AgtError(`is too large (${stat.size} bytes)`);
    if (rules.isInside?.(fd, path) === false) throw new AgtError('was moved meanwhile');
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function open(path: string): number | undefined {
  try {
    return openSync(systemPath(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (['ENOENT', 'ENOTDIR'].includes(code)) return undefined;
    if (code === 'ELOOP') throw new AgtError('is a link');
    if (code === 'ENXIO') throw new AgtError('is not a regular file'); // a socket, or a device without a driver
    throw error;
  }
}
