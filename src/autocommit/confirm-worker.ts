/** A thread that takes its part in confirming what the last scan saw (confirm.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { confirm } from './confirm.ts';
import { columnsIn, placesIn, type SharedColumns } from './shared-columns.ts';

export interface ConfirmWork {
  readonly folder: string;
  readonly shared: SharedColumns;
  readonly folders: readonly string[];
  readonly places: readonly string[];
  readonly clock: number;
  readonly taken: SharedArrayBuffer;
}

const { folder, shared, folders, places, clock, taken } = workerData as ConfirmWork;
parentPort?.postMessage(
  confirm({
    folder,
    columns: columnsIn(shared, folders),
    places: { paths: places, data: placesIn(shared) },
    clock,
    taken: new Int32Array(taken),
  }),
);
