/**
 * Refreshes a stat cache, with the help of other threads if it is large. An lstat costs 1.5 µs or more. From LARGE files
 * on, threads share the work, as in git's own refresh of the index (core.preloadIndex): with two cores an autocommit of
 * 100,000 unchanged files then takes three quarters of the time.
 *
 * All threads work in the session folder: relative paths save a third of the kernel's time. The current directory is that
 * of the whole process, so the main thread waits for the others before it goes back.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { CachedDirectories } from './cached-directories.ts';
import { RefreshControl, refreshBatches, type UpToDate } from './refresh.ts';
import type { RefreshShare } from './refresh-worker.ts';
import type { StatCache } from './stat-cache.ts';

/** The source of refresh-worker.ts, inserted by scripts/bundle.ts; undefined when the sources run directly. */
declare const AGT_REFRESH_WORKER: string | undefined;

/** Number of files. A thread takes 20 ms to start; with fewer files it comes too late to help. */
const LARGE = 20_000;
/** Approximate size of a file's entry in a stat cache. */
const BYTES_PER_FILE = 80;
/** More threads are not faster. */
const MOST_THREADS = 4;

export class RefreshThreads {
  private readonly workers: Worker[] = [];

  /** Starts the threads. They need some time, so this comes before the cache is loaded; its size says if they help. */
  constructor(cacheBytes: number) {
    if (cacheBytes < LARGE * BYTES_PER_FILE) return;
    const helpers = Math.min(MOST_THREADS, availableParallelism()) - 1;
    try {
      while (this.workers.length < helpers) this.workers.push(startWorker());
    } catch {
      // The system has no room for another thread: the others do its work.
    }
  }

  /**
   * `sessionFolder` is absolute. `attached`: the only top-level folder is a link to this directory, and a way through a link
   * takes the kernel half as long again. Blocks until all is done. To be called once.
   */
  refresh(
    sessionFolder: string,
    cache: StatCache,
    topFolders: readonly string[],
    attached?: string,
  ): UpToDate {
    const { files, directories = NO_DIRECTORIES, clock, shared } = cache;
    const upToDate = {
      files: new Uint8Array(new SharedArrayBuffer(files.length)),
      directories: new Uint8Array(new SharedArrayBuffer(directories.paths.length)),
    };
    const control = new RefreshControl();
    const goBack = tryEnter(attached ?? sessionFolder);
    const folder = goBack === undefined ? Buffer.from(sessionFolder).toString('latin1') : '';
    const entered = attached !== undefined && goBack !== undefined ? 'sandbox' : '';
    const work = { folder, entered, topFolders, clock, upToDate };
    const paths = { fileDirectories: files.columns.directories, directoryPaths: directories.paths };
    for (const [thread, worker] of this.workers.entries()) {
      if (shared === undefined) break;
      const share: RefreshShare = { ...work, ...paths, shared, control: control.bytes, thread };
      worker.postMessage(share);
    }
    refreshBatches({ ...work, files, directories, takeBatch: () => control.takeBatch() });
    control.close();
    goBack?.();
    return upToDate;
  }

  /** If there is nothing to refresh. */
  stop(): void {
    for (const worker of this.workers) void worker.terminate();
  }
}

const NO_DIRECTORIES = new CachedDirectories({});

/** If it fails later, entries that it took are not marked as up to date, and the walk examines them. */
function startWorker(): Worker {
  // Node takes 4 ms to load this module, and most caches are too small to need it.
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const worker =
    typeof AGT_REFRESH_WORKER === 'string'
      ? new Worker(AGT_REFRESH_WORKER, { eval: true })
      : new Worker(new URL('./refresh-worker.ts', import.meta.url));
  worker.on('error', () => {});
  worker.unref();
  return worker;
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
