/**
 * Confirms what the last scan saw (confirm.ts), in several threads, while git is asked about the refs. To look at a file
 * takes one and a half microseconds of a core; threads are what git has against that, too. To start one takes twenty
 * milliseconds, so they are for those who have much to look at, and started before git is.
 *
 * All look from within the session folder, which spares the way there with each file. The folder that a process is in is
 * one for all of its threads: the main one waits for the others before it goes back.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { readFileClock } from '../../disk/file-clock.ts';
import { confirm, type Differences } from './refresh.ts';
import { ConfirmControl } from './refresh-control.ts';
import type { ConfirmWork } from './refresh-worker.ts';
import type { ScanManifest } from './scan-manifest.ts';

/** The source of confirm-worker.ts, put here by scripts/bundle.ts; undefined where the sources run as they are. */
declare const AGT_CONFIRM_WORKER: string | undefined;

export interface Confirming {
  readonly manifest: ScanManifest;
  /** The file system's clock before any of it. */
  readonly clock: number;
  /** Looks at everything, with the threads; nothing else goes on in the main one meanwhile. */
  readonly run: () => void;
  /** Undefined where something could not be looked at. */
  readonly finish: () => Promise<Differences | undefined>;
}

/** A thread that waits for its work, and what it will answer. */
interface Thread {
  readonly worker: Worker;
  readonly answer: Promise<Differences>;
}

/** More than this many do not get faster. */
const MOST_THREADS = 4;
/** With fewer files a thread comes too late to help. */
const LARGE = 20_000;

function startThreads(files: number): Thread[] {
  const helpers = files < LARGE ? 0 : Math.min(MOST_THREADS, availableParallelism()) - 1;
  return Array.from({ length: helpers }, startThread);
}

function startThread(): Thread {
  // What it finds different is all that a thread keeps: a small young generation is enough, and spares memory.
  const settings = { resourceLimits: { maxYoungGenerationSizeMb: 4 } };
  const worker =
    typeof AGT_CONFIRM_WORKER === 'string'
      ? new Worker(AGT_CONFIRM_WORKER, { eval: true, ...settings })
      : new Worker(new URL('./refresh-worker.ts', import.meta.url), settings);
  worker.unref();
  const answer = new Promise<Differences>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread ended')));
  });
  // Whoever waits for it is told; until then it is nobody's unhandled error.
  answer.catch(() => {});
  return { worker, answer };
}

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
  const threads = startThreads(files.length);
  const found: Promise<Differences>[] = [];
  const run = () => {
    const control = new ConfirmControl();
    const goBack = enterFolder(folder);
    const from = goBack === undefined ? Buffer.from(folder).toString('latin1') : '';
    const work = { folder: from, clock: manifest.clock };
    for (const [thread, { worker }] of threads.entries()) {
      const { folders } = files.columns;
      const told = { ...work, thread, shared, folders, places: places.paths, control: control.bytes };
      worker.postMessage(told satisfies ConfirmWork);
    }
    const own = confirm({ ...work, columns: files.columns, places, take: () => control.take() });
    const whereabouts = control.close();
    goBack?.();
    found.push(Promise.resolve(own));
    for (const [thread, { answer }] of threads.entries()) {
      if (whereabouts(thread) === 'left') found.push(answer.catch(() => FAILED));
      if (whereabouts(thread) === 'lost') found.push(Promise.resolve(FAILED));
    }
  };
  const finish = async () => {
    const all = await Promise.all(found);
    if (all.length === 0 || all.some(({ failed }) => failed)) return undefined;
    return {
      rows: all.flatMap(({ rows }) => rows).sort((a, b) => a - b),
      places: all.flatMap((differences) => differences.places).sort((a, b) => a - b),
      failed: false,
    };
  };
  return { manifest, clock, run, finish };
}

const FAILED: Differences = { rows: [], places: [], failed: true };

/** Returns what goes back, if that folder is still there; undefined where this one cannot be entered. */
function enterFolder(folder: string): (() => void) | undefined {
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
