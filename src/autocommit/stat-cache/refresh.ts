/**
 * Finds out which cached files and directories are up to date: lstat(2) reports for them what the stat cache holds.
 * An entry that lstat refuses is not up to date; the walk then reports why.
 */
import { lstatSync } from 'node:fs';
import { isAscii, systemPath } from '../../disk/long-path.ts';
import { isUnder } from '../../snapshot/folders.ts';
import type { CachedDirectories } from './cached-directories.ts';
import { type CachedFiles, joinPath, type StatData } from './cached-files.ts';

/** Marks by row: 1 if the entry is up to date. */
export interface UpToDate {
  readonly files: Uint8Array;
  readonly directories: Uint8Array;
}

export interface RefreshWork {
  /** The session folder; absolute, one byte per character. Empty: it is the current directory. */
  readonly folder: string;
  /** A directory of the session folder that is the current one instead, such as `sandbox`. Empty: there is none. */
  readonly entered: string;
  readonly topFolders: readonly string[];
  readonly files: CachedFiles;
  readonly directories: CachedDirectories;
  /** The clock of the scan that made the cache. */
  readonly clock: number;
  /** Returns the number of a batch that no other thread has taken. */
  readonly takeBatch: () => number;
  /** Receives the marks. */
  readonly upToDate: UpToDate;
}

/** Files or directories per batch. */
const BATCH = 256;
const NO_THROW = { throwIfNoEntry: false } as const;

/** Refreshes batch after batch until all are taken. */
export function refreshBatches(work: RefreshWork): void {
  const { files, directories } = work;
  const directoryBatches = Math.ceil(directories.paths.length / BATCH);
  const batches = directoryBatches + Math.ceil(files.length / BATCH);
  const refreshFiles = fileRefresher(work);
  for (let batch = work.takeBatch(); batch < batches; batch = work.takeBatch()) {
    const start = BATCH * (batch < directoryBatches ? batch : batch - directoryBatches);
    if (batch < directoryBatches)
      refreshDirectories(work, start, Math.min(start + BATCH, directories.paths.length));
    else refreshFiles(start, Math.min(start + BATCH, files.length));
  }
}

function refreshDirectories(work: RefreshWork, start: number, end: number): void {
  const { topFolders, directories, clock, upToDate } = work;
  for (let row = start; row < end; row++) {
    const path = directories.paths[row] as string;
    const stat = isUnder(path, topFolders) ? tryLstat(pathFor(work, path)) : undefined;
    if (stat !== undefined && directories.isSame(row, stat, clock)) upToDate.directories[row] = 1;
  }
}

/** All names are decoded at once: that takes a tenth of the time. */
function fileRefresher(work: RefreshWork) {
  const { topFolders, files, clock, upToDate } = work;
  const { names, nameEnds, directoryOf, directories } = files.columns;
  const text = names.toString('latin1');
  const textIsAscii = isAscii(text);
  const isScanned = directories.map((path) => path === '' || isUnder(path, topFolders));
  return (start: number, end: number): void => {
    let [directory, prefix, ascii] = [-1, '', false];
    for (let row = start; row < end; row++) {
      // Most neighbouring rows are in the same directory.
      if (directoryOf[row] !== directory) {
        directory = directoryOf[row] as number;
        prefix = joinPath(pathFor(work, directories[directory] as string), '');
        ascii = textIsAscii && isAscii(prefix);
      }
      if (!isScanned[directory]) continue;
      const name = text.slice(nameEnds[row - 1] ?? 0, (nameEnds[row] as number) - 1);
      const stat = tryLstat(prefix + name, ascii);
      if (stat !== undefined && files.isSame(row, stat, clock)) upToDate.files[row] = 1;
    }
  };
}

/** The path of an entry of the session folder for a system call. */
function pathFor({ folder, entered }: RefreshWork, path: string): string {
  if (entered === '') return joinPath(folder, path);
  return path === entered ? '.' : path.slice(entered.length + 1);
}

/** `ascii` as of systemPath. */
function tryLstat(path: string, ascii?: boolean): StatData | undefined {
  try {
    return lstatSync(systemPath(path, ascii), NO_THROW);
  } catch {
    return undefined;
  }
}

const [TAKEN, ENTERED, LEFT, CLOSED] = [0, 1, 2, 3];
const WORDS = 4;
/** The main thread gives up on a thread that has not finished by then. */
const PATIENCE_MS = 30_000;
/** How often it looks at the clock meanwhile. */
const CHECK_MS = 100;

/** How the threads of one refresh divide the work and wait for each other, in memory that they share. */
export class RefreshControl {
  readonly bytes: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(bytes = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.bytes = bytes;
    this.words = new Int32Array(bytes);
  }

  /** The number of the next batch that no thread has taken. */
  takeBatch(): number {
    return Atomics.add(this.words, TAKEN, 1);
  }

  /** A thread starts to work. False if it comes too late. `thread` is below 32. */
  enter(thread: number): boolean {
    Atomics.or(this.words, ENTERED, 1 << thread);
    return Atomics.load(this.words, CLOSED) === 0;
  }

  /** A thread has finished. */
  leave(thread: number): void {
    Atomics.or(this.words, LEFT, 1 << thread);
    Atomics.notify(this.words, LEFT);
  }

  /** Lets no other thread enter, and waits until those that entered have left. */
  close(): void {
    Atomics.store(this.words, CLOSED, 1);
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const left = Atomics.load(this.words, LEFT);
      const entered = Atomics.load(this.words, ENTERED);
      if ((entered & ~left) === 0 || Date.now() > deadline) return;
      Atomics.wait(this.words, LEFT, left, CHECK_MS);
    }
  }
}
