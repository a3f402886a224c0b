/** A short life in which the front may never say that a session is unchanged that is not. */
import { expect, test } from 'vitest';
import { live } from './live.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 20);
const SEED = Number(process.env['AGT_TEST_SEED'] ?? 7);

test('random steps: the front starts agt whenever something has changed', { timeout: 900_000 }, () => {
  const { steps, unchanged } = live(SEED, STEPS, true);
  expect(steps).toBe(STEPS);
  expect(unchanged).toBeGreaterThan(0);
});
