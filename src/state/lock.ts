/**
 * One process at a time on a session. A lock is a file that names its owner; it appears whole, by link(2), and is taken
 * over when the owner is gone: the process ended, its number went to another one, or the machine was started anew.
 */
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgtError, EXIT, errorCode } from '../errors.ts';

interface Owner {
  readonly pid: number;
  /** Start time of the process in the kernel's ticks; empty where /proc is not there. */
  readonly started: string;
  /** Changes with every boot; empty where /proc is not there. */
  readonly boot: string;
}

/** How long a lock that is being broken may take before that is itself taken for abandoned. */
const BREAKING_MS = 30_000;

/** @throws AgtError with exit code 75 while another process holds the lock. */
export async function withLock<T>(path: string, what: string, action: () => Promise<T>): Promise<T> {
  acquire(path, what);
  try {
    return await action();
  } finally {
    rmSync(path, { force: true });
  }
}

function acquire(path: string, what: string): void {
  mkdirSync(dirname(path), { recursive: true });
  if (tryLink(path)) return;
  if (breakStale(path) && tryLink(path)) return;
  throw new AgtError(`${what} is being worked on by another agt`, {
    exitCode: EXIT.busy,
    hints: ['try again in a moment'],
  });
}

function tryLink(path: string): boolean {
  const own = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(own, JSON.stringify(identify(process.pid)));
    linkSync(own, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Removes the lock if its owner is gone. Only one process breaks at a time, and looks again once it may: so a fresh
 * lock is never removed by one that saw the stale one before it.
 */
function breakStale(path: string): boolean {
  if (!isStale(path)) return false;
  const breaking = `${path}.breaking`;
  const since = statSync(breaking, { throwIfNoEntry: false })?.mtimeMs;
  if (since !== undefined && Math.abs(Date.now() - since) > BREAKING_MS) rmSync(breaking, { force: true });
  if (!tryLink(breaking)) return false;
  try {
    if (isStale(path)) rmSync(path, { force: true });
    return true;
  } finally {
    rmSync(breaking, { force: true });
  }
}

function isStale(path: string): boolean {
  let owner: Owner;
  try {
    owner = JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch (error) {
    return errorCode(error) !== 'ENOENT'; // a lock is written whole: what cannot be read was damaged by a crash
  }
  const now = identify(owner.pid);
  if (owner.boot !== now.boot) return true;
  return !isAlive(owner.pid) || (owner.started !== '' && owner.started !== now.started);
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

function identify(pid: number): Owner {
  // Field 22 of proc_pid_stat(5), the third being the first here.
  const started = processStatus(pid).split(' ')[19] ?? '';
  return { pid, started, boot: readIfThere('/proc/sys/kernel/random/boot_id').trim() };
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
