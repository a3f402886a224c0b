/** Programs with less than this process may do: root is refused nothing unless it gives something up. */
import { spawnSync } from 'node:child_process';
import { AGT, type Outcome, run } from './world.ts';

const ANY_FILE = '-dac_override,-dac_read_search';
const DROP = ['setpriv', `--bounding-set=${ANY_FILE}`, `--inh-caps=${ANY_FILE}`];

/** Why permissions cannot be put to the test here; undefined where they can. */
export function permissionsProblem(): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return spawnSync(DROP[0] as string, [...DROP.slice(1), 'true']).status === 0
    ? undefined
    : 'root reads everything, and setpriv(1) cannot change that here';
}

/** agt as somebody whom permissions concern. */
export function agtWithPermissions(cwd: string, ...args: string[]): Outcome {
  if (process.getuid?.() !== 0) return run(AGT, args, { cwd });
  return run(DROP[0] as string, [...DROP.slice(1), AGT, ...args], { cwd });
}

/** agt with so many open files at most. */
export function agtWithOpenFiles(limit: number, cwd: string, ...args: string[]): Outcome {
  return run('prlimit', [`--nofile=${limit}:${limit}`, AGT, ...args], { cwd });
}
