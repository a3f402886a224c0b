/** Copies the database of a mounted folder at one instant. */
import { spawn } from 'node:child_process';
import { constants, copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failurePoint } from '../../disk/failure-point.ts';
import { isAlive } from '../../disk/lock-owner.ts';
import { AgtError, errorCode } from '../../errors.ts';
import { runTool } from '../run-tool.ts';
import { serversOf } from './server.ts';
import { databaseFiles, type Store } from './store.ts';

/** The copy has all that programs wrote before; a program that writes meanwhile waits. */
export async function copyWhileStopped(folder: string, from: Store, to: Store): Promise<void> {
  await runTool('sync', ['-f', folder]);
  const servers = serversOf(from.database);
  const guard = spawn('sh', ['-c', GUARD, 'sh', ...servers.map(String)], {
    ...{ detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  });
  guard.unref();
  try {
    for (const pid of servers) signal(pid, 'SIGSTOP');
    await stopped(servers);
    failurePoint('agentfs: server stopped');
    for (const file of databaseFiles(from))
      copyFileSync(file, join(dirname(to.database), basename(file)), constants.COPYFILE_FICLONE);
  } finally {
    for (const pid of servers) signal(pid, 'SIGCONT');
    guard.stdin?.destroy();
  }
}

/** Ends with the pipe from agt. So no server stays stopped if agt is killed. */
const GUARD = 'read -r never; kill -CONT "$@"';

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error; // it has ended meanwhile
  }
}

const LONGEST_STOP_MS = 5_000;

async function stopped(pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + LONGEST_STOP_MS;
  while (!pids.every(isWhollyStopped)) {
    if (Date.now() > deadline) throw new AgtError('agentfs did not stop in time');
    await sleep(1);
  }
}

/** All of its threads. */
function isWhollyStopped(pid: number): boolean {
  if (!isAlive(pid)) return true;
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
    return /^T/.test(stat.replace(/^.*\) /s, ''));
  });
}
