/**
 * A database of agentfs in a directory, and the process that serves it as a mounted folder. The process ends with the mount.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, copyFileSync, existsSync, openSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { isAlive } from '../../disk/lock-owner.ts';
import { isMountPoint } from '../../disk/mounts.ts';
import { isStopped, processesThatOpened } from '../../disk/processes.ts';
import { realEntry } from '../../disk/real-path.ts';
import { AgtError, attempt } from '../../errors.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { waitUntil } from '../../process/wait.ts';
import { runTool, runToolNow } from '../provider.ts';

/** agentfs chooses its place below the directory, and agt the name. */
export const DATABASE = 'session';

export function databaseIn(directory: string): string {
  return join(directory, '.agentfs', `${DATABASE}.db`);
}

/** What agentfs has not yet moved out of its log is in the second one, which may be missing. */
export function databaseFiles(directory: string): string[] {
  const database = databaseIn(directory);
  return [database, `${database}-wal`].filter((file) => existsSync(file));
}

const LONGEST_START_MS = 20_000;
const LONGEST_END_MS = 20_000;
const LONGEST_STOP_MS = 5_000;
const POLL_MS = 5;

/** Mounts a database at an empty directory. Returns the process that serves it. @throws AgtError with the reason of agentfs */
export function mountDatabase(program: string, directory: string, point: string): number {
  const database = databaseIn(directory);
  const cwd = dirname(database);
  const log = openSync(join(cwd, 'errors'), 'w', 0o600); // it must not be a file of somebody else
  const args = ['mount', '--foreground', database, point];
  const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.on('error', () => undefined).unref();
  const { pid } = child;
  const isRunning = () => pid !== undefined && isAlive(pid);
  waitUntil(() => isMountPoint(point) || !isRunning(), LONGEST_START_MS, POLL_MS);
  if (pid !== undefined && isMountPoint(point) && isRunning()) return pid;
  if (isRunning()) child.kill('SIGTERM');
  const said = readFileSync(join(cwd, 'errors'), 'utf8').trimEnd().split('\n').at(-1);
  throw new AgtError(`${program} did not mount ${point}: ${said || 'it gave no reason'}`);
}

/**
 * Unmounts all places of a database, and waits until its server has written everything and has ended. Returns the processes
 * that go on. @throws AgtError if programs work there
 */
export function unmountDatabase(directory: string, points: readonly string[]): number[] {
  const servers = serversOf(directory);
  for (const point of points.filter(isMountPoint)) unmount(point);
  waitUntil(() => !servers.some(isAlive), LONGEST_END_MS, POLL_MS);
  return servers.filter(isAlive);
}

function unmount(point: string): void {
  const isRoot = process.geteuid?.() === 0;
  try {
    runToolNow(isRoot ? 'umount' : 'fusermount3', [isRoot ? '-i' : '-u', point]);
  } catch (error) {
    if (!isMountPoint(point)) return;
    const reason = (error as Error).message.replace(/^.* failed: (umount: )?/s, '');
    throw new AgtError(`cannot unmount ${point}: ${reason}`, {
      hints: [`end the programs that work there; these are they: fuser -vm ${shellQuote(point)}`],
    });
  }
}

function serversOf(directory: string): number[] {
  return processesThatOpened(realEntry(databaseIn(directory)));
}

/** The copy has all that programs wrote in the mounted folder before; a program that writes meanwhile waits. */
export async function copyDatabase(folder: string, from: string, to: string): Promise<void> {
  await runTool('sync', ['-f', folder]);
  const servers = serversOf(from);
  const guard = spawn('sh', ['-c', GUARD, 'sh', ...servers.map(String)], {
    ...{ detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  });
  guard.unref();
  try {
    for (const pid of servers) attempt(() => process.kill(pid, 'SIGSTOP'));
    const areStopped = () => servers.every((pid) => isStopped(pid) || !isAlive(pid));
    if (!waitUntil(areStopped, LONGEST_STOP_MS, POLL_MS)) throw new AgtError('agentfs did not stop in time');
    failurePoint('agentfs: server stopped');
    for (const file of databaseFiles(from))
      copyFileSync(file, join(dirname(databaseIn(to)), basename(file)), constants.COPYFILE_FICLONE);
  } finally {
    for (const pid of servers) attempt(() => process.kill(pid, 'SIGCONT'));
    guard.stdin?.destroy();
  }
}

/** Ends with the pipe from agt. So no server stays stopped if agt is killed. */
const GUARD = 'read -r never; kill -CONT "$@"';
