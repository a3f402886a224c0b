/** Every command of a list killed between its steps (src/disk/failure-point.ts): at AGT_TEST_STEPS of them, or `all`. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ofToday } from '../harness/today.ts';
import { agt, makeTempDir } from '../harness/world.ts';
import { attack, doctorMends, nextCommandsWork, Stage, storeIsWhole } from './aftermath.ts';
import type { Place, Scene } from './scenes.ts';

const program = [process.execPath, join(import.meta.dirname, '../../dist/failure-points/main.cjs')];

/** A step for each file is alike for most files: the first three and the last are enough. */
export function withoutRepeats(points: readonly string[]): string[] {
  const count = new Map(points.map((point) => point.split('#') as [string, string]));
  return points.filter((point) => {
    const [name = '', n] = point.split('#');
    return Number(n) <= 3 || n === count.get(name);
  });
}

const MOST = process.env['AGT_TEST_STEPS'] ?? '5';

/** Chooses `count` of them, evenly spread. */
export function chosen(points: readonly string[]): readonly string[] {
  const wanted = MOST === 'all' ? points.length : Math.min(Number(MOST), points.length);
  return Array.from({ length: wanted }, (_, n) => points[Math.floor((n * points.length) / wanted)] as string);
}

/** Without any repair. The killed command may have done all but its last word. */
export function sameCommandWorks({ repository }: Place, command: readonly string[]): void {
  const outcome = agt(repository, ...command);
  const isDone =
    /already (exists|removed|rejected)|no session|nothing to (undo|redo)|is accepted|was not accepted/.test(
      outcome.stderr,
    );
  if (outcome.exitCode !== 0 && !isDone) throw new Error(`the same command again: ${outcome.stderr}`);
}

/** `wanted`: names of steps; other commands are killed at the others. */
export function killAtEveryStep(scenes: readonly Scene[], wanted = /./): void {
  test.each(ofToday(scenes))('$name', { timeout: 300_000 }, async (scene) => {
    const stage = new Stage(scene);
    const { place } = stage;
    const list = join(makeTempDir('points'), 'list');
    expect(await attack(place, scene.command, { program, env: { AGT_TEST_LIST_POINTS: list } })).toBe(null);
    expect(existsSync(list)).toBe(true);
    const passed = readFileSync(list, 'utf8').trim().split('\n');
    const points = chosen(withoutRepeats(passed.filter((point) => wanted.test(point))));
    console.log(`${points.length} kills of agt ${scene.command.join(' ')}`);
    for (const [turn, point] of points.entries()) {
      stage.reset();
      const signal = await attack(place, scene.command, { program, env: { AGT_TEST_KILL_AT: point } });
      try {
        expect(signal).toBe('SIGKILL');
        if (turn % 2 === 0) sameCommandWorks(place, scene.command);
        if (turn % 4 === 0) nextCommandsWork(place, turn);
        storeIsWhole(place);
        doctorMends(place);
        if (turn % 2 === 1) nextCommandsWork(place, turn);
        scene.check(place);
        storeIsWhole(place);
      } catch (error) {
        throw new Error(`killed at "${point}": ${(error as Error).message}`, { cause: error });
      }
    }
  });
}
