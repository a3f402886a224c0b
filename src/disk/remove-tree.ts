/**
 * Removes a directory with everything in it, like `rm -rf`, but also read-only directories, as some package caches
 * make them, and paths longer than PATH_MAX. It follows no link, and enters nothing that is mounted.
 */
import { chmodSync, lstatSync, rmdirSync, rmSync, type Stats, unlinkSync } from 'node:fs';
import { errorCode } from '../errors.ts';
import { reportProgress } from '../process/progress.ts';
import { entriesOf } from './folder-entries.ts';
import { systemPath } from './long-path.ts';
import { refuseMounts } from './mounts.ts';

/** @throws AgtError, before anything is removed, if something is mounted in the directory. */
export function removeTree(path: string): void {
  refuseMounts(path);
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Node can do neither of them, and its error does not always tell which one it was.
    removeOnly(path, () => true);
  }
}

/**
 * Removes the entries for which `mayRemove` is true, and the directories that are empty then. Asks about anything but
 * directories. `path` is as Node has it; the paths asked about and returned are relative to it, one byte per character.
 * `isOwnMount`: agt has mounted something at the path itself, which the caller unmounts.
 *
 * @returns the paths that remain, without those of directories that contain them
 */
export function removeOnly(
  path: string,
  mayRemove: (path: string, stat: Stats) => boolean,
  isOwnMount = false,
  refused?: string[],
): readonly string[] {
  refuseMounts(path, isOwnMount);
  return removeAt(Buffer.from(path).toString('latin1'), mayRemove, isOwnMount, refused);
}

export interface Remaining {
  /** Without those of directories that contain them. */
  readonly paths: readonly string[];
  /** Some of these: the system does not let this user remove them. */
  readonly refused: readonly string[];
}

/** Removes a session folder as removeOnly does, but goes on past what the system does not let it remove. */
export function removePossible(
  path: string,
  mayRemove: (path: string, stat: Stats) => boolean,
  isOwnMount: boolean,
): Remaining {
  const refused: string[] = [];
  return { paths: removeOnly(path, mayRemove, isOwnMount, refused), refused };
}

/** The user lacks a permission, or the file system is read-only. */
export function isRefusal(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error));
}

/** As removeOnly, for bytes and without mounts. `refused` gets what the system does not let it remove. */
export function removeAt(
  top: string,
  mayRemove: (path: string, stat: Stats) => boolean = () => true,
  isOwnMount = false,
  refused?: string[],
): readonly string[] {
  const what = refused === undefined ? 'deleting' : 'removing the sandbox';
  const remaining: string[] = [];
  const keep = (path: string) => {
    remaining.push(path);
    return false;
  };
  let removed = 0;
  const remove = (absolute: string, relative: string): boolean => {
    try {
      return removeEntry(absolute, relative);
    } catch (error) {
      if (refused === undefined || !isRefusal(error)) throw error;
      refused.push(relative);
      return keep(relative);
    }
  };
  const removeEntry = (absolute: string, relative: string): boolean => {
    const stat = lstatSync(systemPath(absolute), { throwIfNoEntry: false });
    if (stat === undefined) return true;
    if (!stat.isDirectory()) {
      if (!mayRemove(relative, stat)) return keep(relative);
      unlinkSync(systemPath(absolute));
      reportProgress(what, ++removed);
      return true;
    }
    if ((stat.mode & OWNER_ALL) !== OWNER_ALL) chmodSync(systemPath(absolute), stat.mode | OWNER_ALL);
    const prefix = relative === '' ? '' : `${relative}/`;
    const isEmpty = entriesOf(absolute)
      .map(({ name }) => remove(`${absolute}/${name}`, prefix + name))
      .every(Boolean);
    if (!isEmpty || (isOwnMount && relative === '')) return isEmpty;
    return removeDirectory(absolute) || keep(relative);
  };
  remove(top, '');
  return remaining;
}

/** Whether `mayRemove` is true for all entries but directories. It changes nothing. @throws system errors */
export function holdsOnly(path: string, mayRemove: (path: string, stat: Stats) => boolean): boolean {
  const look = (absolute: string, relative: string): boolean => {
    const stat = lstatSync(systemPath(absolute), { throwIfNoEntry: false });
    if (stat === undefined) return true;
    if (!stat.isDirectory()) return mayRemove(relative, stat);
    const prefix = relative === '' ? '' : `${relative}/`;
    return entriesOf(absolute).every(({ name }) => look(`${absolute}/${name}`, prefix + name));
  };
  return look(Buffer.from(path).toString('latin1'), '');
}

/** The owner may list and change the directory. */
const OWNER_ALL = 0o700;

/** False if something has come into it meanwhile. */
function removeDirectory(absolute: string): boolean {
  try {
    rmdirSync(systemPath(absolute));
    return true;
  } catch (error) {
    if (errorCode(error) !== 'ENOTEMPTY') throw error;
    return false;
  }
}
