/**
 * Reads a file only if it is a regular one. Opening a named pipe would wait for a writer, and a link could lead to a file
 * that the writer of the link may not read.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { AgtError, errorCode } from '../errors.ts';
import type { IsInside } from './is-inside.ts';
import { systemPath } from './long-path.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

interface ReadRules {
  /** In bytes. */
  readonly largest?: number;
  readonly isInside?: IsInside;
}

/**
 * Undefined if there is no such file. `path` holds one byte per character.
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
