/** Runs a program under strace(1), which logs system calls or makes some of them fail. */
import { spawnSync } from 'node:child_process';
import { type Outcome, run } from './world.ts';

export const NO_STRACE = 'there is no strace(1), or it may not look at processes';

export const straceWorks =
  spawnSync('strace', ['-f', '-qq', '-e', 'inject=fsync:error=EIO', '-o', '/dev/null', 'true']).status === 0;

/** Writes the system calls to `log`. */
export function strace(
  log: string,
  options: readonly string[],
  command: readonly string[],
  cwd: string,
): Outcome {
  return run('strace', ['-f', '-o', log, ...options, ...command], { cwd });
}
