/** git mode's own questions to git: synchronous, captured, in the caller's directory and environment. */
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { traceCommand } from './trace.ts';

export interface GitOutput {
  readonly exitCode: number;
  readonly stdout: string;
}

/**
 * The environment stays the caller's, since it decides which repository and configuration git reads; only tracing is
 * switched off, which would print the question among the traces of the command that the user gave.
 */
export function queryGitSync(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
): GitOutput {
  traceCommand(env, path, args);
  const quiet = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_TRACE')));
  const result = spawnSync(path, args, {
    env: { ...quiet, GIT_OPTIONAL_LOCKS: '0' },
    input,
    stdio: ['pipe', 'pipe', 'ignore'],
    maxBuffer: 1 << 30,
    encoding: 'utf8',
  });
  if (result.error !== undefined) throw result.error;
  return { exitCode: result.status ?? 128, stdout: result.stdout };
}

/** Runs git with the caller's own input, error stream and tracing; its standard output comes back. */
export function captureGitSync(path: string, args: readonly string[], env: NodeJS.ProcessEnv): GitOutput {
  traceCommand(env, path, args);
  const result = spawnSync(path, args, {
    env,
    stdio: ['inherit', 'pipe', 'inherit'],
    maxBuffer: 1 << 30,
    encoding: 'latin1',
  });
  if (result.error !== undefined) throw result.error;
  const signal = result.signal === null ? 0 : 128 + (constants.signals[result.signal] ?? 0);
  return { exitCode: result.status ?? signal, stdout: result.stdout };
}
