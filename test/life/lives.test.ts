/** Lives of agents: random steps in a repository with sessions, compared with an oracle that shares no code with src. */
import { expect, test } from 'vitest';
import { live } from './live.ts';
import { seedsOfLives } from './seeds.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 150);

test.each(seedsOfLives(1))(
  `life %i, ${STEPS} steps: every snapshot comes back`,
  { timeout: 900_000 },
  (seed) => {
    const counts = live(seed, STEPS);
    console.log(`life ${seed}: ${JSON.stringify(counts)}`);
    expect(counts.steps).toBe(STEPS);
  },
);
