/**
 * Paths for file system calls. In agt a path holds one byte per character. A path of PATH_MAX bytes or more, which
 * includes the path to the session folder, leads through an open directory in the middle, by /proc/self/fd. Such a path
 * is valid for the next few calls only, until OPEN other directories have been opened.
 */
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { errorCode } from '../errors.ts';

/** In bytes: PATH_MAX without the NUL. */
const LONGEST = 4095;
/** How much of a path one open directory replaces. The rest must still fit behind `/proc/self/fd/N`. */
const HOP = 3900;

/** Directories that stay open. A rename needs two paths of one or two hops each. */
const OPEN = 8;
const openDirectories: number[] = [];

/** `ascii`: for callers that know it of many paths at once. */
export function systemPath(path: string, ascii = isAscii(path)): string | Buffer {
  const short = path.length <= LONGEST ? path : throughDirectories(path);
  return ascii ? short : Buffer.from(short, 'latin1');
}

export function isAscii(path: string): boolean {
  return !/[\x80-\xff]/.test(path);
}

function throughDirectories(path: string): string {
  if (!existsSync('/proc/self/fd')) return path;
  let rest = path;
  while (rest.length > LONGEST) {
    const end = rest.lastIndexOf('/', HOP);
    if (end <= 0) return path;
    const directory = open(rest.slice(0, end));
    if (directory === undefined) return MISSING;
    rest = `/proc/self/fd/${directory}${rest.slice(end)}`;
  }
  return rest;
}

/** A path that does not exist, for one whose directory does not exist. */
const MISSING = '/proc/self/fd/none';

/** Undefined if there is no directory of that path. */
function open(path: string): number | undefined {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  let fd: number;
  try {
    fd = openSync(isAscii(path) ? path : Buffer.from(path, 'latin1'), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error))) return undefined;
    throw error;
  }
  if (openDirectories.push(fd) > OPEN) closeSync(openDirectories.shift() as number);
  return fd;
}
