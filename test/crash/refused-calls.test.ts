/**
 * Every command while one system call fails in agt or in its git (EIO, ENOSPC; by strace(1)). The command reports it or
 * does its work all the same, and the repository is then as after a kill.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NO_STRACE, strace, straceWorks } from '../harness/strace.ts';
import { ofToday } from '../harness/today.ts';
import { AGT, makeTempDir, type Outcome } from '../harness/world.ts';
import { recovers, Stage } from './aftermath.ts';
import { type Place, SCENES } from './scenes.ts';

/** How many calls of each command fail, one at a time: a number, or `all`. */
const WANTED = process.env['AGT_TEST_REFUSALS'] ?? '1';
const CALLS = ['rename', 'fsync', 'link', 'mkdir', 'unlink', 'rmdir', 'chmod', 'symlink', 'ftruncate'];

interface Refusal {
  readonly call: string;
  readonly error: string;
  /** The number of the call within its process or thread. */
  readonly which: number;
}

/** Undefined if there was no such call. */
function refused(
  { repository }: Place,
  { call, error, which }: Refusal,
  command: readonly string[],
): Outcome | undefined {
  const log = join(makeTempDir('strace'), 'log');
  const rule = `inject=${call}:error=${error}:when=${which}`;
  const options = ['-qq', '-e', `trace=${call}`, '-e', rule];
  const outcome = strace(log, options, [AGT, ...command], repository);
  return readFileSync(log, 'latin1').includes('(INJECTED)') ? outcome : undefined;
}

test.for(ofToday(SCENES))('$name', { timeout: WANTED === 'all' ? 3_600_000 : 300_000 }, (scene, { skip }) => {
  const { command } = scene;
  skip(!straceWorks, NO_STRACE);
  const stage = new Stage(scene);
  const { place } = stage;
  const failures: string[] = [];
  let met = 0;
  const meet = (refusal: Refusal): boolean => {
    stage.reset();
    const outcome = refused(place, refusal, command);
    if (outcome === undefined) return false;
    met++;
    try {
      if (outcome.exitCode === 0) expect(outcome.stdout).not.toBe('');
      else expect(outcome.stderr).toMatch(/^(error|warning): /m);
      expect(outcome.stderr).not.toContain('internal');
      recovers(place, scene, met);
    } catch (error) {
      const what = `${refusal.call} ${refusal.which}: ${refusal.error}`;
      const { stack, actual } = error as Error & { actual?: unknown };
      failures.push([what, JSON.stringify(outcome), stack, JSON.stringify(actual)].join('\n'));
    }
    return true;
  };
  if (WANTED === 'all') {
    for (const call of CALLS)
      for (let which = 1; meet({ call, error: which % 2 === 0 ? 'EIO' : 'ENOSPC', which }); which++);
  } else {
    while (met < Number(WANTED)) {
      const call = CALLS[Math.floor(Math.random() * CALLS.length)] as string;
      meet({ call, error: 'EIO', which: 1 + Math.floor(Math.random() * 6) });
    }
  }
  console.log(`${met} refused calls of agt ${command.join(' ')}`);
  expect(failures.join('\n\n')).toBe('');
});
