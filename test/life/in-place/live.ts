/** Lives one life in place: random steps from a seed, with all checks. */
import { end, step } from './acts.ts';
import { InPlaceLife } from './in-place-life.ts';

/** @throws Error that says how to live this life again. */
export function liveInPlace(seed: number, steps: number): InPlaceLife['counts'] {
  const life = new InPlaceLife(seed);
  try {
    for (let number = 1; number <= steps; number++) {
      step(life, number);
      life.counts.steps++;
    }
    end(life);
    return life.counts;
  } catch (error) {
    const again = `again: AGT_TEST_SEED=${seed} AGT_TEST_STEPS_OF_LIFE=${steps} npx vitest run test/life/in-place`;
    console.error(`life in place ${seed}: ${(error as Error).message}\n${again}`);
    throw new Error(`${(error as Error).message}\n\n${again}\n\n${life.story()}`, { cause: error });
  }
}
