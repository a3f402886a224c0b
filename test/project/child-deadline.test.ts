/** No test waits for ever for a program: test/harness/child-deadline.ts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const timeout = 100;

test('a program that does not end is killed, and the error names it', () => {
  const message = 'killed after 0.1 seconds: sleep 60';
  expect(() => spawnSync('sleep', ['60'], { timeout })).toThrow(message);
  expect(() => execFileSync('sleep', ['60'], { timeout })).toThrow(message);
  // The shell ends at once, and what it leaves behind holds its output open.
  expect(() => spawnSync('sh', ['-c', 'sleep 60 &'], { timeout })).toThrow(/^killed after/);
});

test('every other result and error stays as it is', () => {
  expect(spawnSync('false').status).toBe(1);
  expect(spawnSync('cat', { input: 'in', encoding: 'utf8' }).stdout).toBe('in');
  expect(execFileSync('echo', ['out'], { encoding: 'utf8' })).toBe('out\n');
  expect(() => execFileSync('false')).toThrow('Command failed: false');
});
