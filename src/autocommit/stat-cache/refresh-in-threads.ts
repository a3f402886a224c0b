/**
 * Refreshes a stat cache, with the help of other threads if it is large. An lstat costs 1.5 µs or more. From LARGE files
 * on, threads share the work, as in git's own refresh of the index (core.preloadIndex).
 *
 * All threads work in the session folder: relative paths save a third of the kernel's time. The current directory is that
 * of the whole process, so the main thread waits for the others before it goes back.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { CachedDirectories } from './cached-directories.ts';
import { refreshBatches, type UpToDate } from './refresh.ts';
import { RefreshControl } from './refresh-control.ts';
import type { RefreshShare } from './refresh-worker.ts';
import type { StatCache } from './stat-cache.ts';

/** The source of refresh-worker.ts, inserted by scripts/bundle.ts; undefined when the sources run directly. */
declare const AGT_REFRESH_WORKER: string | undefined;

/** Starting a thread takes 20 ms. With fewer files it comes too late to help. */
const LARGE = 20_000;
/** More threads are not faster. */
const MOST_THREADS = 4;
/** What a thread allocates does not live long: a small young generation is enough, and saves memory. */
const LIMITS = { maxYoungGenerationSizeMb: 4 };

/** `sessionFolder` is absolute. Blocks until all is done. */
export function refresh(sessionFolder: string, cache: StatCache, topFolders: readonly string[]): UpToDate {
  const { files, directories = NO_DIRECTORIES, clock } = cache;
  const upToDate = {
    files: new Uint8Array(new SharedArrayBuffer(files.length)),
    directories: new Uint8Array(new SharedArrayBuffer(directories.paths.length)),
  };
  const control = new RefreshControl();
  const goBack = tryEnter(sessionFolder);
  const folder = goBack === undefined ? Buffer.from(sessionFolder).toString('latin1') : '';
  const work = { folder, topFolders, clock, upToDate };
  startThreads(cache, { ...work, control: control.bytes });
  refreshBatches({ ...work, files, directories, takeBatch: () => control.takeBatch() });
  control.close();
  goBack?.();
  return upToDate;
}

const NO_DIRECTORIES = new CachedDirectories({
  ...{ paths: [], data: new Float64Array(), excluded: [], encoded: [], ignore: '' },
});

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

type Work = Pick<RefreshShare, 'folder' | 'topFolders' | 'clock' | 'upToDate' | 'control'>;

function startThreads({ files, directories, shared }: StatCache, work: Work): void {
  if (files.length < LARGE || shared === undefined) return;
  const paths = {
    fileDirectories: files.columns.directories,
    directoryPaths: directories?.paths ?? [],
  };
  const helpers = Math.min(MOST_THREADS, availableParallelism()) - 1;
  for (let thread = 0; thread < helpers; thread++) startThread({ ...work, ...paths, shared, thread });
}

/** Without the thread the others do its work. Files that it took and did not finish are not marked, and get read. */
function startThread(workerData: RefreshShare): void {
  const settings = { workerData, resourceLimits: LIMITS };
  try {
    const worker =
      typeof AGT_REFRESH_WORKER === 'string'
        ? new Worker(AGT_REFRESH_WORKER, { eval: true, ...settings })
        : new Worker(new URL('./refresh-worker.ts', import.meta.url), settings);
    worker.on('error', () => {});
    worker.unref();
  } catch {
    // the system has no room for another thread
  }
}
