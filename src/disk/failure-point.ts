/** Points at which a test can kill this process, as a power cut would. A release has none of them. */
import { appendFileSync } from 'node:fs';

declare const AGT_FAILURE_POINTS: boolean | undefined;

const passed = new Map<string, number>();

/**
 * In a test build, every pass of a point is called `name#n`, with n from 1. AGT_TEST_LIST_POINTS names a file that
 * gets a line for each; the process dies at the one that AGT_TEST_KILL_AT names, and is interrupted at the one that
 * AGT_TEST_INTERRUPT_AT names.
 */
export function failurePoint(name: string): void {
  if (typeof AGT_FAILURE_POINTS === 'undefined' || !AGT_FAILURE_POINTS) return;
  const count = (passed.get(name) ?? 0) + 1;
  passed.set(name, count);
  const point = `${name}#${count}`;
  const list = process.env['AGT_TEST_LIST_POINTS'];
  if (list !== undefined) appendFileSync(list, `${point}\n`);
  if (process.env['AGT_TEST_KILL_AT'] === point) process.kill(process.pid, 'SIGKILL');
  if (process.env['AGT_TEST_INTERRUPT_AT'] !== point) return;
  process.kill(process.pid, 'SIGINT');
  // A finger that trembles.
  setTimeout(() => process.kill(process.pid, 'SIGINT'), 20).unref();
}
