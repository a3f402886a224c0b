/**
 * Places between two steps at which a test kills this process, as a power cut or `kill -9` would. In a release the
 * bundler leaves nothing of them.
 */
import { appendFileSync } from 'node:fs';

declare const AGT_FAILURE_POINTS: boolean | undefined;

const passed = new Map<string, number>();

/**
 * In a test build: AGT_TEST_LIST_POINTS names a file that gets a line for each point that is passed, `name#n` for the n-th
 * time; AGT_TEST_KILL_AT is the line at which to die.
 */
export function failurePoint(name: string): void {
  if (typeof AGT_FAILURE_POINTS === 'undefined' || !AGT_FAILURE_POINTS) return;
  const count = (passed.get(name) ?? 0) + 1;
  passed.set(name, count);
  const point = `${name}#${count}`;
  const list = process.env['AGT_TEST_LIST_POINTS'];
  if (list !== undefined) appendFileSync(list, `${point}\n`);
  if (process.env['AGT_TEST_KILL_AT'] === point) process.kill(process.pid, 'SIGKILL');
}
