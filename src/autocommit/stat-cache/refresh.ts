/**
 * Finds out which cached files and directories are up to date: lstat(2) reports for them what the stat cache holds.
 * An entry that lstat refuses is not up to date; the walk then reports why.
 */
import { existsSync, lstatSync } from 'node:fs';
import { isAscii, systemPath } from '../../disk/long-path.ts';
import { isUnder } from '../../snapshot/folders.ts';
import { joinPath, type StatData } from './cached-files.ts';
import type { StatCache } from './stat-cache.ts';

/** Marks by row: 1 if the entry is up to date. */
export interface UpToDate {
  readonly files: Uint8Array;
  readonly directories: Uint8Array;
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
): UpToDate {
  const goBack = tryEnter(attached ?? sessionFolder);
  const folder = goBack === undefined ? Buffer.from(sessionFolder).toString('latin1') : '';
  const isInSandbox = attached !== undefined && goBack !== undefined;
  const pathFor = (path: string) => {
    if (!isInSandbox) return joinPath(folder, path);
    return path === 'sandbox' ? '.' : path.slice('sandbox/'.length);
  };
  const upToDate = {
    directories: refreshDirectories(cache, topFolders, pathFor),
    files: refreshFiles(cache, topFolders, pathFor),
  };
  goBack?.();
  return upToDate;
}

/** Returns a function that goes back; undefined if the system refuses to enter. */
function tryEnter(folder: string): (() => void) | undefined {
  try {
    const before = process.cwd();
    process.chdir(folder);
    return () => {
      if (existsSync(before)) process.chdir(before);
    };
  } catch {
    return undefined;
  }
}

type PathFor = (path: string) => string;

function refreshDirectories(
  { directories, clock }: StatCache,
  topFolders: readonly string[],
  pathFor: PathFor,
): Uint8Array {
  return Uint8Array.from(directories?.paths ?? [], (path, row) => {
    const stat = isUnder(path, topFolders) ? tryLstat(pathFor(path)) : undefined;
    return stat !== undefined && directories?.isSame(row, stat, clock) ? 1 : 0;
  });
}

/** All names are decoded at once: that takes a tenth of the time. */
function refreshFiles(
  { files, clock }: StatCache,
  topFolders: readonly string[],
  pathFor: PathFor,
): Uint8Array {
  const { names, nameEnds, directoryOf, directories } = files.columns;
  const marks = new Uint8Array(files.length);
  const text = names.toString('latin1');
  const textIsAscii = isAscii(text);
  const isScanned = directories.map((path) => path === '' || isUnder(path, topFolders));
  let [directory, prefix, ascii] = [-1, '', false];
  for (let row = 0; row < files.length; row++) {
    // Most neighbouring rows are in the same directory.
    if (directoryOf[row] !== directory) {
      directory = directoryOf[row] as number;
      prefix = joinPath(pathFor(directories[directory] as string), '');
      ascii = textIsAscii && isAscii(prefix);
    }
    if (!isScanned[directory]) continue;
    const name = text.slice(nameEnds[row - 1] ?? 0, (nameEnds[row] as number) - 1);
    const stat = tryLstat(prefix + name, ascii);
    if (stat !== undefined && files.isSame(row, stat, clock)) marks[row] = 1;
  }
  return marks;
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
