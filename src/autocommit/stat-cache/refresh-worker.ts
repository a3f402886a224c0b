/** A thread that helps to refresh a stat cache (refresh-in-threads.ts). It waits for one message with its share. */
import { parentPort } from 'node:worker_threads';
import { CachedDirectories } from './cached-directories.ts';
import { CachedFiles, directoryNumbers, fileColumns, type SharedColumns } from './cached-files.ts';
import { RefreshControl, refreshBatches, type UpToDate } from './refresh.ts';

export interface RefreshShare {
  /** The number of this thread. */
  readonly thread: number;
  readonly folder: string;
  readonly entered: string;
  readonly topFolders: readonly string[];
  readonly shared: SharedColumns;
  readonly fileDirectories: readonly string[];
  readonly directoryPaths: readonly string[];
  readonly clock: number;
  /** In shared memory. */
  readonly upToDate: UpToDate;
  /** The memory of a RefreshControl. */
  readonly control: SharedArrayBuffer;
}

parentPort?.once('message', ({ thread, shared, control: bytes, ...share }: RefreshShare) => {
  const control = new RefreshControl(bytes);
  try {
    const files = new CachedFiles(fileColumns(shared, share.fileDirectories));
    const directories = new CachedDirectories({
      paths: share.directoryPaths,
      data: directoryNumbers(shared),
    });
    if (control.enter(thread))
      refreshBatches({ ...share, files, directories, takeBatch: () => control.takeBatch() });
  } finally {
    control.leave(thread);
  }
});
