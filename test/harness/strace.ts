/** strace(1): a look at the system calls of a program and of what it starts, or a refusal of some. */
import { spawnSync } from 'node:child_process';
import { type Outcome, run } from './world.ts';

export const NO_STRACE = 'there is no strace(1), or it may not look at processes';

export const straceWorks =
  spawnSync('strace', ['-f', '-qq', '-e', 'inject=fsync:error=EIO', '-o', '/dev/null', 'true']).status === 0;

/** `log` is where the calls go. */
export function strace(
  log: string,
  options: readonly string[],
  command: readonly string[],
  cwd: string,
): Outcome {
  return run('strace', ['-f', '-o', log, ...options, ...command], { cwd });
}
