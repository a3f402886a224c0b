/** A thread that takes its part in confirming what the last scan saw, as soon as it is told what that was. */
import { parentPort } from 'node:worker_threads';
import { confirm, type Differences } from './refresh.ts';
import { ConfirmControl } from './refresh-control.ts';
import { columnsIn, placesIn, type SharedColumns } from './shared-columns.ts';

export interface ConfirmWork {
  /** Which thread this is. */
  readonly thread: number;
  readonly folder: string;
  readonly shared: SharedColumns;
  readonly folders: readonly string[];
  readonly places: readonly string[];
  readonly clock: number;
  /** Of a ConfirmControl. */
  readonly control: SharedArrayBuffer;
}

/** Of a thread that came too late. */
const NOTHING: Differences = { rows: [], places: [], failed: false };

parentPort?.once('message', ({ thread, folder, shared, folders, places, clock, control }: ConfirmWork) => {
  const shares = new ConfirmControl(control);
  try {
    const columns = columnsIn(shared, folders);
    const data = placesIn(shared);
    parentPort?.postMessage(
      shares.enter(thread)
        ? confirm({ folder, columns, places: { paths: places, data }, clock, take: () => shares.take() })
        : NOTHING,
    );
  } finally {
    shares.leave(thread);
  }
});
