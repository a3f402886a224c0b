/** Each long file, and each case of a table that rotates, runs within a week: test/harness/long-files.ts, today.ts. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => {
  vi.resetModules();
  vi.stubEnv('AGT_TEST_DEEP', '');
});
afterEach(() => vi.unstubAllEnvs());

const LENGTHS = [1, 2, 6, 7, 8, 19, 50, 81];

test('seven days have all cases, and each day has about a seventh', async () => {
  const { ofToday } = await import('../harness/today.ts');
  for (const length of LENGTHS) {
    const cases = Array.from({ length }, (_, n) => n);
    const seen = new Set<number>();
    for (let day = 20_000; day < 20_007; day++) {
      vi.stubEnv('AGT_TEST_DAY', `${day}`);
      expect(ofToday(cases)).toHaveLength(Math.ceil(length / 7));
      for (const each of ofToday(cases)) seen.add(each);
    }
    expect(seen.size).toBe(length);
  }
});

test('seven days have all test files, each long one once, unless its room has changes', async () => {
  const { filesOfToday, longFiles } = await import('../harness/long-files.ts');
  const long = longFiles();
  const runs = new Map<string, number>();
  for (let day = 20_000; day < 20_007; day++) {
    vi.stubEnv('AGT_TEST_DAY', `${day}`);
    for (const file of filesOfToday(new Set())) runs.set(file, (runs.get(file) ?? 0) + 1);
  }
  const root = join(import.meta.dirname, '../..');
  expect([...runs.keys()].sort()).toEqual(globSync('test/**/*.test.ts', { cwd: root }).sort());
  for (const [file, count] of runs) expect(count, file).toBe(long.includes(file) ? 1 : 7);
  expect(long.filter((file) => !runs.has(file))).toEqual([]);
  expect(filesOfToday(new Set(['landing']))).toEqual(
    expect.arrayContaining(long.filter((file) => file.startsWith('test/landing/'))),
  );
});

test('no long file has cases that rotate: some of them would never run', async () => {
  const { longFiles } = await import('../harness/long-files.ts');
  const rotates = (file: string) => /\/(today|seeds|every-step)\.ts'/.test(readFileSync(file, 'utf8'));
  expect(longFiles().filter(rotates)).toEqual([]);
});

test('a deep run has all cases', async () => {
  vi.stubEnv('AGT_TEST_DEEP', '1');
  const { ofToday } = await import('../harness/today.ts');
  expect(ofToday(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
});
