/** A file that names the process that owns it, and whether that process is gone. */
import { readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { attempt, errorCode } from '../errors.ts';
import { askForLife } from './life-sign.ts';
import { readIfThere } from './read-file.ts';

/** The facts that tell a process from every other one, of before and after it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time of the process in the kernel's ticks; empty without /proc. */
  readonly started: string;
  /** Changes with every boot; empty without /proc. */
  readonly boot: string;
  /** Host and process namespace: within them, the number means the same process. */
  readonly place: string;
}

interface Owner extends ProcessIdentity {
  /** The name of its life sign, beside the file. */
  readonly alive?: string;
}

/** How long the file of an owner in another container counts, if the owner gives no sign of its life or end. */
const FOREIGN_MS = 30 * 60_000;

/** The text of a file that names this process. */
export function ownerText(alive?: string): string {
  return JSON.stringify({ ...identify(process.pid), ...(alive === undefined ? {} : { alive }) });
}

/** Writes a file that names this process as its owner. */
export function signOwner(path: string): void {
  writeFileSync(path, ownerText());
}

/** As `ownerIsGone`, and asks an owner in another container for a sign of life. */
export async function ownerHasEnded(path: string): Promise<boolean> {
  if (ownerIsGone(path)) return true;
  const owner = parseOwner(readIfThere(path));
  // Another kernel's socket refuses connections too, such as one of another machine on a network's file system.
  if (owner?.alive === undefined || isHere(owner) || owner.boot === '' || owner.boot !== bootId())
    return false;
  return (await askForLife(dirname(path), owner.alive)) === 'ended';
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
  if (owner === undefined) return true; // the file appears whole, so a power cut damaged this one
  if (!isHere(owner)) return (ageOf(path) ?? 0) > FOREIGN_MS;
  return processIsGone(owner);
}

/** False for a process in another container or on another host: agt cannot tell. */
export function processIsGone(process: ProcessIdentity): boolean {
  if (!isHere(process)) return false;
  const now = identify(process.pid);
  if (process.boot !== now.boot) return true;
  return !isAlive(process.pid) || (process.started !== '' && process.started !== now.started);
}

/** Deletes the file and the life sign that its owner left. */
export function dropOwned(path: string): void {
  const alive = parseOwner(readIfThere(path))?.alive;
  rmSync(path, { force: true });
  if (alive !== undefined) rmSync(join(dirname(path), alive), { force: true });
}

/** Age in milliseconds, even if the clock was set back; undefined if the file is gone. */
export function ageOf(path: string): number | undefined {
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return since === undefined ? undefined : Math.abs(Date.now() - since);
}

function isHere(owner: ProcessIdentity): boolean {
  return owner.place === place();
}

function parseOwner(text: string): Owner | undefined {
  return attempt(() => JSON.parse(text) as Owner);
}

/** A killed process stays in the process table until its parent waits for it. It is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^[ZX]/.test(processStatus(pid));
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

export function identify(pid: number): ProcessIdentity {
  // Field 22 of proc_pid_stat(5); the first one here is field 3.
  const started = processStatus(pid).split(' ')[19] ?? '';
  return { pid, started, boot: bootId(), place: place() };
}

function bootId(): string {
  return readIfThere('/proc/sys/kernel/random/boot_id').trim();
}

function place(): string {
  return `${hostname()} ${attempt(() => readlinkSync('/proc/self/ns/pid')) ?? ''}`;
}

/** The fields after the name, which is in parentheses and may contain anything: state, parent, … */
function processStatus(pid: number): string {
  return readIfThere(`/proc/${pid}/stat`).replace(/^.*\) /s, '');
}
