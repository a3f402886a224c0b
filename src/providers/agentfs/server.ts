/** The process of agentfs that serves one mounted folder. It ends with the mount. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isAlive } from '../../disk/lock-owner.ts';
import { listMounts } from '../../disk/mounts.ts';
import { realEntry } from '../../disk/real-path.ts';
import { AgtError, attempt } from '../../errors.ts';
import { shellQuote } from '../../git/run/trace.ts';

const LONGEST_START_MS = 20_000;
const LONGEST_END_MS = 20_000;
const POLL_MS = 5;

/** For files that agt makes; it must not be one of somebody else. */
const ERRORS = 'errors';

/**
 * Mounts a database at an empty directory, and returns the process that serves it.
 * @throws AgtError with the reason of agentfs
 */
export function mountDatabase(program: string, database: string, point: string): number {
  const log = join(dirname(database), ERRORS);
  const descriptor = openSync(log, 'w', 0o600);
  const child = spawn(program, ['mount', '--foreground', database, point], {
    cwd: dirname(database),
    detached: true,
    stdio: ['ignore', descriptor, descriptor],
  });
  closeSync(descriptor);
  child.on('error', () => undefined);
  child.unref();
  const { pid } = child;
  const isReady = () => isMounted(point) || pid === undefined || !isAlive(pid);
  waitFor(isReady, LONGEST_START_MS);
  if (pid !== undefined && isMounted(point) && isAlive(pid)) return pid;
  if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGTERM');
  const said = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .at(-1);
  throw new AgtError(`${program} did not mount ${point}: ${said ?? 'it gave no reason'}`);
}

export function isMounted(point: string): boolean {
  const path = realEntry(point);
  return listMounts().some((mount) => mount.point === path);
}

/** @throws AgtError if programs work there */
export function unmount(point: string): void {
  if (!isMounted(point)) return;
  const commands = [
    ['umount', '-i', point],
    ['fusermount3', '-u', point],
    ['fusermount', '-u', point],
  ];
  let reason = '';
  for (const [program = '', ...args] of commands) {
    const { status, stderr } = spawnSync(program, args, {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    });
    if (status === 0 || !isMounted(point)) return;
    reason ||= stderr?.trim() ?? '';
  }
  throw new AgtError(`cannot unmount ${point}: ${reason.replace(/^umount: /, '')}`, {
    hints: [`end the programs that work there; these are they: fuser -vm ${shellQuote(point)}`],
  });
}

/** The processes that have the database open. Those of other users are not seen. */
export function serversOf(database: string): number[] {
  const path = realEntry(database);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => openFilesOf(pid).includes(path))
    .map(Number);
}

function openFilesOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      return attempt(() => [readlinkSync(`/proc/${pid}/fd/${fd}`)]) ?? [];
    });
  } catch {
    return [];
  }
}

/** Waits until a server whose folder is unmounted has written everything and has ended. False if it goes on. */
export function waitForEnd(servers: readonly number[]): boolean {
  return waitFor(() => !servers.some(isAlive), LONGEST_END_MS);
}

function waitFor(isDone: () => boolean, longestMs: number): boolean {
  const deadline = Date.now() + longestMs;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  while (!isDone()) {
    if (Date.now() > deadline) return false;
    Atomics.wait(clock, 0, 0, POLL_MS);
  }
  return true;
}
