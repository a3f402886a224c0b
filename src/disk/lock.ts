/**
 * One process at a time on a session. A lock is a file that names its owner; it appears whole, by link(2), and is taken
 * over when the owner is gone: the process ended, its number went to another one, or the machine was started anew. Of an
 * owner in another container nothing can be known; its lock stands for longer than any work on a session takes.
 */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { AgtError, EXIT, errorCode } from '../errors.ts';
import { failurePoint } from './failure-point.ts';

interface Owner {
  readonly pid: number;
  /** Start time of the process in the kernel's ticks; empty where /proc is not there. */
  readonly started: string;
  /** Changes with every boot; empty where /proc is not there. */
  readonly boot: string;
  /** Machine and process namespace: where the number means the same process. */
  readonly place: string;
}

/** How long a lock that is being broken may take before that is itself taken for abandoned. */
const BREAKING_MS = 30_000;
/** How long the lock of an owner that cannot be looked at stands. */
const FOREIGN_MS = 30 * 60_000;

/** @throws AgtError with exit code 75 while another process holds the lock. */
export async function withLock<T>(path: string, what: string, action: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  const own = JSON.stringify(identify(process.pid));
  if (!tryLink(path, own) && !(breakStale(path, own) && tryLink(path, own))) {
    throw new AgtError(`${what} is being worked on by another agt`, {
      exitCode: EXIT.busy,
      hints: ['try again in a moment', `if none is running: rm ${path}`],
    });
  }
  try {
    return await action();
  } finally {
    failurePoint('lock: action ended');
    if (readIfThere(path) === own) rmSync(path, { force: true });
  }
}

/** True while a process holds the lock that is there to be asked. */
export function isLocked(path: string): boolean {
  return existsSync(path) && !isStale(path) && existsSync(path);
}

function tryLink(path: string, own: string): boolean {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, own);
    failurePoint('lock: written');
    linkSync(temporary, path);
    failurePoint('lock: taken');
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** For a file that names the process which works on something: `signOwner` writes it. */
export function ownerIsGone(path: string): boolean {
  return isStale(path);
}

export function signOwner(path: string): void {
  writeFileSync(path, JSON.stringify(identify(process.pid)));
}

/**
 * Removes the lock if its owner is gone; true where the lock is free now. Only one process breaks at a time, and looks
 * again once it may: so a fresh lock is never removed by one that saw the stale one before it.
 */
function breakStale(path: string, own: string): boolean {
  if (!isStale(path)) return readIfThere(path) === '';
  const breaking = `${path}.breaking`;
  if ((ageOf(breaking) ?? 0) > BREAKING_MS) rmSync(breaking, { force: true });
  if (!tryLink(breaking, own)) return false;
  try {
    if (isStale(path)) rmSync(path, { force: true });
    failurePoint('lock: broken');
    return true;
  } finally {
    rmSync(breaking, { force: true });
  }
}

/** In milliseconds, whichever way the clock has gone; undefined where the file is gone. */
function ageOf(path: string): number | undefined {
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return since === undefined ? undefined : Math.abs(Date.now() - since);
}

function isStale(path: string): boolean {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
  const owner = parseOwner(text);
  if (owner === undefined) return true; // a lock is written whole: this one was damaged when the machine stopped
  const now = identify(owner.pid);
  if (owner.place !== now.place) return (ageOf(path) ?? 0) > FOREIGN_MS;
  if (owner.boot !== now.boot) return true;
  return !isAlive(owner.pid) || (owner.started !== '' && owner.started !== now.started);
}

function parseOwner(text: string): Owner | undefined {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return undefined;
  }
}

/** A process that was killed stays in the table until its parent has asked for it, and never runs again. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^[ZX]/.test(processStatus(pid));
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

export function identify(pid: number): Owner {
  // Field 22 of proc_pid_stat(5), the third being the first here.
  const started = processStatus(pid).split(' ')[19] ?? '';
  const boot = readIfThere('/proc/sys/kernel/random/boot_id').trim();
  return { pid, started, boot, place: `${hostname()} ${processNamespace()}` };
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** The fields after the name, which stands in parentheses and may hold anything: state, parent, … */
function processStatus(pid: number): string {
  return readIfThere(`/proc/${pid}/stat`).replace(/^.*\) /s, '');
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
