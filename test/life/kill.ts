/** Kills a command after some time: alone, or with its children. Waits until all of them have ended. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lifeEnvironment } from './programs.ts';

export interface Ended {
  readonly exitCode: number | null;
  readonly wasKilled: boolean;
  readonly stderr: string;
}

/** When a command is killed. Without `after`, in milliseconds, and `env` it may end by itself. */
export interface Kill {
  readonly after?: number;
  /** With its children. */
  readonly group?: boolean;
  /** Such as the failure point at which it kills itself. */
  readonly env?: NodeJS.ProcessEnv;
}

/** `until`: it gets a SIGTERM as soon as this is true. */
export async function start(
  [program = '', ...args]: readonly string[],
  cwd: string,
  how: Kill & { until?: () => boolean } = {},
): Promise<Ended> {
  const child = spawn(program, args, {
    cwd,
    env: lifeEnvironment(how.env),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const pid = child.pid as number;
  let stderr = '';
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve([code, signal]));
  });
  const timer =
    how.after === undefined ? undefined : setTimeout(() => kill(how.group ? -pid : pid), how.after);
  let isOver = false;
  const asked = how.until === undefined ? undefined : askUntil(how.until, pid, () => isOver);
  const [exitCode, signal] = await ended;
  isOver = true;
  clearTimeout(timer);
  await asked;
  while (groupLives(pid)) await sleep(5);
  return { exitCode, wasKilled: signal === 'SIGKILL', stderr };
}

async function askUntil(isDone: () => boolean, pid: number, isOver: () => boolean): Promise<void> {
  while (!isOver() && !isDone()) await sleep(100);
  if (!isOver()) process.kill(pid, 'SIGTERM');
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended by itself
  }
}

/** Zombies do not count. */
function groupLives(group: number): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ');
      return Number(fields[2]) === group && !['Z', 'X'].includes(fields[0] as string);
    } catch {
      return false;
    }
  });
}
