/** A thread that walks directories of a session folder until none is left to be taken (walk-ahead.ts). */
import { lstatSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { enter, systemPath } from './walk.ts';
import { recorder, type WalkRecord } from './walk-record.ts';

export interface WalkWork {
  readonly folder: string;
  readonly directories: readonly string[];
  /** How many directories have been taken, by all threads. */
  readonly taken: SharedArrayBuffer;
}

const { folder, directories, taken } = workerData as WalkWork;
const counter = new Int32Array(taken);
const records: [directory: string, record: WalkRecord][] = [];
for (;;) {
  const directory = directories[Atomics.add(counter, 0, 1)];
  if (directory === undefined) break;
  const stat = lstatSync(systemPath(`${folder}/${directory}`), { throwIfNoEntry: false });
  if (!stat?.isDirectory()) continue;
  const { visitor, finish } = recorder();
  enter(folder, directory, stat.mode, visitor);
  records.push([directory, finish()]);
}
const buffers = records.flatMap(([, { kinds, numbers }]) => [kinds.buffer, numbers.buffer]);
parentPort?.postMessage(records, buffers as ArrayBuffer[]);
