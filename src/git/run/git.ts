/**
 * How agt mode runs git: with a clean environment, bytes in and bytes out. If git ran and ended with an exit code,
 * that is a result; if git could not be run, that is an error. Git mode does not use this module: it becomes git
 * (become.ts).
 */
import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants, devNull } from 'node:os';
import { AgtError, EXIT, errorCode, isAgtError } from '../../errors.ts';
import {
  areInterruptsHeld,
  hearingAlone,
  isInterrupted,
  onSignals,
  othersHear,
  throwIfInterrupted,
} from '../../process/interrupts.ts';
import { endProgress } from '../../process/progress.ts';
import { shortBranch } from '../files/ref-files.ts';
import { cleanGitEnvironment, forOwnerAlone, type Git, localeOf } from './environment.ts';
import { withoutPrograms, withoutWorktreePrograms } from './programs.ts';
import { traceCommand } from './trace.ts';

export type { Git };

export interface GitRun {
  readonly exitCode: number;
  /** Empty if `onOutput` got it. */
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  /** Variables to add to the clean environment, such as GIT_INDEX_FILE. */
  readonly env?: Readonly<Record<string, string>>;
  /** 'inherit' shows the user git's progress and prompts. */
  readonly stderr?: 'pipe' | 'inherit' | number;
  readonly stdout?: 'pipe' | 'inherit' | 'ignore' | number;
  readonly stdin?: 'ignore' | 'inherit';
  /** Gets standard output as it comes, instead of the result. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** When it is aborted, git is ended by SIGTERM. */
  readonly cancel?: AbortSignal;
  /** The new files are for their owner alone. */
  readonly isPrivate?: boolean;
  /**
   * An interrupt from the terminal does not reach git: the step is short and must not be cut. Default: while agt holds
   * interrupts, unless git shares a stream with the user.
   */
  readonly detached?: boolean;
}

/** For objects to which a ref will lead: git flushes them to disk, which by default it does not. */
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

/** In another repository, which has no scratch objects of this one. */
export function inOtherRepository(git: Git, cwd: string): Git {
  return inDirectory({ ...git, env: { ...git.env, GIT_OBJECT_DIRECTORY: undefined } }, cwd);
}

/** Runs git to its end. When it returns its promise, git has been started and has its input. Any exit code is a result. */
export async function runGit(git: Git, args: readonly string[], options: RunOptions = {}): Promise<GitRun> {
  const { input, stdin = 'ignore', stdout = 'pipe', stderr = 'pipe', detached, cancel } = options;
  if (stderr === 'inherit') endProgress();
  const env = { ...git.env, ...(stderr === 'inherit' ? git.userLocale : {}), ...options.env };
  const stdio: StdioOptions = [input === undefined ? stdin : 'pipe', stdout, stderr];
  const start = () => spawnGit({ ...git, env }, args, { stdio, ...(detached !== undefined && { detached }) });
  const child = options.isPrivate === true ? forOwnerAlone(start) : start();
  if (detached !== true) endWithAgt(child);
  cancel?.addEventListener('abort', () => child.kill());
  if (cancel?.aborted === true) child.kill();
  const end = await endOf(child, input, options.onOutput).catch((error: unknown) => {
    throw cannotRun(git, error);
  });
  if (end.signal === null) return { ...end, exitCode: end.exitCode ?? -1 };
  const message = `git ${commandIn(args)} was killed by ${end.signal}`;
  throw new AgtError(message, { exitCode: EXIT.git, signal: end.signal });
}

/** Starts git in its directory and environment. @throws AgtError if it cannot be started. */
export function spawnGit(git: Git, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  traceCommand(git.env, git.path, args);
  requireDescriptors(git);
  throwIfInterrupted();
  const detached = areInterruptsHeld() && ![options.stdio].flat().includes('inherit');
  try {
    return spawn(git.path, args, { cwd: git.cwd, env: git.env, detached, ...options });
  } catch (error) {
    throw cannotRun(git, error);
  }
}

export interface GitEnd extends Omit<GitRun, 'exitCode'> {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Without `input`, its standard input stays open. @throws the system's error if it could not be started. */
export function endOf(
  child: ChildProcess,
  input?: string | Uint8Array,
  onOutput?: (chunk: Buffer) => void,
): Promise<GitEnd> {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on('data', onOutput ?? ((chunk: Buffer) => stdout.push(chunk)));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin?.on('error', () => undefined); // it has ended: its exit code is the result
  if (input !== undefined) child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) =>
      resolve({ exitCode, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
    );
  });
}

const running = new Set<ChildProcess>();
let release = () => {};

/** A signal that ends agt ends its git: a repack would otherwise go on for minutes. */
function endWithAgt(child: ChildProcess): void {
  if (running.size === 0) release = onSignals(endAll);
  running.add(child);
  const forget = () => {
    running.delete(child);
    if (running.size === 0) release();
  };
  child.on('close', forget).on('error', forget);
}

function endAll(signal: NodeJS.Signals): void {
  if (isInterrupted()) for (const child of running) child.kill();
  if (othersHear(signal, endAll)) return;
  for (const child of running) child.kill();
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Two for each of three pipes, two with which Node watches the start, and two more for those that git opens first. */
const FOR_ONE_GIT = 10;

/** Without free descriptors Node returns a child without streams, and says why later. @throws AgtError */
function requireDescriptors(git: Git): void {
  const taken: number[] = [];
  try {
    while (taken.length < FOR_ONE_GIT) taken.push(openSync(devNull, 'r'));
  } catch (error) {
    throw cannotRun(git, error);
  } finally {
    for (const fd of taken) closeSync(fd);
  }
}

/** The error for a git that could not be started. */
export function cannotRun(git: Git, cause: unknown): AgtError {
  const code = errorCode(cause);
  const reason = /^E[MN]FILE$/.test(code) ? 'too many open files' : code || (cause as Error).message;
  return new AgtError(`cannot run ${git.path} in ${git.cwd}: ${reason}`, { exitCode: EXIT.git, cause });
}

/** Standard output of a git call that must succeed. @throws AgtError with git's own message. */
export async function gitBytes(git: Git, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
  for (let locks = 0; ; locks++) {
    const run = await runGit(git, args, options);
    if (run.exitCode === 0) return run.stdout;
    const { isLockGone, MOST_LOCKS } = await import('../files/ref-locks.ts');
    if (locks === MOST_LOCKS || !(await isLockGone(git, run.stderr))) throw gitFailed(args, run);
  }
}

/** The same as text, without the final line break. */
export async function gitText(git: Git, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return (await gitBytes(git, args, options)).toString().replace(/\n$/, '');
}

/** The fields of an output with `-z`, one byte per character. */
export function fieldsOf(output: Buffer): string[] {
  const fields = output.toString('latin1').split('\0');
  return fields.filter((field) => field !== '');
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

/** The lines that git prints. */
export async function gitLines(git: Git, args: readonly string[], options?: RunOptions): Promise<string[]> {
  return (await gitText(git, args, options)).split('\n').filter((line) => line !== '');
}

/** For the standard input of a git that reads lines. */
export function asLines(words: Iterable<string>): string {
  return Array.from(words, (word) => `${word}\n`).join('');
}

export async function isAncestor(git: Git, older: string, newer: string): Promise<boolean> {
  return (await gitAnswer(git, ['merge-base', '--is-ancestor', older, newer])) !== undefined;
}

/** The object name that git finds for `name`, such as `HEAD^{tree}`; undefined if there is none. */
export function resolveObject(git: Git, name: string): Promise<string | undefined> {
  return gitAnswer(git, ['rev-parse', '--verify', '--quiet', '--end-of-options', name]);
}

/** Commands of `git update-ref --stdin`, in one transaction. On a disk that fails, git can still do some of them. */
export async function updateRefs(git: Git, lines: readonly string[], reason?: string): Promise<void> {
  if (lines.length === 0) return;
  const message = reason === undefined ? [] : ['-m', reason];
  await gitText(git, [...FSYNC_ARGS, 'update-ref', ...message, '--stdin'], { input: asLines(lines) });
}

/** Its upstream and other settings, as `git branch -d` deletes them. There may be none. */
export async function dropBranchSettings(git: Git, ref: string): Promise<void> {
  await runGit(git, ['config', '--remove-section', `branch.${shortBranch(ref)}`]);
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
  const [advised] = rest.filter((line) => line.startsWith('\t')).map((line) => line.trim());
  const isOfGit = /^(fatal|error|warning): /.test(reason);
  const hints = advised ? [advised] : isOfGit ? [] : ['see whether that is git: agt doctor'];
  const said = reason.replace(/^fatal: /, '').replace(/ \(or any .*$/, '');
  return new AgtError(`git cannot use ${place}: ${said}`, { exitCode: EXIT.git, hints });
}

/** The command in git's arguments, without options before it and their values. */
function commandIn(args: readonly string[]): string {
  return args.find((arg, i) => !arg.startsWith('-') && !['-c', '-C'].includes(args[i - 1] ?? '')) ?? '';
}

/** Runs git on the user's terminal, and leaves an interrupt to git and its pager. Returns git's exit code. */
export async function runGitOnTerminal(git: Git, args: readonly string[]): Promise<number> {
  const streams = { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' } as const;
  const run = () => runGit(git, args, streams);
  try {
    return (await hearingAlone(['SIGINT'], () => undefined, run)).exitCode;
  } catch (error) {
    // A pager that the user quits ends git by a signal. As in a shell, that is an exit code and no error.
    if (isAgtError(error) && error.signal !== undefined) return 128 + constants.signals[error.signal];
    throw error;
  }
}
