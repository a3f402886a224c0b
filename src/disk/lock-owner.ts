/** A file that names the process that owns it, and whether that process is gone. */
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { attempt, errorCode, unlessMissing } from '../errors.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { makeTemporaryDirectory } from './make-directories.ts';
import { hasProc } from './platform.ts';
import { isThere, isZombie, startByPs, statusOf } from './processes.ts';
import { readIfThere } from './read-file.ts';

/** The facts that tell a process from every other one, of before and after it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time of the process in the kernel's ticks. Without /proc: `before` and milliseconds since 1970. */
  readonly start: string;
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

/** Names the process that works in a directory. */
export const OWNER_FILE = 'owner';

/** A process signs its directory within milliseconds. One that has not done so after this time was killed. */
const SIGNED_WITHIN_MS = 60_000;

/** Makes a directory for the time that this process needs it. Its path begins with `prefix`. */
export function makeOwnedDirectory(prefix: string): string {
  const directory = makeTemporaryDirectory(prefix);
  writeFileSync(join(directory, OWNER_FILE), ownerText());
  return directory;
}

/** The directories in `parent` whose process was killed. Also those that nobody has signed. */
export function abandonedDirectories(parent: string, prefix = ''): string[] {
  const names = attempt(() => readdirSync(parent)) ?? [];
  const paths = names.filter((name) => name.startsWith(prefix)).map((name) => join(parent, name));
  return paths.filter((path) => {
    const owner = join(path, OWNER_FILE);
    return existsSync(owner) ? ownerIsGone(owner) : (ageOf(path) ?? 0) > SIGNED_WITHIN_MS;
  });
}

/** As `ownerIsGone`, and asks an owner in another container for a sign of life. */
export async function ownerHasEnded(path: string): Promise<boolean> {
  if (ownerIsGone(path)) return true;
  const owner = parseOwner(readIfThere(path));
  // Another kernel's socket refuses connections too, such as one of another machine on a network's file system.
  if (owner?.alive === undefined || isHere(owner) || owner.boot === '' || owner.boot !== bootId())
    return false;
  return lifeHasEnded(dirname(path), owner.alive);
}

/** Whether the process that a file names as its owner is gone. False if there is no such file. */
export function ownerIsGone(path: string): boolean {
  const text = unlessMissing(() => readFileSync(path, 'utf8'));
  if (text === undefined) return false;
  const owner = parseOwner(text);
  if (owner === undefined) return true; // the file appears whole, so a power cut damaged this one
  if (!isHere(owner)) return (ageOf(path) ?? 0) > FOREIGN_MS;
  return processIsGone(owner);
}

/** For those who have waited for it. agt itself sees the end of a process of this machine. */
export function hintsToWait(path: string): string[] {
  const owner = parseOwner(readIfThere(path));
  if (owner === undefined) return ['try again in a moment'];
  if (isHere(owner)) return [`try again when process ${owner.pid} has ended`];
  return [
    'try again in a moment: the other one is in another container, or on another machine',
    `if no agt runs there any more: rm ${shellQuote(path)}`,
  ];
}

/** False for a process in another container or on another host: agt cannot tell. */
export function processIsGone(process: ProcessIdentity): boolean {
  if (!isHere(process)) return false;
  return process.boot !== bootId() || !isAlive(process.pid) || hasStartedSince(process);
}

/** ps tells seconds, and the clock may be set a little meanwhile. */
const START_PRECISION_MS = 2000;

/** Whether another process has the number now. */
function hasStartedSince({ pid, start }: ProcessIdentity): boolean {
  if (!start.startsWith(BEFORE)) return start !== '' && start !== statusOf(pid)[19];
  return (startByPs(pid) ?? 0) > Number(start.slice(BEFORE.length)) + START_PRECISION_MS;
}

/** To ask ps for each lock would take too long. agt asks only whether a process that lives is the one that is named. */
const BEFORE = 'before ';

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

/** The number of the process that a file names, or the name of a life sign; undefined if a power cut damaged the file. */
export function ownerOf(path: string): number | undefined {
  const sign = /\/\.alive-(\d+)-[^/]*$/.exec(path)?.[1];
  return sign === undefined ? parseOwner(readIfThere(path))?.pid : Number(sign);
}

function parseOwner(text: string): Owner | undefined {
  return attempt(() => JSON.parse(text) as Owner);
}

/** A killed process stays in the process table until its parent waits for it. It is not alive. */
export function isAlive(pid: number): boolean {
  return isThere(pid) && !isZombie(pid);
}

export function identify(pid: number): ProcessIdentity {
  const now = pid === process.pid ? performance.timeOrigin : Date.now();
  const start = hasProc() ? (statusOf(pid)[19] ?? '') : `${BEFORE}${Math.ceil(now)}`;
  return { pid, start, boot: bootId(), place: place() };
}

function bootId(): string {
  return readIfThere('/proc/sys/kernel/random/boot_id').trim();
}

function place(): string {
  return `${hostname()} ${attempt(() => readlinkSync('/proc/self/ns/pid')) ?? ''}`;
}

const PREFIX = '.alive-';

/**
 * Shows that this process lives, to processes in other containers too: there its number means nothing. It listens at a
 * socket, and the kernel refuses connections to that once the process has ended. No process ever accepts or sends data.
 * Undefined where the file system has no sockets, or the system permits none.
 */
export async function giveLifeSign(directory: string) {
  const { createServer } = await import('node:net');
  // Process ids repeat across containers, the kernel's clock does not.
  const name = `${PREFIX}${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const place = openPlace(directory);
  const server = createServer((connection) => connection.destroy());
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(place.reach(name), () => resolve(true));
  });
  server.unref();
  const end = () => {
    server.close();
    rmSync(join(directory, name), { force: true });
    place.close();
  };
  if (isListening) return { name, end };
  place.close();
  return undefined;
}

/** False also if there is no such socket, or this process may not ask. */
export async function lifeHasEnded(directory: string, name: string): Promise<boolean> {
  const { connect } = await import('node:net');
  const place = openPlace(directory);
  const connection = connect(place.reach(name));
  try {
    return await new Promise<boolean>((resolve) => {
      connection.once('connect', () => resolve(false));
      connection.once('error', (error) => resolve(errorCode(error) === 'ECONNREFUSED'));
      connection.once('close', () => resolve(false));
    });
  } finally {
    connection.destroy();
    place.close();
  }
}

export function isLifeSign(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** Names of the signs in a directory. Some may be of processes that have ended. */
export function listLifeSigns(directory: string): string[] {
  return attempt(() => readdirSync(directory).filter(isLifeSign)) ?? [];
}

/** The address of a socket has room for 107 bytes. Through the open directory every path is short enough. */
function openPlace(directory: string) {
  if (!hasProc()) return { reach: (name: string) => join(directory, name), close: () => {} };
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  return { reach: (name: string) => `/proc/self/fd/${fd}/${name}`, close: () => closeSync(fd) };
}
