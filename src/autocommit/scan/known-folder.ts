/**
 * A folder that a scan need not look at: a clone of a frozen folder, in which agt has changed some paths and nobody else
 * has worked. The stat cache of the frozen folder says the rest, for a clone has the inode numbers, modes and times of its
 * source. The kernel would need seconds to read the inodes of a large clone for the first time.
 */
import type { Stats } from 'node:fs';
import { parentDirectories } from '../../snapshot/directories.ts';
import type { CachedDirectories } from '../stat-cache/cached-directories.ts';
import type { CachedFiles, StatData } from '../stat-cache/cached-files.ts';
import { isSameFile, pairRows } from '../stat-cache/compare-files.ts';
import type { UpToDate } from '../stat-cache/refresh.ts';
import type { StatCache } from '../stat-cache/stat-cache.ts';

/** The part of lstat's answer that a scan uses. */
export type EntryStat = StatData &
  Pick<Stats, 'dev' | 'isDirectory' | 'isFile' | 'isSymbolicLink' | 'isSocket' | 'isFIFO'>;

/** Paths are relative to the folder, one byte per character. */
export interface Clone {
  /** The stat cache of the frozen folder. */
  readonly files: CachedFiles;
  readonly directories: CachedDirectories;
  /** The device number of the clone. */
  readonly device: number;
  /** Paths that are not as in the frozen folder. */
  readonly touched: Iterable<string>;
  /** Those of them that have only other times or another owner, with their stat data now. */
  readonly renewed: ReadonlyMap<string, StatData>;
}

const TYPE = 0o170000;
const DIRECTORY = 0o040000;
const REGULAR = 0o100000;
const LINK = 0o120000;

export class KnownFolder {
  private readonly clone: Clone;
  /** By row: 1 if only the kernel knows. */
  private readonly files: Uint8Array;
  private readonly directories: Uint8Array;

  constructor(clone: Clone) {
    this.clone = clone;
    const { files, directories, touched } = clone;
    this.files = new Uint8Array(files.length);
    this.directories = new Uint8Array(directories.paths.length);
    const inodes = new Set<number>();
    for (const path of touched) {
      const row = files.find(path);
      if (row >= 0) inodes.add(files.ino(row));
      // A directory has another time if an entry comes or goes, or if it was writable only for a while.
      for (const directory of [path, ...parentDirectories(path)]) {
        const found = directories.find(directory);
        if (found >= 0) this.directories[found] = 1;
      }
    }
    // Hard links of a file have its times and its mode.
    for (let row = 0; row < files.length; row++)
      if (Number.isNaN(files.ino(row)) || inodes.has(files.ino(row))) this.files[row] = 1;
    for (let row = 0; row < this.directories.length; row++)
      if (directories.mustList(row)) this.directories[row] = 1;
  }

  /** Undefined if only the kernel knows. */
  statOf(path: string): EntryStat | undefined {
    const { files, directories, device } = this.clone;
    const row = files.find(path);
    if (this.files[row] === 0) return entryStat(files.stat(row), device);
    const directory = directories.find(path);
    return this.directories[directory] === 0 ? entryStat(directories.stat(directory), device) : undefined;
  }

  /** The sorted names of the entries of a directory; undefined if only the kernel knows. */
  namesIn(directory: string): string[] | undefined {
    const { files, directories } = this.clone;
    if (this.directories[directories.find(directory)] !== 0) return undefined;
    const children = directories.childrenOf(directory);
    if (children.some((path) => directories.find(path) < 0)) return undefined;
    const subdirectories = children.map((path) => path.slice(directory.length + 1));
    return [...files.namesIn(directory).keys(), ...subdirectories].sort();
  }

  /** The object name of the content of a file with such stat data; undefined if it must be read. */
  contentOf(path: string, stat: StatData): string | undefined {
    const { files, renewed } = this.clone;
    const row = files.find(path);
    if (row < 0) return undefined;
    const own = renewed.get(path);
    const isSame = own === undefined ? files.isSame(row, stat, Infinity) : isEqual(own, stat);
    return isSame ? files.oid(row) : undefined;
  }

  /** The entries of another stat cache that hold for the folder. */
  compare({ files, directories, clock }: StatCache): UpToDate {
    const { clone } = this;
    const upToDate = {
      files: new Uint8Array(files.length),
      directories: new Uint8Array(directories?.paths.length ?? 0),
    };
    for (const [row, own] of pairRows(files, clone.files).entries()) {
      const isKnown = this.files[own] === 0 && isSameFile(files, row, clone.files, own);
      if (isKnown && files.isOlder(row, clock)) upToDate.files[row] = 1;
    }
    if (directories === undefined) return upToDate;
    for (const [row, path] of directories.paths.entries()) {
      const own = clone.directories.find(path);
      const isKnown = this.directories[own] === 0 && directories.isAsIn(row, clone.directories, own);
      if (isKnown && directories.isOlder(row, clock)) upToDate.directories[row] = 1;
    }
    return upToDate;
  }
}

function entryStat(stat: StatData, dev: number): EntryStat {
  const is = (type: number) => () => (stat.mode & TYPE) === type;
  return {
    ...stat,
    dev,
    isDirectory: is(DIRECTORY),
    isFile: is(REGULAR),
    isSymbolicLink: is(LINK),
    isSocket: () => false,
    isFIFO: () => false,
  };
}

function isEqual(a: StatData, b: StatData): boolean {
  return (['mtimeMs', 'ctimeMs', 'size', 'ino', 'mode'] as const).every((key) => a[key] === b[key]);
}
