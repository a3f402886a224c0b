/** Asks the system about other processes: in /proc, or else ps and lsof. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { attempt, errorCode } from '../errors.ts';
import { askSystem, hasProc } from './platform.ts';
import { realPath } from './real-path.ts';

export interface RunningProcess {
  readonly pid: number;
  /** Its name or its path. */
  readonly program: string;
  /** The command line; empty for one that has ended. */
  readonly words: readonly string[];
  /** False if they were split at blanks: words of the command line may have some themselves. */
  readonly areExact: boolean;
  /** The current directory; undefined for one that has ended or belongs to another user, or without an answer. */
  readonly cwd: string | undefined;
}

/** Undefined if the system does not tell. */
export function listProcesses(): RunningProcess[] | undefined {
  if (!hasProc()) return processesByPs();
  return processIds()?.map((pid) => {
    const words = attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1'))?.split('\0') ?? [];
    const cwd = attempt(() => readlinkSync(`/proc/${pid}/cwd`));
    return { pid: Number(pid), program: words[0] ?? '', words, areExact: true, cwd };
  });
}

/** Without those that have ended meanwhile. */
function processesByPs(): RunningProcess[] | undefined {
  const list = (...fields: readonly string[]) =>
    askSystem('ps', '-A', '-ww', ...['pid', ...fields].flatMap((field) => ['-o', `${field}=`]))
      ?.split('\n')
      .map((line) => line.trim().split(/ +/))
      .map(([pid, ...words]): [number, string[]] => [Number(pid), words]);
  const commands = list('command');
  const states = list('stat', 'comm');
  if (commands === undefined || states === undefined) return undefined;
  const programs = new Map(states);
  const cwds = new Map(filesByLsof('-a', '-d', 'cwd')?.map(({ pid, path }) => [pid, path]));
  return commands.flatMap(([pid, words]) => {
    const [state = 'Z', ...program] = programs.get(pid) ?? [];
    const cwd = cwds.get(pid);
    const hasEnded = state.startsWith('Z') || (cwd === undefined && !isThere(pid));
    return hasEnded ? [] : { pid, program: program.join(' '), words, areExact: false, cwd };
  });
}

/** Also a zombie. */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Undefined if its list is not whole: this process itself has files open. */
function filesByLsof(...which: readonly string[]): { pid: number; path: string }[] | undefined {
  let pid = 0;
  const files = askSystem('lsof', '-w', '-n', '-P', '-F', 'pn', ...which)
    ?.split('\n')
    .flatMap((line) => {
      if (line.startsWith('p')) pid = Number(line.slice(1));
      return line.startsWith('n') ? [{ pid, path: decodeName(line.slice(1)) }] : [];
    });
  return files?.some((file) => file.pid === process.pid) ? files : undefined;
}

/** lsof writes bytes that are not ASCII as `\xc3`. */
function decodeName(name: string): string {
  const bytes = name.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}

/**
 * The files that any process of this user has open, or any process at all for root; undefined if the system does not
 * tell.
 */
export function openFiles(): Set<string> | undefined {
  if (!hasProc()) {
    const files = filesByLsof();
    return files && new Set(files.map(({ path }) => path));
  }
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
  if (!hasProc()) return stateByPs(process.pid).includes('+');
  const [, , group, , , foreground] = statusOf(process.pid);
  return group !== undefined && group === foreground;
}

/** Whether a signal such as SIGTSTP has stopped all threads of a process. */
export function isStopped(pid: number): boolean {
  if (!hasProc()) return stateByPs(pid).startsWith('T');
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.length > 0 && threads.every((thread) => statusOf(Number(thread))[0] === 'T');
}

/** Whether it has ended, and its parent has not waited for it. */
export function isZombie(pid: number): boolean {
  return hasProc() ? ['Z', 'X'].includes(statusOf(pid)[0] ?? '') : stateByPs(pid).startsWith('Z');
}

/** A letter, and signs: `+` is the foreground of a terminal. Empty if unknown. */
function stateByPs(pid: number): string {
  return askSystem('ps', '-p', String(pid), '-o', 'stat=')?.trim() ?? '';
}

/** When it started, in milliseconds since 1970 and whole seconds; undefined if ps does not tell. */
export function startByPs(pid: number): number | undefined {
  const text = askSystem('ps', '-p', String(pid), '-o', 'lstart=')?.trim() ?? '';
  const time = Date.parse(`${text} UTC`);
  return Number.isNaN(time) ? undefined : time;
}

export function childrenOf(pid: number): number[] {
  const children = hasProc()
    ? attempt(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').match(/\d+/g))
    : askSystem('ps', '-A', '-o', 'pid=', '-o', 'ppid=')?.match(new RegExp(`\\d+(?= +${pid}$)`, 'gm'));
  return children?.map(Number) ?? [];
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
