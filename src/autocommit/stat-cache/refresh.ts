/**
 * Finds out which cached files and directories are up to date: lstat(2) reports for them what the stat cache holds.
 * An entry that lstat refuses is not up to date; the walk then reports why. Where somebody has looked which paths are
 * newer than the last scan, the others need no lstat.
 */
import { existsSync, lstatSync } from 'node:fs';
import { isAscii, systemPath } from '../../disk/long-path.ts';
import { attempt } from '../../errors.ts';
import { isUnder, underAny } from '../../snapshot/folders.ts';
import { joinPath, type StatData } from './cached-files.ts';
import type { StatCache } from './stat-cache.ts';

/** Marks by row: 1 if the entry is up to date. */
export interface UpToDate {
  readonly files: Uint8Array;
  readonly directories: Uint8Array;
}

/** Each change since the last scan shows here: a file by itself, a directory for all that is in it. */
export interface NewerPaths {
  readonly paths: readonly string[];
  /** The file system's clock before somebody looked, in milliseconds. */
  readonly clock: number;
}

/**
 * `sessionFolder` is absolute. `attached`: the only top-level folder is a link to this directory, and a way through a link
 * takes the kernel half as long again. The process works in the folder meanwhile: relative paths save a third of the
 * kernel's time.
 */
export function refresh(
  sessionFolder: string,
  cache: StatCache,
  topFolders: readonly string[],
  attached?: string,
  newer?: NewerPaths,
): UpToDate {
  const maybeNewer = newer === undefined ? () => true : underAny(newer.paths);
  const goBack = tryEnter(attached ?? sessionFolder);
  const folder = goBack === undefined ? Buffer.from(sessionFolder).toString('latin1') : '';
  const isInSandbox = attached !== undefined && goBack !== undefined;
  const pathFor = (path: string) => {
    if (!isInSandbox) return joinPath(folder, path);
    return path === 'sandbox' ? '.' : path.slice('sandbox/'.length);
  };
  const upToDate = {
    directories: refreshDirectories(cache, topFolders, pathFor, maybeNewer),
    files: refreshFiles(cache, topFolders, pathFor, maybeNewer),
  };
  for (const path of newer?.paths ?? []) {
    const row = cache.files.find(path);
    if (row >= 0) upToDate.files[row] = isUpToDate(cache, row, tryLstat(pathFor(path)));
  }
  goBack?.();
  return upToDate;
}

/** Returns a function that goes back; undefined if the system refuses to enter. */
function tryEnter(folder: string): (() => void) | undefined {
  return attempt(() => {
    const before = process.cwd();
    process.chdir(folder);
    return () => {
      if (existsSync(before)) process.chdir(before);
    };
  });
}

type PathFor = (path: string) => string;
type MaybeNewer = (path: string) => boolean;

function refreshDirectories(
  { directories, clock }: StatCache,
  topFolders: readonly string[],
  pathFor: PathFor,
  maybeNewer: MaybeNewer,
): Uint8Array {
  return Uint8Array.from(directories?.paths ?? [], (path, row) => {
    if (!maybeNewer(path) && directories?.mustList(row) === false) return 1;
    const stat = isUnder(path, topFolders) ? tryLstat(pathFor(path)) : undefined;
    return stat !== undefined && directories?.isSame(row, stat, clock) ? 1 : 0;
  });
}

/** All names are decoded at once: that takes a tenth of the time. */
function refreshFiles(
  cache: StatCache,
  topFolders: readonly string[],
  pathFor: PathFor,
  maybeNewer: MaybeNewer,
): Uint8Array {
  const { files } = cache;
  const { names, nameEnds, directoryOf, directories } = files.columns;
  const marks = new Uint8Array(files.length);
  const text = names.toString('latin1');
  const textIsAscii = isAscii(text);
  const isScanned = directories.map((path) => path === '' || isUnder(path, topFolders));
  const mustLook = directories.map(maybeNewer);
  let [directory, prefix, ascii] = [-1, '', false];
  for (let row = 0; row < files.length; row++) {
    // Most neighbouring rows are in the same directory.
    if (directoryOf[row] !== directory) {
      directory = directoryOf[row] as number;
      prefix = joinPath(pathFor(directories[directory] as string), '');
      ascii = textIsAscii && isAscii(prefix);
    }
    if (!isScanned[directory]) continue;
    if (!mustLook[directory]) {
      marks[row] = 1;
      continue;
    }
    const name = text.slice(nameEnds[row - 1] ?? 0, (nameEnds[row] as number) - 1);
    marks[row] = isUpToDate(cache, row, tryLstat(prefix + name, ascii));
  }
  return marks;
}

function isUpToDate({ files, clock }: StatCache, row: number, stat: StatData | undefined): 0 | 1 {
  return stat !== undefined && files.isSame(row, stat, clock) ? 1 : 0;
}

const NO_THROW = { throwIfNoEntry: false } as const;

/** `ascii` as of systemPath. */
function tryLstat(path: string, ascii?: boolean): StatData | undefined {
  try {
    return lstatSync(systemPath(path, ascii), NO_THROW);
  } catch {
    return undefined;
  }
}
