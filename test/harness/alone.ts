/**
 * Runs agt where /proc shows no other processes: a restore by swap needs to see that nobody works in the folder, and some
 * machines show not even root what every process does.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Outcome, run } from './world.ts';

const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child'];

/** Why that is not possible here; undefined if it is. */
export function aloneProblem(): string | undefined {
  const { status, stderr } = spawnSync('unshare', [...UNSHARE, 'true'], { encoding: 'utf8' });
  return status === 0 ? undefined : `unshare(1) cannot make a namespace of processes: ${stderr}`;
}

const BUNDLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

/** The test build, which does without the processes outside, and for which 40 paths are many. */
const TEST_BUILD = { agt: `${process.execPath} ${BUNDLE}`, AGT_TEST_ALONE: '1', AGT_TEST_MANY: '40' };

/** A shell script in which `$agt` is the test build. When it ends, so do all processes that it has started. */
export function scriptAlone(cwd: string, script: string, env: Record<string, string> = {}): Outcome {
  return run('unshare', [...UNSHARE, 'sh', '-c', script], { cwd, env: { ...TEST_BUILD, ...env } });
}

/** The test build. A process that kills itself must not be the first one of its namespace. */
export function tryAlone(cwd: string, args: readonly string[], env: Record<string, string> = {}): Outcome {
  const words = ['sh', '-c', '$agt "$@"; exit $?', 'sh', ...args];
  return run('unshare', [...UNSHARE, ...words], { cwd, env: { ...TEST_BUILD, ...env } });
}

/** The test build, for which as many paths are many as for the built agt. */
export function agtAlone(cwd: string, ...args: string[]): string {
  const words = [...UNSHARE, process.execPath, BUNDLE, ...args];
  const { exitCode, stdout, stderr } = run('unshare', words, { cwd, env: { AGT_TEST_ALONE: '1' } });
  if (exitCode !== 0) throw new Error(`agt ${args.join(' ')}: ${exitCode}\n${stdout}${stderr}`);
  return stdout.replace(/\n$/, '');
}
