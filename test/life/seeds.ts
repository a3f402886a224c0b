/**
 * Which lives are lived: AGT_TEST_SEED=7 names one, AGT_TEST_LIVES=50 wants as many, from AGT_TEST_FIRST_SEED on. Without
 * these, seven lives rotate.
 */
import { ofToday } from '../harness/today.ts';

export function seedsOfLives(usualFirst: number): readonly number[] {
  const { AGT_TEST_SEED: one, AGT_TEST_LIVES: count, AGT_TEST_FIRST_SEED: first } = process.env;
  if (one !== undefined) return [Number(one)];
  const from = Number(first ?? usualFirst);
  const seeds = Array.from({ length: Number(count ?? 7) }, (_, life) => from + life);
  return count === undefined ? ofToday(seeds) : seeds;
}
