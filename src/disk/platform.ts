/**
 * How agt asks this system about processes, open files and mounts. Linux answers in /proc. Without /proc, as on macOS,
 * agt asks ps, lsof and mount. Where those do not answer either, the answer is undefined, and a caller that would delete
 * or take over something leaves it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from '../once.ts';

export const hasProc = once(() => existsSync('/proc/self/stat'));

/** An agent may have put programs of these names on PATH. */
const DIRECTORIES = ['/bin', '/usr/bin', '/sbin', '/usr/sbin'];

const LONGEST_MS = 30_000;

/** The output, one byte per character; undefined if there is none. */
export function askSystem(name: 'lsof' | 'mount' | 'ps', ...args: readonly string[]): string | undefined {
  const program = DIRECTORIES.map((directory) => `${directory}/${name}`).find((path) => existsSync(path));
  if (program === undefined) return undefined;
  const { status, stdout } = spawnSync(program, args, {
    cwd: '/',
    env: { PATH: DIRECTORIES.join(':'), LC_ALL: 'C', TZ: 'UTC' },
    encoding: 'latin1',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: LONGEST_MS,
    maxBuffer: 2 ** 28,
  });
  return stdout !== '' && (status === 0 || (name === 'lsof' && status === 1)) ? stdout : undefined;
}
