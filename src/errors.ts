/** The error that agt throws on purpose: what failed, why, and what to do next. src/main.ts prints it. */
import { getSystemErrorMessage } from 'node:util';

/** Exit codes. 75 is EX_TEMPFAIL of sysexits.h: another agt is working on the session, try again. */
export const EXIT = { done: 0, failed: 1, usage: 2, busy: 75, git: 128 } as const;

/** For the page: a button, and the options with which the same command goes through. */
export interface WayOut {
  readonly does: string;
  readonly words: readonly string[];
  /** The one of the hints that says the same. */
  readonly hint: string;
}

export interface AgtErrorOptions {
  hints?: string[];
  ways?: readonly WayOut[] | undefined;
  exitCode?: number;
  cause?: unknown;
  /** The signal that killed the git of agt. */
  signal?: NodeJS.Signals | undefined;
  /** The user has been told, or need not be: main prints nothing. */
  isTold?: boolean;
}

export class AgtError extends Error {
  readonly hints: string[];
  readonly ways: readonly WayOut[] | undefined;
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | undefined;
  readonly isTold: boolean;

  constructor(message: string, options: AgtErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AgtError';
    this.hints = options.hints ?? [];
    this.ways = options.ways;
    this.exitCode = options.exitCode ?? EXIT.failed;
    this.signal = options.signal;
    this.isTold = options.isTold === true;
  }
}

/** Compares the name: the two bundles (main and agt mode) each have an AgtError class of their own. */
export function isAgtError(error: unknown): error is AgtError {
  return error instanceof Error && error.name === 'AgtError';
}

/** So many of a list are in a message, and so many in a line of text. */
export const SOME = 10;
export const FEW = 5;

/** `a, b, and 3 more`: the first `most` of a list, and how many others there are. */
export function listSome(words: readonly string[], most = SOME): string {
  return someLines(words, most).join(', ');
}

/** The same as lines. */
export function someLines(lines: readonly string[], most = SOME): string[] {
  const more = lines.length > most ? [`and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most).map(showPath), ...more];
}

/** A path that a person can read and copy: control characters escaped, bytes that are not UTF-8 unchanged. */
export function showPath(path: string): string {
  return /[\u0000-\u001f\u007f]/.test(path) ? JSON.stringify(path) : path;
}

/** `1 file`, `2 files`. */
export function plural(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}

/** The exit code of agt after this error. */
export function exitCodeFor(error: unknown): number {
  return isAgtError(error) ? error.exitCode : EXIT.failed;
}

/** The first failure; "busy" only if nothing worse happened. */
export function worstExitCode(exitCodes: readonly number[]): number {
  const failures = exitCodes.filter((code) => code !== EXIT.done);
  return failures.find((code) => code !== EXIT.busy) ?? failures[0] ?? EXIT.done;
}

export function usageError(message: string, ...hints: string[]): AgtError {
  return new AgtError(message, { exitCode: EXIT.usage, hints });
}

/** `error: …` and `hint: …` lines, in the manner of git. */
export function formatError(error: unknown, debug: boolean): string {
  const [message, hints] = messageOf(error, debug);
  const cause = isAgtError(error) && error.cause !== undefined ? [`caused by: ${describe(error.cause)}`] : [];
  const details = debug ? [describe(error), ...cause] : [];
  return [`error: ${message}`, ...hints.map((hint) => `hint: ${hint}`), ...details]
    .map((line) => `${visible(line)}\n`)
    .join('');
}

/** The name of a file must not move the cursor of a terminal, nor hide a line there. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, (one) => JSON.stringify(one).slice(1, -1));
}

function messageOf(error: unknown, debug: boolean): readonly [message: string, hints: readonly string[]] {
  if (isAgtError(error)) return [error.message, error.hints];
  const system = systemFailure(error);
  if (system !== undefined) return [system, [SYSTEM_HINTS[errorCode(error)] ?? []].flat()];
  const bug = 'this is a bug in agt; please report it with the output of AGT_DEBUG=1';
  return [`internal: ${error instanceof Error ? error.message : String(error)}`, debug ? [] : [bug]];
}

const SYSTEM_HINTS: Readonly<Record<string, string>> = {
  ENOSPC: 'free some disk space, then run the command again',
  EDQUOT: 'free some disk space, then run the command again',
  EACCES: 'agt doctor names the directories in which agt cannot write',
  EROFS: 'the file system is read-only: agt can change nothing there',
};

/** A failed system call in one line: `open /x: no such file or directory`; undefined for any other error. */
export function systemFailure(error: unknown): string | undefined {
  if (!(error instanceof Error && 'syscall' in error && 'errno' in error)) return undefined;
  const path = 'path' in error && typeof error.path === 'string' ? ` ${error.path}` : '';
  return `${String(error.syscall)}${path}: ${systemReason(error)}`;
}

/** Adds the path to a failed call that had only a descriptor: a full disk is noticed by write(2). */
export function nameFile(error: unknown, path: string): unknown {
  return error instanceof Error && 'syscall' in error && !('path' in error)
    ? Object.assign(error, { path })
    : error;
}

/** Why a system call failed: `no such file or directory`. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error && 'errno' in error)) return errorCode(error) || String(error);
  // Some of Node's own errors carry the number without its sign.
  return getSystemErrorMessage(-Math.abs(Number(error.errno))) ?? errorCode(error);
}

/** agt itself has run out of something: no fault of the file. */
const OWN_SHORTAGES = ['EMFILE', 'ENFILE', 'ENOMEM'];

/** Why a path could not be captured or written, if the system refuses it. @throws every other error. */
export function failureReason(verb: string, error: unknown): string {
  const code = errorCode(error);
  if (!(error instanceof Error && 'errno' in error) || OWN_SHORTAGES.includes(code)) throw error;
  return `cannot be ${verb}: ${systemReason(error)} (${code})`;
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

/** The `code` of a system error (`ENOENT`, …), or '' for any other error. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Undefined if `action` throws: for a question that the system need not be able to answer. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** Whether `action` does not throw. */
export function succeeds(action: () => unknown): boolean {
  return attempt(() => ({ result: action() })) !== undefined;
}

/** Undefined if there is no such file. Every other error is thrown. */
export function unlessMissing<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
