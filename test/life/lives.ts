/**
 * Lives of agents: random steps in a repository with sessions, compared with an oracle that shares no code with src.
 * AGT_TEST_LIVES=50 for more seeds, AGT_TEST_SEED=7 for one of them. Two files have half of them each, so that both run
 * at once.
 */
import { expect, test } from 'vitest';
import { live } from './live.ts';

/** They take two minutes on two cores. */
const LIVES = Number(process.env['AGT_TEST_LIVES'] ?? 6);
const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 150);
const FIRST = Number(process.env['AGT_TEST_FIRST_SEED'] ?? 1);
const ONE = process.env['AGT_TEST_SEED'];

export function testLives(half: 'odd' | 'even'): void {
  const all = ONE === undefined ? Array.from({ length: LIVES }, (_, life) => FIRST + life) : [Number(ONE)];
  const seeds = all.filter((seed) => (seed % 2 === 1) === (half === 'odd'));
  if (seeds.length === 0) test.skip('the seed is in the other half', () => undefined);
  test.each(seeds)(`life %i, ${STEPS} steps: every snapshot comes back`, { timeout: 900_000 }, (seed) => {
    const counts = live(seed, STEPS);
    console.log(`life ${seed}: ${JSON.stringify(counts)}`);
    expect(counts.steps).toBe(STEPS);
  });
}
