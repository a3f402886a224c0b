/**
 * How agt mode runs git: with a clean environment, bytes in and bytes out. If git ran and ended with an exit code, that is
 * a result; if git could not be run, that is an error. Git mode does not use this module: it becomes git (become.ts).
 */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { AgtError, EXIT, errorCode } from '../../errors.ts';
import { endProgress } from '../../process/progress.ts';
import { cleanGitEnvironment, forOwnerAlone, type Git, localeOf } from './environment.ts';
import { withoutPrograms, withoutWorktreePrograms } from './programs.ts';
import { traceCommand } from './trace.ts';

export type { Git };

export interface GitRun {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  /** Variables to add to the clean environment, such as GIT_INDEX_FILE. */
  readonly env?: Readonly<Record<string, string>>;
  /** 'inherit' shows the user git's progress and prompts. */
  readonly stderr?: 'pipe' | 'inherit';
  readonly stdout?: 'pipe' | 'inherit' | 'ignore';
  readonly stdin?: 'ignore' | 'inherit';
  /** When it is aborted, git is ended by SIGTERM. */
  readonly cancel?: AbortSignal;
  /** The new files are for their owner alone. */
  readonly isPrivate?: boolean;
  /** An interrupt from the terminal does not reach git: the step is short and must not be cut. */
  readonly detached?: true;
}

/**
 * For commands that write objects to which a ref will lead: makes git flush them to disk before it ends. By default git
 * leaves loose objects to the system's cache.
 */
export const FSYNC_ARGS = [
  '-c',
  'core.fsync=objects,derived-metadata,reference',
  '-c',
  'core.fsyncMethod=batch',
];

/** Settings of the user that would make git write another kind of index, or not a whole one. */
export const PLAIN_INDEX = [
  'core.splitIndex=false',
  'index.sparse=false',
  'core.sparseCheckout=false',
].flatMap((setting) => ['-c', setting]);

export function openGit(path: string, cwd: string, env: NodeJS.ProcessEnv): Git {
  const git = { path, cwd, env: cleanGitEnvironment(env), userLocale: localeOf(env) };
  return withoutPrograms(git);
}

export function inDirectory(git: Git, cwd: string): Git {
  return withoutWorktreePrograms({ ...git, cwd });
}

/** Runs git to its end. Any exit code is a result. */
export async function runGit(git: Git, args: readonly string[], options: RunOptions = {}): Promise<GitRun> {
  traceCommand(git.env, git.path, args);
  if (options.stderr === 'inherit') endProgress();
  const result = await start(git, args, options);
  if (result.exitCode === undefined) {
    if (result.signal !== undefined) throw killedBy(result.signal, args);
    throw cannotRun(git, result.cause ?? new Error(result.shortMessage || 'unknown reason'));
  }
  return {
    exitCode: result.exitCode,
    stdout: asBuffer(result.stdout),
    stderr: asBuffer(result.stderr).toString(),
  };
}

/** @throws AgtError if git cannot be started. */
async function start(git: Git, args: readonly string[], options: RunOptions) {
  // Loaded by the first call: an autocommit without changes makes none.
  const { execa } = await import('execa');
  requireDescriptors(git);
  try {
    const run = () =>
      execa(git.path, args, {
        cwd: git.cwd,
        env: { ...git.env, ...(options.stderr === 'inherit' ? git.userLocale : {}), ...options.env },
        extendEnv: false,
        encoding: 'buffer',
        stripFinalNewline: false,
        reject: false,
        maxBuffer: Number.POSITIVE_INFINITY,
        stdout: options.stdout ?? 'pipe',
        stderr: options.stderr ?? 'pipe',
        ...(options.detached === undefined ? {} : { detached: true }),
        ...(options.cancel === undefined ? {} : { cancelSignal: options.cancel }),
        ...(options.input === undefined ? { stdin: options.stdin ?? 'ignore' } : { input: options.input }),
      });
    return await (options.isPrivate === true ? forOwnerAlone(run) : run());
  } catch (error) {
    throw cannotRun(git, error);
  }
}

/** Two for each of three pipes, two with which Node watches the start, and two more for those that git opens first. */
const FOR_ONE_GIT = 10;

/**
 * Call it right before a git is started. Without free file descriptors Node returns a child without streams and reports
 * the reason later, in an event that execa waits for in vain: it would end agt in the middle of its work.
 * @throws AgtError if there are too few.
 */
export function requireDescriptors(git: Git): void {
  const taken: number[] = [];
  try {
    while (taken.length < FOR_ONE_GIT) taken.push(openSync(devNull, 'r'));
  } catch (error) {
    throw cannotRun(git, error);
  } finally {
    for (const fd of taken) closeSync(fd);
  }
}

export function killedBy(signal: NodeJS.Signals, args: readonly string[]): AgtError {
  return new AgtError(`git ${commandIn(args)} was killed by ${signal}`, { exitCode: EXIT.git, signal });
}

/** The error for a git that could not be started. */
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

/** Standard output of a git call that must succeed. @throws AgtError with git's own message. */
export async function gitBytes(git: Git, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
  for (let locks = 0; ; locks++) {
    const run = await runGit(git, args, options);
    if (run.exitCode === 0) return run.stdout;
    const { isLockGone, MOST_LOCKS } = await import('./past-dead-locks.ts');
    if (locks === MOST_LOCKS || !(await isLockGone(git, run.stderr))) throw gitFailed(args, run);
  }
}

/** The same as text, without the final line break. */
export async function gitText(git: Git, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return (await gitBytes(git, args, options)).toString().replace(/\n$/, '');
}

/** Output of a git call that may answer "no": undefined for any exit code but 0. */
export async function gitAnswer(
  git: Git,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string | undefined> {
  const run = await runGit(git, args, options);
  return run.exitCode === 0 ? run.stdout.toString().replace(/\n$/, '') : undefined;
}

/** The object name that git finds for `name`, such as `HEAD^{tree}`; undefined if there is none. */
export function resolveObject(git: Git, name: string): Promise<string | undefined> {
  return gitAnswer(git, ['rev-parse', '--verify', '--quiet', '--end-of-options', name]);
}

/** As many lines of git's messages as fit on a screen with the prompt. */
const MAX_HINTS = 20;

/** The error for a git that ran and failed: its first line, without warnings, is the message, the others are hints. */
export function gitFailed(args: readonly string[], run: GitRun): AgtError {
  const lines = run.stderr.split('\n').filter((line) => line !== '');
  const first =
    lines.find((line) => !line.startsWith('warning: ')) ?? lines[0] ?? `exit code ${run.exitCode}`;
  const rest = lines.filter((line) => line !== first);
  return new AgtError(`git ${commandIn(args)} failed: ${first.replace(/^(fatal|error): /, '')}`, {
    exitCode: EXIT.git,
    hints: rest.map((line) => line.replace(/^(hint|fatal|error): /, '')).slice(0, MAX_HINTS),
    cause: run.stderr,
  });
}

/** @throws AgtError if git refuses the repository, with git's own reason and advice. */
export async function requireUsable(git: Git): Promise<void> {
  const { exitCode, stderr } = await runGit(git, ['rev-parse', '--git-dir']);
  if (exitCode !== 0) throw unusable(git.cwd, stderr);
}

/** The error for a repository that git refuses. */
export function unusable(place: string, stderr: string): AgtError {
  const [reason = '', ...rest] = stderr.trim().split('\n');
  const command = rest.find((line) => line.startsWith('\t'))?.trim();
  return new AgtError(
    `git cannot use ${place}: ${reason.replace(/^fatal: /, '').replace(/ \(or any .*$/, '')}`,
    {
      exitCode: EXIT.git,
      hints: command === undefined ? [] : [command],
    },
  );
}

/** The command in git's arguments, without options before it and their values. */
function commandIn(args: readonly string[]): string {
  return args.find((arg, i) => !arg.startsWith('-') && !['-c', '-C'].includes(args[i - 1] ?? '')) ?? '';
}
