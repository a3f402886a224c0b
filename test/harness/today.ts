/**
 * Long tests rotate: each day some of their cases run, and in seven days all of them. With AGT_TEST_DEEP (scripts/test
 * --deep), a run does what the default runs of seven days do.
 */

export const DAYS = 7;

export const isDeep = (process.env['AGT_TEST_DEEP'] ?? '') !== '';

/** Days since 1970. test/harness/build.ts sets it once for all test files. */
export function today(): number {
  return Number(process.env['AGT_TEST_DAY'] ?? Math.floor(Date.now() / 86_400_000));
}

/** A seventh of the cases, but at least one. */
export function ofToday<const T>(cases: readonly T[]): readonly T[] {
  if (isDeep) return cases;
  const count = Math.ceil(cases.length / DAYS);
  const first = today() * count;
  return cases.filter((_, n) => (((n - first) % cases.length) + cases.length) % cases.length < count);
}

/** The same for the runs of a property with a fixed seed: settings of fast-check. AGT_TEST_RUNS=100 asks for other runs. */
export function runsOfToday(usual: number): { numRuns: number; path?: string } {
  const asked = process.env['AGT_TEST_RUNS'];
  if (asked !== undefined || isDeep) return { numRuns: Number(asked ?? usual) };
  const numRuns = Math.ceil(usual / DAYS);
  return { numRuns, path: `${((today() % DAYS) * numRuns) % usual}` };
}
