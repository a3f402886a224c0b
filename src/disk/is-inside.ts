/**
 * Whether an open file really lies at its path inside a folder. Opening a path does not follow a link at its end, but
 * an agent may replace a directory on the way by a link while agt works; agt would then read a file outside the
 * session folder, maybe one that the agent itself cannot read. Without /proc agt
 * compares what it has opened with what it finds on a second way there, which meets no link.
 */
import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { attempt } from '../errors.ts';
import { systemPath } from './long-path.ts';
import { type LinkedEntry, OpenDirectories } from './open-directories.ts';

export type IsInside = (fd: number, path: string) => boolean;

/** For paths that begin with `folder`, one byte per character. Files below a link must lie in its target. */
export function insideCheck(folder: string, linked?: LinkedEntry): IsInside {
  const own = checkBelow(folder);
  if (linked === undefined) return own;
  const link = `${folder}/${linked.name}`;
  const below = checkBelow(linked.target);
  return (fd, path) =>
    path.startsWith(`${link}/`) ? below(fd, linked.target + path.slice(link.length)) : own(fd, path);
}

function checkBelow(folder: string): IsInside {
  const fd = openSync(systemPath(folder), constants.O_RDONLY);
  try {
    const realFolder = pathOf(fd);
    return (opened, path) => {
      const relative = path.slice(folder.length);
      if (realFolder === undefined) return isReachable(folder, opened, relative);
      const expected = realFolder + relative;
      return expected.length > LONGEST
        ? isReachable(realFolder, opened, relative)
        : pathOf(opened) === expected;
    };
  } finally {
    closeSync(fd);
  }
}

/** Undefined if the system does not tell it, or if no path leads to the file. */
function pathOf(fd: number): string | undefined {
  const path = attempt(() => readlinkSync(`/proc/self/fd/${fd}`, 'latin1'));
  return path?.startsWith('/') ? path : undefined;
}

/** In bytes: PATH_MAX less some room for ` (deleted)`, which Linux appends. It does not report longer paths. */
const LONGEST = 4000;

/** Descends from the folder without following a link, and compares device and inode. */
function isReachable(folder: string, opened: number, path: string): boolean {
  const disk = new OpenDirectories(folder);
  try {
    const [actual, found] = [fstatSync(opened), disk.lstat(path.slice(1))];
    return actual.dev === found?.dev && actual.ino === found.ino;
  } catch {
    return false;
  } finally {
    disk.close();
  }
}
