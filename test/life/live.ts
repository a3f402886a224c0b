/** Lives one life: random steps from a seed, with all checks. */
import { AGT_STEPS, promisesHold } from './agt-acts.ts';
import { FILE_STEPS, FileScene } from './file-steps.ts';
import { frontIsRight, settleFront, THROUGH_FRONT } from './front.ts';
import { gitAct } from './git-acts.ts';
import { Life, type LifeSession } from './life.ts';
import { LifeWatcher, WITH_WATCHER } from './watcher.ts';

const PROMISES_EVERY = 25;
const FILE_SHARE = 0.35;
const GIT_SHARE = 0.4;

/** @throws Error that says how to live this life again. */
export function live(seed: number, steps: number, asksFront = THROUGH_FRONT || WITH_WATCHER): Life['counts'] {
  const life = new Life(seed);
  const watcher = WITH_WATCHER ? new LifeWatcher(life) : undefined;
  try {
    life.newSession();
    for (let step = 1; step <= steps; step++) {
      if (asksFront) settleFront(life);
      watcher?.noTrouble();
      watcher?.begin(life.active()[0] as LifeSession);
      act(life, step);
      life.counts.steps++;
      if (asksFront) life.counts.unchanged += frontIsRight(life);
      if (step % PROMISES_EVERY === 0) promisesHold(life);
      watcher?.trouble();
    }
    promisesHold(life);
    return life.counts;
  } catch (error) {
    console.error(`life ${seed}: ${(error as Error).message}\n${howAgain(life, steps)}`);
    throw new Error(`${(error as Error).message}\n\n${howAgain(life, steps)}\n\n${life.story()}`, {
      cause: error,
    });
  } finally {
    watcher?.end();
  }
}

/** Lives on for so many steps. */
export function liveOn(life: Life, steps: number): void {
  for (let step = 1; step <= steps; step++) {
    act(life, step);
    life.counts.steps++;
    if (step % PROMISES_EVERY === 0) promisesHold(life);
  }
  promisesHold(life);
}

function act(life: Life, step: number): void {
  const { random } = life;
  const session = random.pick(life.active());
  life.look(session);
  const share = random.next();
  if (share < FILE_SHARE) {
    const { name, act } = random.weighted(FILE_STEPS);
    const path = act(new FileScene(random, session.folder, session.facts));
    life.note(`${step} ${session.id}: ${name} ${JSON.stringify(path)}`);
  } else if (share < FILE_SHARE + GIT_SHARE) {
    life.note(`${step} ${session.id}: git`);
    gitAct(life, session);
  } else {
    const { name, act } = random.weighted(AGT_STEPS);
    life.note(`${step} ${session.id}: ${name}`);
    act(life, session);
  }
}

function howAgain({ seed }: Life, steps: number): string {
  return `again: AGT_TEST_SEED=${seed} AGT_TEST_STEPS_OF_LIFE=${steps} npx vitest run test/life -t life`;
}
