/** Lives of landing: git's own merges, and what the user has not committed. */
import { expect, test } from 'vitest';
import { liveLanding } from './live.ts';

const LIVES = Number(process.env['AGT_TEST_LIVES'] ?? 2);
const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 60);
const FIRST = Number(process.env['AGT_TEST_FIRST_SEED'] ?? 600);
const ONE = process.env['AGT_TEST_SEED'];
const SEEDS = ONE === undefined ? Array.from({ length: LIVES }, (_, life) => FIRST + life) : [Number(ONE)];

test.each(SEEDS)(
  `life %i, ${STEPS} steps of landing: as git merges, and the user keeps everything`,
  { timeout: 900_000 },
  (seed) => {
    const counts = liveLanding(seed, STEPS);
    console.log(`life of landing ${seed}: ${JSON.stringify(counts)}`);
    expect(counts.steps).toBe(STEPS);
  },
);
