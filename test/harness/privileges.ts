/** Runs agt with fewer privileges than the tests, since root may read everything. */
import { spawnSync } from 'node:child_process';
import { AGT, type Outcome, run } from './world.ts';

const ANY_FILE = '-dac_override,-dac_read_search';
const DROP = ['setpriv', `--bounding-set=${ANY_FILE}`, `--inh-caps=${ANY_FILE}`];

/** Why permissions cannot be tested here; undefined if they can. */
export function permissionsProblem(): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return spawnSync(DROP[0] as string, [...DROP.slice(1), 'true']).status === 0
    ? undefined
    : 'root reads everything, and setpriv(1) cannot change that here';
}

/** Runs agt as a user whom permissions restrict. */
export function agtWithPermissions(cwd: string, ...args: string[]): Outcome {
  if (process.getuid?.() !== 0) return run(AGT, args, { cwd });
  return run(DROP[0] as string, [...DROP.slice(1), AGT, ...args], { cwd });
}

/** Runs agt with a limit of open files. */
export function agtWithOpenFiles(limit: number, cwd: string, ...args: string[]): Outcome {
  return run('prlimit', [`--nofile=${limit}:${limit}`, AGT, ...args], { cwd });
}
