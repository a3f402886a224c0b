/** Ctrl-C at each step of accept and gc: nothing is left for agt doctor to name, and the same command goes on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, makeTempDir } from '../harness/world.ts';
import { attack, Stage, storeIsWhole } from './aftermath.ts';
import { chosen, sameCommandWorks, withoutRepeats } from './every-step.ts';
import { LANDING_SCENES } from './landing-scenes.ts';
import { SCENES } from './scenes.ts';

const program = [process.execPath, join(import.meta.dirname, '../../dist/failure-points/main.cjs')];
const scenes = [...LANDING_SCENES, ...SCENES].filter(({ name }) => /^(accept|gc)/.test(name));

test.each(scenes)('$name', { timeout: 300_000 }, async (scene) => {
  const stage = new Stage(scene);
  const { place } = stage;
  const list = join(makeTempDir('points'), 'list');
  await attack(place, scene.command, { program, env: { AGT_TEST_LIST_POINTS: list } });
  for (const point of chosen(withoutRepeats(readFileSync(list, 'utf8').trim().split('\n')))) {
    stage.reset();
    await attack(place, scene.command, { program, env: { AGT_TEST_INTERRUPT_AT: point } });
    const { findings } = JSON.parse(agt(place.repository, 'doctor', '--json').stdout);
    expect(findings, point).toEqual([]);
    agtOk(place.repository, 'status');
    sameCommandWorks(place, scene.command);
    scene.check(place);
    storeIsWhole(place);
  }
});
