/** Every command killed at arbitrary times, also in the middle of a step: agt alone, or agt and git. */
import { expect, test } from 'vitest';
import { ofToday } from '../harness/today.ts';
import { AGT } from '../harness/world.ts';
import { attack, nextCommandsWork, recovers, Stage } from './aftermath.ts';
import { LANDING_SCENES } from './landing-scenes.ts';
import { SCENES } from './scenes.ts';

/** Kills of each command; a command that has ended before the kill is tried again. */
const KILLS = Number(process.env['AGT_TEST_KILLS'] ?? 1);
const MOST_ROUNDS = 20 * KILLS;
/** No command does anything before this time. */
const EARLIEST_MS = 60;

test.each(ofToday([...SCENES, ...LANDING_SCENES]))(
  `$name, killed ${KILLS} times`,
  { timeout: 300_000 },
  async (scene) => {
    const stage = new Stage(scene);
    const { place } = stage;
    const began = performance.now();
    expect(await attack(place, scene.command, { program: [AGT] })).toBe(null);
    let latest = performance.now() - began;
    let killed = 0;
    for (let round = 0; killed < KILLS && round < MOST_ROUNDS; round++) {
      stage.reset();
      const after = EARLIEST_MS + (latest - EARLIEST_MS) * Math.random();
      const group = Math.random() < 0.5;
      if ((await attack(place, scene.command, { program: [AGT], after, group })) !== 'SIGKILL') {
        latest = after; // the first one took longer, as it was the first
        continue;
      }
      killed++;
      try {
        // git may complain of a lock that a killed git left, until doctor deletes it.
        if (!group) nextCommandsWork(place, round);
        recovers(place, scene, round);
      } catch (error) {
        const what = group ? 'killed with its children' : 'killed alone';
        throw new Error(`${what} after ${after.toFixed()} ms: ${(error as Error).message}`, { cause: error });
      }
    }
    console.log(`${killed} kills of agt ${scene.command.join(' ')}`);
    expect(killed).toBe(KILLS);
  },
);
