/** The shim prints what real git prints in the twin, for random command lines in random repositories. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOfToday } from '../../harness/today.ts';
import { line as anyLine, recipe } from '../../twin/random-lines.ts';
import { buildRandomTwin } from '../../twin/random-twin.ts';
import { leaveFacts, startedFor } from './noting-shim.ts';

/** Lines of the commands that the shim changes by itself. */
const line = anyLine.filter((text) =>
  /^(branch|tag|for-each-ref|log|rev-list|shortlog|rev-parse)\b/.test(text),
);

/** The same every time. AGT_TEST_RUNS=100 tests 100 other repositories; fast-check prints the seed of a failure. */
const requestedRuns = process.env['AGT_TEST_RUNS'];
const runs = runsOfToday(2);

test(`${runs.numRuns} random repositories with 40 random command lines each equal their twins`, async () => {
  let started = 0;
  await fc.assert(
    fc.asyncProperty(recipe, fc.array(line, { minLength: 40, maxLength: 40 }), async (made, lines) => {
      const twin = buildRandomTwin(made);
      await leaveFacts(twin);
      // One after the other: some lines make a branch or a tag.
      for (const text of lines) started += (await startedFor(twin, [text])).length;
    }),
    { ...runs, endOnFailure: true, ...(requestedRuns === undefined ? { seed: 20260106 } : {}) },
  );
  expect(started).toBeGreaterThan(0);
}, 400_000);
