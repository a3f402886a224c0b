/**
 * A lock lets one process at a time work on a session. It is a file that names its owner and appears whole, by link(2).
 * agt takes it over if the owner is gone: the process has ended, its number belongs to another process, or the machine
 * was restarted. About an owner in another container agt can find out nothing: that lock holds for FOREIGN_MS, longer
 * than any work on a session takes.
 */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
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
  /** Start time of the process in the kernel's ticks; empty without /proc. */
  readonly started: string;
  /** Changes with every boot; empty without /proc. */
  readonly boot: string;
  /** Host and process namespace: within them, the number means the same process. */
  readonly place: string;
}

/** A process that breaks a stale lock and takes longer than this is taken for dead. */
const BREAKING_MS = 30_000;
/** How long the lock of an owner in another container holds. */
const FOREIGN_MS = 30 * 60_000;

/** `what` is locked, for the message. @throws AgtError with exit code 75 while another process holds the lock. */
export async function withLock<T>(path: string, what: string, action: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  const own = JSON.stringify(identify(process.pid));
  if (!tryLink(path, own) && !(breakStale(path, own) && tryLink(path, own))) {
    throw new AgtError(`another agt is using ${what}`, {
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

/** Whether a living process holds the lock. */
export function isLocked(path: string): boolean {
  return existsSync(path) && !ownerIsGone(path) && existsSync(path);
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

/** Writes a file that names this process as its owner. */
export function signOwner(path: string): void {
  writeFileSync(path, JSON.stringify(identify(process.pid)));
}

/**
 * Removes the lock if its owner is gone; true if the lock is free now. Only one process at a time breaks it, and checks
 * again when it may: so a process that saw the stale lock never removes the fresh one that came after it.
 */
function breakStale(path: string, own: string): boolean {
  if (!ownerIsGone(path)) return readIfThere(path) === '';
  const breaking = `${path}.breaking`;
  dropIfStale(breaking);
  if (!tryLink(breaking, own)) return false;
  try {
    if (ownerIsGone(path)) rmSync(path, { force: true });
    failurePoint('lock: broken');
    return true;
  } finally {
    rmSync(breaking, { force: true });
  }
}

/** A process that was killed while it broke a lock leaves this one. */
function dropIfStale(breaking: string): void {
  if ((ageOf(breaking) ?? 0) > BREAKING_MS) rmSync(breaking, { force: true });
  if (!ownerIsGone(breaking)) return;
  const aside = `${breaking}.${process.pid}.tmp`;
  try {
    renameSync(breaking, aside);
    // Another process may have dropped the stale one and made its own meanwhile.
    if (!ownerIsGone(aside)) linkSync(aside, breaking);
  } catch {
    // It is gone, or there is a newer one.
  } finally {
    rmSync(aside, { force: true });
  }
}

/** In milliseconds, even if the clock was set back; undefined if the file is gone. */
function ageOf(path: string): number | undefined {
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return since === undefined ? undefined : Math.abs(Date.now() - since);
}

/** Whether the process that a file names as its owner is gone. False if there is no such file. */
export function ownerIsGone(path: string): boolean {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
  const owner = parseOwner(text);
  if (owner === undefined) return true; // a lock appears whole, so this one was damaged by a power cut
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

/** A killed process stays in the process table until its parent waits for it. It is not alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^[ZX]/.test(processStatus(pid));
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

export function identify(pid: number): Owner {
  // Field 22 of proc_pid_stat(5); the first one here is field 3.
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

/** The fields after the name, which is in parentheses and may contain anything: state, parent, … */
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
