/**
 * Walks a large session folder in several threads, while the main one asks git and reads what the last scan left. The
 * walk proper then finds most directories done. Looking at a file takes a few microseconds of one core; threads are
 * what git has against that, too.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { readFileClock } from './file-clock.ts';
import { systemPath } from './walk.ts';
import type { WalkRecord } from './walk-record.ts';
import type { WalkWork } from './walk-worker.ts';

/** The source of walk-worker.ts, put here by scripts/bundle.ts; undefined where the sources run as they are. */
declare const AGT_WALK_WORKER: string | undefined;

export interface WalkedAhead {
  /** The file system's clock before any of it. */
  readonly clock: number;
  /** By directory. Empty where a thread failed: the walk proper does without. */
  readonly records: Promise<ReadonlyMap<string, WalkRecord>>;
}

/** More than this many do not get faster. */
const MOST_THREADS = 4;
/** Enough for each thread to have something to do until the end. */
const ENOUGH_DIRECTORIES = 64;
const DEEPEST = 4;

/** `folder` is absolute. Undefined where there are no threads to be had, or not enough directories. */
export function walkAhead(folder: string, tops: readonly string[]): WalkedAhead | undefined {
  const threads = Math.min(MOST_THREADS, availableParallelism());
  if (threads < 2) return undefined;
  const clock = readFileClock(folder);
  const bytes = Buffer.from(folder).toString('latin1');
  const directories = divide(bytes, tops);
  if (directories.length < threads) return undefined;
  const work: WalkWork = { folder: bytes, directories, taken: new SharedArrayBuffer(4) };
  const results = Array.from({ length: threads }, () => runThread(work));
  const records = Promise.all(results).then(
    (lists) => new Map(lists.flat()),
    () => new Map<string, WalkRecord>(),
  );
  return { clock, records };
}

/** Directories that do not lie in one another, as far down as it takes to have enough of them. */
function divide(folder: string, tops: readonly string[]): string[] {
  let level = [...tops];
  for (let depth = 0; depth < DEEPEST && level.length < ENOUGH_DIRECTORIES; depth++) {
    const next = level.flatMap((directory) => subdirectories(folder, directory));
    if (next.length === 0) break;
    level = next;
  }
  return level;
}

function subdirectories(folder: string, directory: string): string[] {
  let entries: Dirent<string>[];
  try {
    entries = readdirSync(systemPath(`${folder}/${directory}`), { withFileTypes: true, encoding: 'latin1' });
  } catch {
    return []; // the walk proper says why
  }
  return entries
    .filter((entry) => entry.isDirectory() && entry.name !== '.git')
    .map((entry) => `${directory}/${entry.name}`);
}

function runThread(workerData: WalkWork): Promise<[string, WalkRecord][]> {
  // What a thread lists is all it keeps: a small young generation is enough, and spares memory.
  const settings = { workerData, resourceLimits: { maxYoungGenerationSizeMb: 4 } };
  const worker =
    typeof AGT_WALK_WORKER === 'string'
      ? new Worker(AGT_WALK_WORKER, { eval: true, ...settings })
      : new Worker(new URL('./walk-worker.ts', import.meta.url), settings);
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread ended')));
  });
}
