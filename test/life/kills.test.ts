/**
 * Every command is killed, at a random moment, alone or with its children, or at one of its failure points. Then the same
 * command is run again: it has to do its work without help, and nothing may be lost. AGT_TEST_KILLS=30 for more kills of
 * each command.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ofToday } from '../harness/today.ts';
import { throughFront } from './front.ts';
import { type Ended, type Kill, start } from './kill.ts';
import { KillPlace } from './kill-place.ts';
import { KILL_SCENES, type KillScene } from './kill-scenes.ts';
import { AGT } from './programs.ts';
import { Random } from './random.ts';

const KILLS = Number(process.env['AGT_TEST_KILLS'] ?? 1);
const SEED = Number(process.env['AGT_TEST_SEED'] ?? Date.now() % 100_000);
const ONLY = process.env['AGT_TEST_SCENE'];
/** Before it, no command has done anything. */
const EARLIEST_MS = 50;
/** The same program with failure points (src/disk/failure-point.ts). */
const KILLABLE = [process.execPath, join(import.meta.dirname, '../../dist/failure-points/main.cjs')];

const scenes = ONLY === undefined ? ofToday(KILL_SCENES) : KILL_SCENES.filter(({ name }) => ONLY === name);

test.each(scenes)(
  `$name, killed ${KILLS} times, does its work when run again`,
  { timeout: 1_800_000 },
  async (scene) => {
    const random = new Random(SEED);
    const place = new KillPlace((made) => scene.prepare?.(made));
    const found = await measure(place, scene);
    const counts = { killed: 0 };
    const failures: string[] = [];
    for (let round = 0; round < KILLS; round++) {
      place.reset();
      const kill = chooseKill(random, round, found);
      const { wasKilled } = await attempt(place, scene, kill);
      if (wasKilled) counts.killed++;
      const problem = await runAgain(place, scene, round % 2 === 1);
      if (problem !== undefined) failures.push(`killed ${JSON.stringify(kill)}: ${problem}`);
    }
    console.log(`${scene.name}: ${JSON.stringify(counts)}`);
    const again = `again: AGT_TEST_SEED=${SEED} AGT_TEST_KILLS=${KILLS} AGT_TEST_SCENE='${scene.name}' npx vitest run test/life/kills.test.ts`;
    expect(failures, again).toEqual([]);
  },
);

interface Moments {
  /** In milliseconds. */
  readonly duration: number;
  readonly points: readonly string[];
}

/** In turn: with its children, alone, at a failure point. The times are spread over the duration. */
function chooseKill(random: Random, round: number, { duration, points }: Moments): Kill {
  if (round % 3 === 2 && points.length > 0) return { env: { AGT_TEST_KILL_AT: random.pick(points) } };
  const span = (duration - EARLIEST_MS) / KILLS;
  return { after: EARLIEST_MS + span * (round + random.next()), group: round % 3 === 0 };
}

/** Runs it to its end, so that a kill comes in between. */
async function measure(place: KillPlace, scene: KillScene): Promise<Moments> {
  const points = KILLS > 2 ? await listPoints(place, scene) : [];
  const began = performance.now();
  const { exitCode, stderr } = await attempt(place, scene);
  const duration = performance.now() - began;
  expect(exitCode, stderr).toBe(0);
  scene.check(place, false);
  return { duration: Math.max(EARLIEST_MS * 2, duration), points };
}

async function listPoints(place: KillPlace, scene: KillScene): Promise<string[]> {
  const list = `${place.top}-points`;
  await attempt(place, scene, { env: { AGT_TEST_LIST_POINTS: list } });
  place.reset();
  return existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : [];
}

function attempt(place: KillPlace, scene: KillScene, kill: Kill = {}): Promise<Ended> {
  const { until } = scene;
  const [program = '', ...args] = scene.command(place);
  const hasPoints = kill.env !== undefined && program === AGT;
  const command = hasPoints ? [...KILLABLE, ...args] : throughFront([program, ...args]);
  const ends = until === undefined ? {} : { until: () => until(place) };
  return start(command, scene.cwd?.(place) ?? place.repository, { ...kill, ...ends });
}

/** Returns what is wrong. A restore of the first snapshot takes as long as all the rest: not every round has one. */
async function runAgain(
  place: KillPlace,
  scene: KillScene,
  mayTakeLonger: boolean,
): Promise<string | undefined> {
  try {
    const wasDone = scene.wasDone?.(place) === true;
    scene.beforeAgain?.(place);
    const { exitCode, stderr } = await attempt(place, scene);
    if (exitCode !== 0 && !isDone(scene, stderr)) return `exit code ${exitCode}: ${stderr}`;
    if (stderr.includes('warning: agt:')) return stderr;
    scene.check(place, wasDone);
    place.nothingIsLost();
    if (mayTakeLonger) place.firstComesBack();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The killed command had done all of its work. */
function isDone({ creates, until }: KillScene, stderr: string): boolean {
  // It may get the signal before it looks out for one.
  if (until !== undefined) return stderr === '';
  return creates === true && /exists|already/.test(stderr);
}
