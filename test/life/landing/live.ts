/** Lives one life of landing: random steps from a seed, with all checks. */
import { end, step } from './acts.ts';
import { LandingLife } from './landing-life.ts';

/** @throws Error that says how to live this life again. */
export function liveLanding(seed: number, steps: number): LandingLife['counts'] {
  const life = new LandingLife(seed);
  try {
    for (let number = 1; number <= steps; number++) {
      step(life, number);
      life.counts.steps++;
    }
    end(life);
    return life.counts;
  } catch (error) {
    const again = `again: AGT_TEST_SEED=${seed} AGT_TEST_STEPS_OF_LIFE=${steps} npx vitest run test/life/landing`;
    console.error(`life of landing ${seed}: ${(error as Error).message}\n${again}`);
    throw new Error(`${(error as Error).message}\n\n${again}\n\n${life.story()}`, { cause: error });
  }
}
