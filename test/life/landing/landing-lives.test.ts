/** Lives of landing: git's own merges, and what the user has not committed. */
import { expect, test } from 'vitest';
import { seedsOfLives } from '../seeds.ts';
import { liveLanding } from './live.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 60);

test.each(seedsOfLives(600))(
  `life %i, ${STEPS} steps of landing: as git merges, and the user keeps everything`,
  { timeout: 900_000 },
  (seed) => {
    const counts = liveLanding(seed, STEPS);
    console.log(`life of landing ${seed}: ${JSON.stringify(counts)}`);
    expect(counts.steps).toBe(STEPS);
  },
);
