/** Lives of sessions in place: what the user has in the checkout comes back, and the agent's work is kept. */
import { expect, test } from 'vitest';
import { liveInPlace } from './live.ts';

const LIVES = Number(process.env['AGT_TEST_LIVES'] ?? 2);
const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 45);
const FIRST = Number(process.env['AGT_TEST_FIRST_SEED'] ?? 536);
const ONE = process.env['AGT_TEST_SEED'];
const SEEDS = ONE === undefined ? Array.from({ length: LIVES }, (_, life) => FIRST + life) : [Number(ONE)];

test.each(SEEDS)(
  `life %i, ${STEPS} steps in place: the user finds everything as before`,
  { timeout: 900_000 },
  (seed) => {
    const counts = liveInPlace(seed, STEPS);
    console.log(`life in place ${seed}: ${JSON.stringify(counts)}`);
    expect(counts.steps).toBe(STEPS);
  },
);
