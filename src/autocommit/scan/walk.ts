/**
 * Walks over a session folder and sorts its entries by what the stat cache says, without reading any content.
 *
 * A directory that is up to date has the entries that the cache lists; any other directory is listed. A file that is up
 * to date is kept; any other entry gets an lstat. So a scan without a cache examines everything, and a scan of a folder
 * in which nothing has changed examines nothing more than refresh.ts did. Both find the same.
 *
 * Links are never followed, and `.git` entries never entered. An entry counts only if the walk reaches it: a file below
 * a directory that has become a link may look up to date, and is gone.
 */
import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemPath } from '../../disk/long-path.ts';
import { isOnFuse, isPseudoFileSystem } from '../../disk/mounts.ts';
import { attempt, errorCode, failureReason } from '../../errors.ts';
import { isOfSubmodule } from '../../git/files/discover-repository.ts';
import { BESIDE, isTemporaryEntry, MOUNT_TYPE, TOP_FOLDERS } from '../../snapshot/folders.ts';
import { IGNORE_FILE, IGNORED } from '../../snapshot/ignore-file.ts';
import type { LastSnapshot } from '../last-snapshot.ts';
import type { Source } from '../source.ts';
import { type CachedDirectories, CachedDirectoriesBuilder } from '../stat-cache/cached-directories.ts';
import { joinPath } from '../stat-cache/cached-files.ts';
import {
  FEW_BYTES,
  FEW_FILES,
  LargeChange,
  type LeftOut,
  MOST_FILES,
  type RefreshedCache,
  rulesText,
  type ScanOptions,
  TooManyFiles,
  tooLarge,
} from './scan-options.ts';

export function walk(source: Source, last: Known, options: ScanOptions): Walked {
  const walked = new Walked(source, last, options);
  walked.visitEntries('', options.topFolders);
  walked.nameOthers();
  return walked;
}

type Known = Pick<LastSnapshot, 'find'>;

/** All paths are relative to the session folder, one byte per character. */
export class Walked {
  /** For each row of the cached files: 1 if the file is as the cache has it. */
  readonly kept: Uint8Array;
  /** Regular files and links whose content must be read. */
  readonly toRead: string[] = [];
  /** st_mode of each directory. */
  readonly directories = new Map<string, number>();
  readonly emptyDirectories: string[] = [];
  /** Left out by rule. */
  readonly skipped: LeftOut[] = [];
  /** Paths that git ignores in an attached folder. */
  readonly leftOut: string[] = [];
  /** Entries that lstat refuses, and directories that cannot be listed. */
  readonly failed: LeftOut[] = [];
  /** The directories for the next stat cache. */
  readonly directoriesToCache: CachedDirectoriesBuilder;
  /** Whether a directory was listed although the cache had times for it. It needs the new ones. */
  hasNewTimes = false;
  private bytesToRead = 0;
  private readonly source: Source;
  private readonly last: Known;
  private readonly device: number | undefined;
  private readonly options: ScanOptions;
  private readonly refreshed: RefreshedCache | undefined;
  /** For each row of the cached files: 1 if it need not be read. */
  private readonly unchanged: Uint8Array;
  /** Undefined if the rules of `.agtignore` were others: any entry may be ignored now, or not any more. */
  private readonly cachedDirectories: CachedDirectories | undefined;

  constructor(source: Source, last: Known, options: ScanOptions) {
    this.source = source;
    this.last = last;
    this.device = lstatSync(systemPath(source.folder), { throwIfNoEntry: false })?.dev;
    this.options = options;
    this.refreshed = options.refreshed;
    this.unchanged = unchangedFiles(options);
    this.kept = new Uint8Array(this.unchanged.length);
    const cached = this.refreshed?.cache.directories;
    this.cachedDirectories = cached?.ignore === rulesText(options) ? cached : undefined;
    this.directoriesToCache = new CachedDirectoriesBuilder(systemPath(source.folder));
  }

  /** The entries of a directory that was listed. */
  visitEntries(directory: string, names: readonly string[]): void {
    const rows = this.refreshed?.cache.files.namesIn(directory);
    for (const name of names) {
      const path = joinPath(directory, name);
      const row = rows?.get(name);
      if (row !== undefined && this.unchanged[row] === 1 && !this.isNewlyIgnored(path)) this.kept[row] = 1;
      else this.visit(path);
    }
  }

  /** Names what lies beside the folders that a snapshot holds: a removal would delete it. */
  nameOthers(): void {
    const { ignore } = this.options;
    for (const name of this.readDirectory('') ?? []) {
      if (TOP_FOLDERS.includes(name) || name === IGNORE_FILE || isTemporaryEntry(name)) continue;
      const isIgnored = ignore?.ignores(name, this.lstat(name)?.isDirectory() === true) === true;
      this.skip(name, isIgnored ? IGNORED : BESIDE);
    }
  }

  private visit(path: string): void {
    const row = this.cachedDirectories?.find(path) ?? -1;
    if (this.refreshed?.upToDate.directories[row] === 1) this.keepDirectory(path, row);
    else if (!path.endsWith('/.git')) this.examine(path, row);
    else if (path !== 'sandbox/.git' && exists(this.source.path(path)) && !this.isOfSubmodule(path))
      this.skip(path, 'belongs to a nested repository');
  }

  /** Its path is relative, so it has to be read in the live folder. */
  private isOfSubmodule(path: string): boolean {
    const { gitDir } = this.options;
    return (
      gitDir !== undefined &&
      isOfSubmodule(join(this.source.folder, Buffer.from(path, 'latin1').toString()), gitDir)
    );
  }

  /** `row` is that of a cached directory, or -1. */
  private examine(path: string, row: number): void {
    const found = this.lstat(path);
    const stat = found?.isDirectory() && this.source.isBorder(path, found) ? this.lstat(path) : found;
    if (stat === undefined) return;
    const { ignore, ignored, maxFileSize } = this.options;
    if (ignored?.leavesOut(path) === true) this.leftOut.push(path);
    else if (ignore?.ignores(path, stat.isDirectory())) this.skip(path, IGNORED);
    else if (stat.isDirectory() && stat.dev !== this.device && isPseudoFileSystem(this.absolute(path)))
      this.skip(path, 'is a file system of the kernel, such as /proc');
    else if (stat.isDirectory() && stat.dev !== this.device && isOnFuse(this.absolute(path), MOUNT_TYPE))
      this.skip(path, 'is a snapshot that agt has mounted');
    else if (stat.isDirectory()) this.listDirectory(path, stat, row);
    else if (stat.isFile() && stat.size > maxFileSize && this.isOther(path, stat.size))
      this.skip(path, tooLarge(stat.size));
    else if (stat.isFile() || stat.isSymbolicLink()) this.noteFile(path, stat);
    else this.skip(path, kindOf(stat));
  }

  /** Without a look at the content: this file is not the one of the last snapshot. */
  private isOther(path: string, size: number): boolean {
    const known = this.refreshed?.cache.files.sizeOf(path) ?? Number.NaN;
    return this.last.find(path) === undefined || known < size || known > size;
  }

  private noteFile(path: string, stat: Stats): void {
    this.toRead.push(path);
    this.bytesToRead += stat.size;
    const { mayFreeze, isLimited } = this.options;
    const files = this.toRead.length;
    if (mayFreeze && (files > FEW_FILES || this.bytesToRead > FEW_BYTES)) throw new LargeChange();
    if (isLimited && files > MOST_FILES) throw new TooManyFiles();
  }

  private listDirectory(path: string, stat: Stats, row: number): void {
    const names = this.readDirectory(path);
    if (names === undefined) return;
    if (row >= 0 && this.cachedDirectories?.mustList(row) === false) this.hasNewTimes = true;
    this.directoriesToCache.add(path, stat, names.length === 0);
    this.noteDirectory(path, stat.mode, names.length === 0);
    if (path !== 'sandbox' && names.includes('.git')) this.options.ignored?.enterRepository(path);
    this.visitEntries(path, names);
  }

  /** A directory whose entries are those that the cache has. */
  private keepDirectory(path: string, row: number): void {
    const { files } = (this.refreshed as RefreshedCache).cache;
    const cached = this.cachedDirectories as CachedDirectories;
    this.directoriesToCache.copy(cached, row);
    this.noteDirectory(path, cached.mode(row), cached.isEmpty(row));
    for (const row of files.rowsIn(path)) {
      if (this.unchanged[row] === 1) this.kept[row] = 1;
      else this.visit(files.path(row));
    }
    for (const child of cached.childrenOf(path)) this.visit(child);
  }

  private noteDirectory(path: string, mode: number, isEmpty: boolean): void {
    this.directories.set(path, mode);
    if (isEmpty) this.emptyDirectories.push(path);
  }

  private isNewlyIgnored(path: string): boolean {
    const { ignore, ignored } = this.options;
    if (this.cachedDirectories !== undefined) return false;
    return ignored?.leavesOut(path) === true || ignore?.ignores(path, false) === true;
  }

  private skip(path: string, reason: string): void {
    this.skipped.push({ path, reason });
  }

  private absolute(path: string): string | Buffer {
    return systemPath(this.source.path(path));
  }

  /** Undefined if there is nothing, or if the system refuses. */
  private lstat(path: string): Stats | undefined {
    try {
      const isCheckout = this.options.isLinked === true && path === 'sandbox';
      return (isCheckout ? statSync : lstatSync)(this.absolute(path), { throwIfNoEntry: false });
    } catch (error) {
      this.failed.push({ path, reason: failureReason('examined', error) });
      return undefined;
    }
  }

  /** The sorted names; undefined if the directory is gone or cannot be listed. */
  private readDirectory(path: string): string[] | undefined {
    try {
      return readdirSync(this.absolute(path), 'latin1').sort();
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') this.failed.push({ path, reason: failureReason('listed', error) });
      return undefined;
    }
  }
}

/** The marks of the files that are up to date and not to be read again. */
function unchangedFiles({ refreshed, rereadSince, mapped }: ScanOptions): Uint8Array {
  if (refreshed === undefined) return new Uint8Array();
  const files = refreshed.upToDate.files.slice();
  for (const path of mapped ?? []) {
    const row = refreshed.cache.files.find(path);
    if (row >= 0) files[row] = 0;
  }
  if (rereadSince === undefined) return files;
  return files.map((mark, row) => (refreshed.cache.files.mtimeMs(row) < rereadSince * 1000 ? mark : 0));
}

function exists(path: string): boolean {
  // Its directory lists it, also if lstat is refused.
  return attempt(() => lstatSync(systemPath(path), { throwIfNoEntry: false }) === undefined) !== true;
}

function kindOf(stat: Stats): string {
  if (stat.isSocket()) return 'is a socket';
  if (stat.isFIFO()) return 'is a named pipe';
  return 'is a device';
}
