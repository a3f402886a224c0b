/** Threads that confirm a scan share the work, and none is in the folder when the main one leaves it. */
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { ConfirmControl } from '../../../src/autocommit/stat-cache/refresh-control.ts';

test('each stretch is taken once', () => {
  const one = new ConfirmControl();
  const other = new ConfirmControl(one.bytes);
  expect([one.take(), other.take(), one.take()]).toEqual([0, 1, 2]);
});

test('who comes after the end stays out', () => {
  const control = new ConfirmControl();
  expect(control.enter(0)).toBe(true);
  control.leave(0);
  const where = control.close();
  expect(control.enter(1)).toBe(false);
  expect([where(0), where(1)]).toEqual(['left', 'stayed out']);
});

test('who is in it is waited for', async () => {
  const control = new ConfirmControl();
  const source = `
    import { workerData } from 'node:worker_threads';
    import { ConfirmControl } from '${new URL('../../../src/autocommit/stat-cache/refresh-control.ts', import.meta.url)}';
    const control = new ConfirmControl(workerData);
    control.enter(3);
    setTimeout(() => control.leave(3), 300);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
    workerData: control.bytes,
  });
  const words = new Int32Array(control.bytes);
  while (words.every((word) => word === 0)) await new Promise((resolve) => setTimeout(resolve, 5));
  const began = performance.now();
  expect(control.close()(3)).toBe('left');
  expect(performance.now() - began).toBeGreaterThan(100);
  await worker.terminate();
});
