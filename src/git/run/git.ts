/**
 * The door to git for agt mode: one way to run it, with a clean environment and bytes in and out. A git that ran and
 * ended with a code is a result; a git that could not be run is an error. Git mode does not come through here: it
 * becomes git (src/git/run/become.ts).
 */
import { AgtError, EXIT, errorCode } from '../../errors.ts';
import { cleanGitEnvironment, localeOf } from './environment.ts';
import { traceCommand } from './trace.ts';

export interface Git {
  /** Absolute path of the real git. */
  readonly path: string;
  /** Where git runs; absolute. */
  readonly cwd: string;
  /** Already scrubbed (src/git/run/environment.ts). */
  readonly env: NodeJS.ProcessEnv;
  /** The user's own language settings, for calls whose messages the user reads. */
  readonly userLocale: NodeJS.ProcessEnv;
}

export interface GitRun {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  /** Variables on top of the clean environment, such as GIT_INDEX_FILE. */
  readonly env?: Readonly<Record<string, string>>;
  /** 'inherit' shows git's progress and prompts to the user. */
  readonly stderr?: 'pipe' | 'inherit';
  readonly stdout?: 'pipe' | 'inherit' | 'ignore';
  readonly stdin?: 'ignore' | 'inherit';
  /** Ends git (SIGTERM) when it is aborted. */
  readonly cancel?: AbortSignal;
}

/** For what a ref will lead to: on disk when the command ends. git leaves loose objects to the system by default. */
export const FSYNC_ARGS = [
  '-c',
  'core.fsync=objects,derived-metadata,reference',
  '-c',
  'core.fsyncMethod=batch',
];

export function openGit(path: string, cwd: string, env: NodeJS.ProcessEnv): Git {
  return { path, cwd, env: cleanGitEnvironment(env), userLocale: localeOf(env) };
}

export function inDirectory(git: Git, cwd: string): Git {
  return { ...git, cwd };
}

/** Runs git to its end, whatever the exit code. */
export async function runGit(git: Git, args: readonly string[], options: RunOptions = {}): Promise<GitRun> {
  traceCommand(git.env, git.path, args);
  const result = await start(git, args, options);
  if (result.exitCode === undefined) {
    if (result.signal !== undefined) {
      throw new AgtError(`git ${args[0]} was killed by ${result.signal}`, { exitCode: EXIT.git });
    }
    throw cannotRun(git, result.cause ?? new Error(result.shortMessage || 'unknown reason'));
  }
  return {
    exitCode: result.exitCode,
    stdout: asBuffer(result.stdout),
    stderr: asBuffer(result.stderr).toString(),
  };
}

/** @throws AgtError where there are no file descriptors for it; the reason comes as an event that nobody can wait for. */
async function start(git: Git, args: readonly string[], options: RunOptions) {
  // Loaded with the first call: the commonest capture makes none.
  const { execa } = await import('execa');
  try {
    return await execa(git.path, args, {
      cwd: git.cwd,
      env: { ...git.env, ...(options.stderr === 'inherit' ? git.userLocale : {}), ...options.env },
      extendEnv: false,
      encoding: 'buffer',
      stripFinalNewline: false,
      reject: false,
      maxBuffer: Number.POSITIVE_INFINITY,
      stdout: options.stdout ?? 'pipe',
      stderr: options.stderr ?? 'pipe',
      ...(options.cancel === undefined ? {} : { cancelSignal: options.cancel }),
      ...(options.input === undefined ? { stdin: options.stdin ?? 'ignore' } : { input: options.input }),
    });
  } catch (error) {
    throw cannotRun(git, error);
  }
}

/** For a git that was not even started. */
export function cannotRun(git: Git, cause: unknown): AgtError {
  const code = errorCode(cause);
  const reason = /^E[MN]FILE$/.test(code) ? 'too many open files' : code || (cause as Error).message;
  return new AgtError(`cannot run git in ${git.cwd}: ${reason}`, { exitCode: EXIT.git, cause });
}

function asBuffer(bytes: Uint8Array | undefined): Buffer {
  return bytes === undefined
    ? Buffer.alloc(0)
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Standard output of a git call that must succeed. @throws AgtError with git's own words. */
export async function gitBytes(git: Git, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
  const run = await runGit(git, args, options);
  if (run.exitCode !== 0) throw gitFailed(args, run);
  return run.stdout;
}

/** The same as text, without the final line break. */
export async function gitText(git: Git, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return (await gitBytes(git, args, options)).toString().replace(/\n$/, '');
}

/** Text of a question that git may answer with "no": undefined for any exit code but 0. */
export async function gitAnswer(
  git: Git,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string | undefined> {
  const run = await runGit(git, args, options);
  return run.exitCode === 0 ? run.stdout.toString().replace(/\n$/, '') : undefined;
}

/** The object that a name means; undefined if there is none. */
export function resolveObject(git: Git, name: string): Promise<string | undefined> {
  return gitAnswer(git, ['rev-parse', '--verify', '--quiet', '--end-of-options', name]);
}

export function gitFailed(args: readonly string[], run: GitRun): AgtError {
  const [first = `exit code ${run.exitCode}`, ...rest] = run.stderr.split('\n').filter((line) => line !== '');
  const command =
    args.find((arg, i) => !arg.startsWith('-') && !['-c', '-C'].includes(args[i - 1] ?? '')) ?? '';
  return new AgtError(`git ${command} failed: ${first.replace(/^(fatal|error): /, '')}`, {
    exitCode: EXIT.git,
    hints: rest.map((line) => line.replace(/^(hint|fatal|error): /, '')).slice(0, 20),
    cause: run.stderr,
  });
}
