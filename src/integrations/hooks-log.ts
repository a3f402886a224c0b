/**
 * `agt/hooks.log`: the failures of hooks, one line each. An agent must not stop because agt has failed, and what a hook
 * prints would reach its model. So agt writes it down here, and `agt status` and `agt hooks status` show it.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { isAlive } from '../disk/lock-owner.ts';
import { tryToMakeDirectories } from '../disk/make-directories.ts';
import { readIfThere, readJson } from '../disk/read-file.ts';
import { hooksDirectory, stateDirectory } from '../disk/state-home.ts';
import { AgtError, attempt, isAgtError, systemFailure } from '../errors.ts';
import { shellQuote } from '../process/shell-quote.ts';

/** A longer log loses its first half. */
const LARGEST_LOG = 256 * 1024;

export interface LoggedFailure {
  readonly at: string;
  readonly tool: string;
  readonly event: string;
  /** The directory of the agent. */
  readonly cwd: string;
  readonly reason: string;
  /** A later snapshot settles it. */
  readonly pending?: true;
}

export function hooksLog(stateDir: string): string {
  return join(stateDir, 'hooks.log');
}

/** Never throws. Agents show no standard error of a hook that ends with 0, but some keep it in a log of their own. */
export function logFailure(env: NodeJS.ProcessEnv, failure: Omit<LoggedFailure, 'reason'>, error: unknown) {
  const stateDir = stateDirectory(env);
  if (stateDir === undefined) {
    sayUnlogged(error, 'HOME is not set');
    return;
  }
  const reason = reasonOf(error);
  const line = `${JSON.stringify({ ...failure, reason })}\n`;
  try {
    tryToMakeDirectories(stateDir, 0o700);
    const log = hooksLog(stateDir);
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > LARGEST_LOG) shorten(log);
    appendFileSync(log, line, { mode: 0o600 });
  } catch (problem) {
    const short = JSON.stringify({ ...failure, reason: reason.slice(0, LONGEST_KEPT) });
    if (attempt(() => fillReserve(stateDir, short)) === true) return;
    sayUnlogged(error, systemFailure(problem) ?? String(problem));
  }
}

/** On a full disk the log cannot grow, but this file can be written over. It keeps the last failure. */
const RESERVED_BYTES = 4096;
const LONGEST_KEPT = 500;

export function reserveFile(stateDir: string): string {
  return join(hooksDirectory(stateDir), '.reserve');
}

function makeReserve(stateDir: string): void {
  const path = reserveFile(stateDir);
  if (statSync(path, { throwIfNoEntry: false })?.size === RESERVED_BYTES) return;
  attempt(() => writeFileSync(path, ' '.repeat(RESERVED_BYTES), { mode: 0o600 })); // without hooks, nobody reads it
}

function fillReserve(stateDir: string, line: string): boolean {
  const bytes = Buffer.alloc(RESERVED_BYTES, ' ');
  if (bytes.write(line) < Buffer.byteLength(line)) return false;
  const fd = openSync(reserveFile(stateDir), 'r+');
  try {
    return writeSync(fd, bytes, 0, RESERVED_BYTES, 0) === RESERVED_BYTES;
  } finally {
    closeSync(fd);
  }
}

function sayUnlogged(error: unknown, why: string): void {
  process.stderr.write(`agt: ${reasonOf(error)} (not in hooks.log: ${why}); see: agt doctor\n`);
}

function reasonOf(error: unknown): string {
  if (isAgtError(error)) return [error.message, ...error.hints].join('; ');
  return systemFailure(error) ?? (error instanceof Error ? error.message : String(error));
}

function shorten(log: string): void {
  const text = readFileSync(log, 'utf8');
  writeFileAtomic(log, text.slice(text.indexOf('\n', text.length / 2) + 1), { cache: true });
}

/** Oldest first; empty if nothing has failed. */
export function readFailures(env: NodeJS.ProcessEnv): LoggedFailure[] {
  const stateDir = stateDirectory(env);
  if (stateDir === undefined) return [];
  const lines = [hooksLog(stateDir), reserveFile(stateDir)].flatMap((file) => readIfThere(file).split('\n'));
  // A power cut left a part of a line.
  const failures = lines.flatMap((line) => attempt(() => JSON.parse(line) as LoggedFailure) ?? []);
  return failures.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** `agt status` shows failures of the last day, at most so many. */
const SHOWN_MS = 24 * 60 * 60 * 1000;
const MOST_SHOWN = 5;

/** The latest failures of agents that worked in one of the folders, without those that are settled. */
export function recentFailures(
  env: NodeJS.ProcessEnv,
  folders: readonly string[],
  now: Date,
  isSettled: (failure: LoggedFailure) => boolean,
): LoggedFailure[] {
  const isInside = (cwd: string) => folders.some((folder) => `${cwd}/`.startsWith(`${folder}/`));
  return readFailures(env)
    .filter(({ at, cwd }) => now.getTime() - Date.parse(at) < SHOWN_MS && isInside(cwd))
    .filter((failure) => !isSettled(failure))
    .slice(-MOST_SHOWN);
}

/** The last event that a hook of a tool has brought. */
type LastEvent = Pick<LoggedFailure, 'at' | 'event' | 'cwd'>;

function lastEventFile(stateDir: string, tool: string): string {
  return join(hooksDirectory(stateDir), `${tool}.last`);
}

/** Only for hooks that agt has installed: otherwise nobody would ever delete the file. */
export function writeLastEvent(env: NodeJS.ProcessEnv, tool: string, last: LastEvent): void {
  const stateDir = stateDirectory(env);
  if (stateDir === undefined || !existsSync(hooksDirectory(stateDir))) return;
  // It is for information alone.
  attempt(() => writeFileAtomic(lastEventFile(stateDir, tool), JSON.stringify(last), { cache: true }));
}

export function readLastEvent(env: NodeJS.ProcessEnv, tool: string): LastEvent | undefined {
  const stateDir = stateDirectory(env);
  if (stateDir === undefined) return undefined;
  return readJson(lastEventFile(stateDir, tool)) as LastEvent | undefined;
}

/**
 * `hooks/.running-<pid>`: a hook that is at work, for as long as it is. An agent kills a hook that takes longer than it
 * allows, and then nothing else tells of it. `agt status` finds the note and writes the failure down. The note is a link
 * that leads nowhere: the system makes one in a single call, and its target is the text.
 */
const PREFIX = '.running-';

type RunningHook = Pick<LoggedFailure, 'at' | 'tool' | 'event' | 'cwd'>;

/** Only for hooks that agt has installed. Returns what removes the note again. */
export function noteRunning(env: NodeJS.ProcessEnv, hook: RunningHook): () => void {
  const stateDir = stateDirectory(env);
  if (stateDir === undefined) return () => {};
  makeReserve(stateDir);
  const path = join(hooksDirectory(stateDir), `${PREFIX}${process.pid}`);
  const isNoted = attempt(() => symlinkSync(JSON.stringify(hook), path) === undefined);
  return () => {
    if (isNoted) attempt(() => unlinkSync(path)); // the hooks may have been uninstalled meanwhile
  };
}

/** Writes those down that were killed. */
export function logKilled(env: NodeJS.ProcessEnv): void {
  const stateDir = stateDirectory(env);
  if (stateDir === undefined) return;
  for (const path of runningHooks(stateDir)) {
    if (isAlive(Number(path.slice(path.lastIndexOf('-') + 1)))) continue;
    attempt(() => {
      const hook = JSON.parse(readlinkSync(path)) as RunningHook;
      unlinkSync(path);
      const problem = 'agt was killed before its snapshot was complete; the next one has the changes';
      const hints = [`to take one now: agt -C ${shellQuote(hook.cwd)} snapshot`];
      logFailure(env, { ...hook, pending: true }, new AgtError(problem, { hints }));
    }); // another agt may have been faster
  }
}

/** Paths. */
export function runningHooks(stateDir: string): string[] {
  const directory = hooksDirectory(stateDir);
  const names = attempt(() => readdirSync(directory)) ?? [];
  return names.filter((name) => name.startsWith(PREFIX)).map((name) => join(directory, name));
}
