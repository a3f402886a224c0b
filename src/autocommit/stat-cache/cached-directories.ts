/**
 * The directories of a stat cache. A directory with the same times, inode and mode still has the same entries, so the
 * next scan need not list it. That holds only on file systems that update a directory's times whenever an entry comes or
 * goes.
 */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { fileSystemType } from '../../disk/mounts.ts';
import { parentPath } from '../../disk/path-bytes.ts';
import type { StatData } from './cached-files.ts';

/** Numbers per directory: mtimeMs, ctimeMs, ino, mode, and 1 if it is empty. */
export const DIRECTORY_WIDTH = 5;

/** In place of the inode number of a directory that is of another file system. */
const BORDER = -1;
const EMPTY = 4;

export type CachedDirectoriesData = Pick<
  CachedDirectories,
  'paths' | 'data' | 'excluded' | 'encoded' | 'ignore'
>;

export class CachedDirectories {
  readonly paths: readonly string[];
  readonly data: Float64Array;
  /** Entries that are neither captured files nor directories: sockets, too large files, ignored paths. */
  readonly excluded: readonly string[];
  /** Captured files whose name in the git tree is encoded (tree-names.ts). */
  readonly encoded: readonly string[];
  /** The text of `.agtignore` at that scan. */
  readonly ignore: string;
  private rows: ReadonlyMap<string, number> | undefined;
  private children: ReadonlyMap<string, readonly string[]> | undefined;

  constructor({ paths, data, excluded, encoded, ignore }: CachedDirectoriesData) {
    this.paths = paths;
    this.data = data;
    this.excluded = excluded;
    this.encoded = encoded;
    this.ignore = ignore;
  }

  /** The row of a path, or -1. */
  find(path: string): number {
    this.rows ??= new Map(this.paths.map((directory, row) => [directory, row]));
    return this.rows.get(path) ?? -1;
  }

  /** Paths of the subdirectories of a directory, and of the excluded entries in it. */
  childrenOf(path: string): readonly string[] {
    this.children ??= Map.groupBy([...this.paths, ...this.excluded], parentPath);
    return this.children.get(path) ?? [];
  }

  mode(row: number): number {
    return this.data[row * DIRECTORY_WIDTH + 3] as number;
  }

  isEmpty(row: number): boolean {
    return this.data[row * DIRECTORY_WIDTH + EMPTY] === 1;
  }

  /** Whether the cache has no times for it, so that every scan must list it. */
  mustList(row: number): boolean {
    return Number.isNaN(this.data[row * DIRECTORY_WIDTH]);
  }

  /** Whether the directory is of another file system than the folder. */
  isBorder(row: number): boolean {
    return this.data[row * DIRECTORY_WIDTH + 2] === BORDER;
  }

  /** Whether the cache has times for all. */
  haveTimes(): boolean {
    return this.paths.every((_, row) => !this.mustList(row));
  }

  /** Whether the directory has the same stat data as when it was cached, and both times are before `clock`. */
  isSame(row: number, { mtimeMs, ctimeMs, ino, mode }: StatData, clock: number): boolean {
    const offset = row * DIRECTORY_WIDTH;
    return (
      this.data[offset] === mtimeMs &&
      this.data[offset + 1] === ctimeMs &&
      this.data[offset + 2] === ino &&
      this.data[offset + 3] === mode &&
      mtimeMs < clock &&
      ctimeMs < clock
    );
  }

  equals(other: CachedDirectories): boolean {
    return (
      this.ignore === other.ignore &&
      areEqual(this.paths, other.paths) &&
      areEqual(this.excluded, other.excluded) &&
      areEqual(this.encoded, other.encoded) &&
      this.data.every((value, index) => Object.is(value, other.data[index]))
    );
  }
}

/** Collects the directories of a scan for the next one. */
export class CachedDirectoriesBuilder {
  private readonly paths: string[] = [];
  private readonly numbers: number[] = [];
  private readonly device: number | undefined;
  private readonly hasReliableTimes: boolean;

  /** `folder`, a path for Node, has them all. Directories of other devices are cached without times. */
  constructor(folder: string | Buffer) {
    this.device = lstatSync(folder, { throwIfNoEntry: false })?.dev;
    this.hasReliableTimes = directoryTimesAreReliable(folder);
  }

  add(path: string, stat: StatData & Pick<Stats, 'dev'>, isEmpty: boolean): void {
    this.paths.push(path);
    this.numbers.push(...this.numbersOf(stat), stat.mode, isEmpty ? 1 : 0);
  }

  private numbersOf({ mtimeMs, ctimeMs, ino, dev }: StatData & Pick<Stats, 'dev'>): [number, number, number] {
    if (dev !== this.device) return [Number.NaN, Number.NaN, BORDER];
    return this.hasReliableTimes ? [mtimeMs, ctimeMs, ino] : [Number.NaN, Number.NaN, Number.NaN];
  }

  copy({ paths, data }: CachedDirectories, row: number): void {
    this.paths.push(paths[row] as string);
    for (let i = row * DIRECTORY_WIDTH; i < (row + 1) * DIRECTORY_WIDTH; i++)
      this.numbers.push(data[i] as number);
  }

  build(excluded: readonly string[], encoded: readonly string[], ignore: string): CachedDirectories {
    const data = Float64Array.from(this.numbers);
    return new CachedDirectories({ paths: this.paths, data, excluded, encoded, ignore });
  }
}

/** For a folder just written. Entries that neither agt nor git wrote, as a hook does, are excluded ones. */
export function examineDirectories(
  folder: string,
  directories: ReadonlySet<string>,
  isFile: (path: string) => boolean,
): { readonly builder: CachedDirectoriesBuilder; readonly excluded: readonly string[] } {
  const root = Buffer.from(folder).toString('latin1');
  const builder = new CachedDirectoriesBuilder(folder);
  const excluded: string[] = [];
  for (const directory of directories) {
    const absolute = systemPath(`${root}/${directory}`);
    const stat = lstatSync(absolute, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) {
      if (!isFile(directory)) excluded.push(directory);
      continue;
    }
    const names = readdirSync(absolute, 'latin1');
    builder.add(directory, stat, names.length === 0);
    for (const name of names) {
      const path = `${directory}/${name}`;
      if (!isFile(path) && !directories.has(path) && path !== 'sandbox/.git') excluded.push(path);
    }
  }
  return { builder, excluded };
}

/**
 * f_type of file systems that are known to update a directory's times with its entries: ext2 to ext4, XFS, Btrfs, tmpfs,
 * overlayfs, F2FS, ZFS, bcachefs (statfs(2)). Network and FUSE file systems are not, nor is anything mounted below.
 */
const TRUSTED_TYPES = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e,
]);

/** Whether the times of the directories in `folder`, an absolute path, show that an entry came or went. */
export function directoryTimesAreReliable(folder: string | Buffer): boolean {
  return TRUSTED_TYPES.has(fileSystemType(folder) ?? -1);
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
