/** Each case of a table that rotates runs within a week: test/harness/today.ts. */
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

test('a deep run has all cases', async () => {
  vi.stubEnv('AGT_TEST_DEEP', '1');
  const { ofToday } = await import('../harness/today.ts');
  expect(ofToday(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
});
