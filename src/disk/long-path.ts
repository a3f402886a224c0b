/**
 * A path as the file system calls take it: here it holds one byte per character. One that is longer than they take
 * (PATH_MAX, which counts the way to the session folder) leads through an open directory on the way, by
 * /proc/self/fd. It is good for the next few calls, until some other long paths have been asked for.
 */
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { errorCode } from '../errors.ts';

/** PATH_MAX counts the NUL. Further parts begin with the way through /proc. */
const LONGEST = 4095;
const HOP = 3900;

/** Of the long paths that were asked for last; a rename takes two, a hop each or two. */
const OPEN = 8;
const openDirectories: number[] = [];

/** `ascii` is for callers who know already, of many paths at once. */
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
    if (directory === undefined) return GONE;
    rest = `/proc/self/fd/${directory}${rest.slice(end)}`;
  }
  return rest;
}

/** Leads nowhere, as the path does. */
const GONE = '/proc/self/fd/none';

/** Undefined where there is no such directory, or something else in its place. */
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
