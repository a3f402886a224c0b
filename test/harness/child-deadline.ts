/**
 * A program that a test waits for without looking at anything else would stop its worker for ever. After this time it is
 * killed, and the test fails. This holds for everything in a worker: the functions of node:child_process are replaced.
 */
import childProcess, { type SpawnSyncOptions, type SpawnSyncReturns } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

/** Less than a test has: vitest.config.ts. */
export const DEADLINE_MS = Number(process.env['AGT_TEST_DEADLINE_MS'] ?? 150_000);

type Rest = [args?: readonly string[] | SpawnSyncOptions, options?: SpawnSyncOptions];

/** Both functions take the arguments and the options, or one of them. */
function withDeadline(rest: Rest): { args: readonly string[]; options: SpawnSyncOptions } {
  const [args, options] = Array.isArray(rest[0]) ? [rest[0], rest[1]] : [[], rest[1] ?? rest[0]];
  return { args, options: { timeout: DEADLINE_MS, killSignal: 'SIGKILL', ...(options as SpawnSyncOptions) } };
}

function throwIfLate(error: unknown, program: string, args: readonly string[], limit = 0): void {
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT')
    throw new Error(`killed after ${limit / 1000} seconds: ${[program, ...args].join(' ')}`);
}

const { spawnSync, execFileSync } = childProcess;

Object.assign(childProcess, {
  spawnSync(program: string, ...rest: Rest): SpawnSyncReturns<string | Buffer> {
    const { args, options } = withDeadline(rest);
    const result = spawnSync(program, args, options);
    throwIfLate(result.error, program, args, options.timeout);
    return result;
  },
  execFileSync(program: string, ...rest: Rest): string | Buffer {
    const { args, options } = withDeadline(rest);
    try {
      return execFileSync(program, args, options);
    } catch (error) {
      throwIfLate(error, program, args, options.timeout);
      throw error;
    }
  },
});
syncBuiltinESMExports();
