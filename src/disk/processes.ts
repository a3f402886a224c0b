/** Asks /proc about other processes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { attempt } from '../errors.ts';

export interface RunningProcess {
  readonly pid: number;
  /** The command line; empty for one that has ended. */
  readonly words: readonly string[];
  /** The current directory; undefined for one that has ended or belongs to another user. */
  readonly cwd: string | undefined;
}

/** Undefined without /proc. */
export function listProcesses(): RunningProcess[] | undefined {
  return processIds()?.map((pid) => ({
    pid: Number(pid),
    words: attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1'))?.split('\0') ?? [],
    cwd: attempt(() => readlinkSync(`/proc/${pid}/cwd`)),
  }));
}

/** The files that any process of this user has open, or any process at all for root; undefined without /proc. */
export function openFiles(): Set<string> | undefined {
  const open = new Set<string>();
  const processes = processIds();
  if (processes === undefined) return undefined;
  for (const pid of processes) {
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) open.add(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      // the process has ended, or belongs to another user
    }
  }
  return open;
}

/** Whether this process belongs to the foreground of its terminal, where Ctrl-C also reaches its children. */
export function isInForeground(): boolean {
  const [, , group, , , foreground] = statusOf(process.pid);
  return group !== undefined && group === foreground;
}

/** Whether a signal such as SIGTSTP has stopped the process. */
export function isStopped(pid: number): boolean {
  return statusOf(pid)[0] === 'T';
}

/** The fields of proc_pid_stat(5) from the third one on: state, parent, group, … Empty for one that has ended. */
function statusOf(pid: number): string[] {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
  return stat === '' ? [] : stat.replace(/^.*\) /s, '').split(' ');
}

function processIds(): string[] | undefined {
  const ids = attempt(() => readdirSync('/proc'))?.filter((name) => /^\d+$/.test(name));
  return ids?.length === 0 ? undefined : ids;
}
