/** Random histories: an accept takes no line of a person off the branch, and `agt list` foretells what it does. */
import { expect, test } from 'vitest';
import { seedsOfLives } from '../seeds.ts';
import { History } from './history.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 25);

test.each(seedsOfLives(9000))('history %i', { timeout: 900_000 }, (seed) => {
  const history = new History(seed);
  let steps = 0;
  try {
    for (; steps < STEPS; steps++) {
      history.step();
      history.agree();
    }
  } catch (error) {
    throw new Error(`step ${steps}: ${(error as Error).message}\n${history.told()}`, { cause: error });
  }
  expect(steps).toBe(STEPS);
});
