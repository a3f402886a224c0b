/** In random repositories, git mode prints what real git prints in the twin, for random command lines of git's own options. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOfToday } from '../harness/today.ts';
import { compareLines, describeDifference } from './compare.ts';
import { line, recipe } from './random-lines.ts';
import { buildRandomTwin } from './random-twin.ts';

/** The same every time. AGT_TEST_RUNS=100 tests 100 other repositories; fast-check prints the seed of a failure. */
const requestedRuns = process.env['AGT_TEST_RUNS'];
const runs = runsOfToday(6);

test(`${runs.numRuns} random repositories with 40 random command lines each equal their twins`, async () => {
  await fc.assert(
    fc.asyncProperty(recipe, fc.array(line, { minLength: 40, maxLength: 40 }), async (made, lines) => {
      const twin = buildRandomTwin(made);
      const differences = await compareLines(twin, lines);
      expect(differences.map(describeDifference).join('\n')).toBe('');
    }),
    { ...runs, endOnFailure: true, ...(requestedRuns === undefined ? { seed: 20260105 } : {}) },
  );
}, 600_000);
