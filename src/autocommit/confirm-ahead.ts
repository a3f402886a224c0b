/**
 * Begins to confirm what the last scan saw, in threads, while the main one asks git; in the end the main one helps. To
 * look at a file takes two microseconds of one core; threads are what git has against that, too.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { confirm, type Differences } from './confirm.ts';
import type { ConfirmWork } from './confirm-worker.ts';
import { readFileClock } from './file-clock.ts';
import type { ScanManifest } from './scan-manifest.ts';

/** The source of confirm-worker.ts, put here by scripts/bundle.ts; undefined where the sources run as they are. */
declare const AGT_CONFIRM_WORKER: string | undefined;

export interface Confirming {
  readonly manifest: ScanManifest;
  /** The file system's clock before any of it. */
  readonly clock: number;
  /** Undefined where something could not be looked at. */
  readonly finish: () => Promise<Differences | undefined>;
}

/** More than this many do not get faster. */
const MOST_THREADS = 4;
/** To start a thread takes as long as to look at some thousand files. */
const LARGE = 8_000;

/**
 * `folder` is absolute; `ignore` is what `.agtignore` says. Undefined where the last scan was not a whole one, or not by
 * the same rules.
 */
export function confirmAhead(
  folder: string,
  manifest: ScanManifest | undefined,
  ignore: string,
): Confirming | undefined {
  if (manifest?.places === undefined || manifest.shared === undefined) return undefined;
  const { places, shared, files } = manifest;
  if (places.ignore !== ignore) return undefined;
  const clock = readFileClock(folder);
  const taken = new SharedArrayBuffer(4);
  const work: ConfirmWork = {
    folder: Buffer.from(folder).toString('latin1'),
    shared,
    folders: files.columns.folders,
    places: places.paths,
    clock: manifest.clock,
    taken,
  };
  const helpers = files.length < LARGE ? 0 : Math.min(MOST_THREADS, availableParallelism()) - 1;
  const helped = Promise.all(Array.from({ length: helpers }, () => runThread(work)));
  // Whoever waits for it is told; until then it is nobody's unhandled error.
  helped.catch(() => {});
  const finish = async () => {
    const own = confirm({ ...work, columns: files.columns, places, taken: new Int32Array(taken) });
    const all = [own, ...(await helped.catch(() => [FAILED]))];
    if (all.some(({ failed }) => failed)) return undefined;
    return {
      rows: all.flatMap(({ rows }) => rows).sort((a, b) => a - b),
      places: all.flatMap((found) => found.places).sort((a, b) => a - b),
      failed: false,
    };
  };
  return { manifest, clock, finish };
}

const FAILED: Differences = { rows: [], places: [], failed: true };

function runThread(workerData: ConfirmWork): Promise<Differences> {
  // What it finds different is all that a thread keeps: a small young generation is enough, and spares memory.
  const settings = { workerData, resourceLimits: { maxYoungGenerationSizeMb: 4 } };
  const worker =
    typeof AGT_CONFIRM_WORKER === 'string'
      ? new Worker(AGT_CONFIRM_WORKER, { eval: true, ...settings })
      : new Worker(new URL('./confirm-worker.ts', import.meta.url), settings);
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread ended')));
  });
}
