/** Asks /proc about other processes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { attempt } from '../errors.ts';
import { realPath } from './real-path.ts';

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
  const ids = processIds();
  return ids && new Set(ids.flatMap(openFilesOf));
}

/** The other processes that have a file open. Those of other users are not seen. */
export function processesThatOpened(path: string): number[] {
  const pids = (processIds() ?? []).filter((pid) => openFilesOf(pid).includes(path)).map(Number);
  return pids.filter((pid) => pid !== process.pid);
}

/** None of a process that has ended, or belongs to another user. */
function openFilesOf(pid: string): string[] {
  const descriptors = attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return descriptors.flatMap((fd) => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? []);
}

/** Whether this process belongs to the foreground of its terminal, where Ctrl-C also reaches its children. */
export function isInForeground(): boolean {
  const [, , group, , , foreground] = statusOf(process.pid);
  return group !== undefined && group === foreground;
}

/** Whether a signal such as SIGTSTP has stopped all threads of a process. */
export function isStopped(pid: number): boolean {
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.length > 0 && threads.every((thread) => statusOf(Number(thread))[0] === 'T');
}

/** Fields of proc_pid_stat(5) after the name, which may contain anything: state, parent, group, … */
export function statusOf(pid: number): string[] {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return stat?.replace(/^.*\) /s, '').split(' ') ?? [];
}

function processIds(): string[] | undefined {
  const ids = attempt(() => readdirSync('/proc'))?.filter((name) => /^\d+$/.test(name));
  return ids?.length === 0 ? undefined : ids;
}

/**
 * Files that a process has mapped into its memory for writing. A write there may change no time of the file: Linux
 * sets the times only when a page is written that was clean before, and on tmpfs never. agt looks at processes whose
 * current directory is in the folder; to look at all of them would take too long. Relative to `folder`, which is
 * absolute; one byte per character. Empty without /proc.
 */
export function filesMappedForWriting(folder: string): Set<string> {
  const found = new Set<string>();
  const real = Buffer.from(realPath(folder)).toString('latin1');
  for (const name of processIds() ?? []) {
    const cwd = attempt(() => readlinkSync(`/proc/${name}/cwd`, 'latin1'));
    if (cwd !== real && cwd?.startsWith(`${real}/`) !== true) continue;
    const maps = attempt(() => readFileSync(`/proc/${name}/maps`, 'latin1')) ?? '';
    for (const path of writablePaths(maps))
      if (path.startsWith(`${real}/`)) found.add(path.slice(real.length + 1));
  }
  return found;
}

/** Lines are `address perms offset device inode path`; perms of a shared mapping end in `s`. */
function writablePaths(maps: string): string[] {
  const lines = maps.matchAll(/^\S+ .w.s \S+ \S+ \d+ +(\/.*)$/gm);
  return [...lines].map(([, path = '']) => path.replaceAll('\\012', '\n'));
}
