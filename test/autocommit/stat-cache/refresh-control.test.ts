/** Threads divide a refresh between them, and the main thread waits for the others. */
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { RefreshControl } from '../../../src/autocommit/stat-cache/refresh.ts';

test('each batch is taken once', () => {
  const one = new RefreshControl();
  const other = new RefreshControl(one.bytes);
  expect([one.takeBatch(), other.takeBatch(), one.takeBatch()]).toEqual([0, 1, 2]);
});

test('a thread that comes too late is not let in, and nobody waits for it', () => {
  const control = new RefreshControl();
  expect(control.enter(0)).toBe(true);
  control.leave(0);
  control.close();
  expect(control.enter(1)).toBe(false);
});

test('the main thread waits for a thread that is still working', async () => {
  const control = new RefreshControl();
  const source = `
    import { workerData } from 'node:worker_threads';
    import { RefreshControl } from '${new URL('../../../src/autocommit/stat-cache/refresh.ts', import.meta.url)}';
    const control = new RefreshControl(workerData);
    control.enter(3);
    setTimeout(() => control.leave(3), 300);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
    workerData: control.bytes,
  });
  const words = new Int32Array(control.bytes);
  while (words.every((word) => word === 0)) await new Promise((resolve) => setTimeout(resolve, 5));
  const began = performance.now();
  control.close();
  expect(performance.now() - began).toBeGreaterThan(100);
  await worker.terminate();
});
