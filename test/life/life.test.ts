/**
 * Lives of agents: random steps in a repository with sessions, compared with an oracle that shares no code with src.
 * The lives of seeds 4 and 5 end with a restore that says that one path differs: a fault that is still to be mended.
 * AGT_TEST_LIVES=20 for more seeds, AGT_TEST_SEED=7 for one of them.
 */
import { expect, test } from 'vitest';
import { live } from './live.ts';

const LIVES = Number(process.env['AGT_TEST_LIVES'] ?? 3);
const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 150);
const FIRST = Number(process.env['AGT_TEST_FIRST_SEED'] ?? 1);
const ONE = process.env['AGT_TEST_SEED'];

const seeds = ONE === undefined ? Array.from({ length: LIVES }, (_, life) => FIRST + life) : [Number(ONE)];

test.each(seeds)(`life %i, ${STEPS} steps: every snapshot comes back`, { timeout: 900_000 }, (seed) => {
  const counts = live(seed, STEPS);
  console.log(`life ${seed}: ${JSON.stringify(counts)}`);
  expect(counts.steps).toBe(STEPS);
});
