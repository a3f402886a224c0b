/** Runs git synchronously: for git mode in the caller's environment, and for listings of agt mode. */
import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import type { Git } from './git.ts';
import { withInherited } from './inherited-descriptors.ts';
import { traceCommand } from './trace.ts';

export interface GitOutput {
  readonly exitCode: number;
  readonly stdout: string;
}

/** More output than any list of refs has: a gigabyte. */
const MAX_OUTPUT = 1 << 30;

function runSync(
  path: string,
  args: readonly string[],
  options: SpawnSyncOptions & { env: NodeJS.ProcessEnv },
) {
  traceCommand(options.env, path, args);
  return spawnSync(path, args, { ...options, maxBuffer: MAX_OUTPUT, encoding: null });
}

/**
 * Asks git what the user did not ask. The environment stays the caller's, which decides what git reads; but tracing
 * is off, because the question would appear among the traces of the user's own command.
 */
export function queryGitSync(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
): GitOutput {
  const withoutTracing = Object.entries(env).filter(([name]) => !name.startsWith('GIT_TRACE'));
  const quiet = { ...Object.fromEntries(withoutTracing), GIT_OPTIONAL_LOCKS: '0' };
  const result = runSync(path, args, { env: quiet, input, stdio: ['pipe', 'pipe', 'ignore'] });
  if (result.error !== undefined) throw result.error;
  return { exitCode: result.status ?? 128, stdout: result.stdout.toString() };
}

/** Runs the user's command with the caller's own input, error stream and tracing. Returns its standard output. */
export function captureGitSync(path: string, args: readonly string[], env: NodeJS.ProcessEnv): GitOutput {
  const result = runSync(path, args, { env, stdio: withInherited(['inherit', 'pipe', 'inherit']) });
  if (result.error !== undefined) throw result.error;
  const bySignal = result.signal === null ? 0 : 128 + (constants.signals[result.signal] ?? 0);
  return { exitCode: result.status ?? bySignal, stdout: result.stdout.toString('latin1') };
}

/** Undefined for any exit code but 0, and if git cannot be started. `env` is added to the clean environment. */
export function askGitSync(
  git: Git,
  args: readonly string[],
  { input = '', env = {} }: { input?: string | Buffer; env?: Readonly<Record<string, string>> } = {},
): Buffer | undefined {
  const own = { cwd: git.cwd, env: { ...git.env, ...env } };
  const result = runSync(git.path, args, { ...own, input, stdio: ['pipe', 'pipe', 'ignore'] });
  return result.status === 0 ? result.stdout : undefined;
}
