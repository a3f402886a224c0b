/** The answer of `git status` for a worktree: the branch, and each path that differs from HEAD or is untracked. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { attempt } from '../../errors.ts';
import { singleQuoted } from '../../process/shell-quote.ts';
import { endOf, type Git, gitBytes, inDirectory } from '../run/git.ts';
import { traceCommand } from '../run/trace.ts';

/** Options follow, such as `--untracked-files=all`. With `--renames`, entries know that a deletion is half of a rename. */
export const STATUS = ['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--no-renames'];

export interface StatusEntry {
  /** One byte per character. A directory has a slash at its end. */
  readonly path: string;
  readonly kind: 'tracked' | 'unmerged' | 'untracked';
  /** Letters of git-status(1), `.` for no difference: between HEAD and the index, and between that and the files. */
  readonly staged: string;
  readonly unstaged: string;
  /** Mode and object in the index; empty unless it has one entry for the path. */
  readonly index: string;
  /** Every version of it that there is, in HEAD, in the index and on disk. */
  readonly isSubmodule: boolean;
  /** A submodule with uncommitted changes of its own. */
  readonly isDirtyInside: boolean;
  /** It is deleted: another entry has its new name. */
  readonly isRenamed?: true;
}

/** As `git status` shows them to people: a renamed file is one. */
export function shownFiles(entries: readonly StatusEntry[]): string[] {
  return [...new Set(entries.flatMap(({ path, isRenamed }) => (isRenamed ? [] : path)))];
}

/** The index has a version of the file that neither HEAD nor the disk has. */
export function isStagedApart({ kind, staged, unstaged }: StatusEntry): boolean {
  return kind === 'tracked' && staged !== '.' && unstaged !== '.';
}

export interface Status {
  /** Undefined if the branch has no commit yet. */
  readonly commit: string | undefined;
  /** Short name as git prints it: `(detached)` without a branch. */
  readonly head: string;
  readonly entries: readonly StatusEntry[];
}

const COMMIT = /^# branch\.oid ([0-9a-f]+)$/;
const HEAD = /^# branch\.head (.*)$/s;
const TRACKED = /^1 (.)(.) (\S+) (\d+ (\d+) \d+) \w+ (\w+) (.*)$/s;
const RENAMED = /^2 (..)((?: \S+){6}) R\d+( .*)$/s;
const DIRTY_INSIDE = /^S.(M|.U)/;
const SUBMODULE = /^((160000|000000) ?)+$/;
const UNMERGED = /^u (.)(.) (?:\S+ ){8}(.*)$/s;

/** `options` are of `git status`. */
export async function readStatus(git: Git, ...options: readonly string[]): Promise<Status> {
  return parseStatus(await gitBytes(git, [...STATUS, ...options]));
}

export function parseStatus(output: Buffer | string): Status {
  const records = output.toString('latin1').split('\0');
  const value = (record: RegExp) => records.flatMap((text) => record.exec(text)?.[1] ?? [])[0];
  const head = Buffer.from(value(HEAD) ?? '', 'latin1').toString();
  return { commit: value(COMMIT), head, entries: [...parseEntries(records.values())] };
}

function* parseEntries(records: ArrayIterator<string>): Generator<StatusEntry> {
  for (const text of records) {
    const [, letters = '', facts = '', path = ''] = RENAMED.exec(text) ?? [];
    const entry = parseEntry(letters === '' ? text : `1 ${letters.replace('R', 'A')}${facts}${path}`);
    if (entry !== undefined) yield entry;
    if (entry === undefined || letters === '') continue;
    const [staged, unstaged] = letters.startsWith('R') ? ['D', '.'] : ['.', 'D'];
    yield { ...entry, path: records.next().value ?? '', staged, unstaged, index: '', isRenamed: true };
  }
}

function parseEntry(text: string): StatusEntry | undefined {
  const other = { index: '', isSubmodule: false, isDirtyInside: false };
  if (text.startsWith('? '))
    return { ...other, path: text.slice(2), kind: 'untracked', staged: '?', unstaged: '?' };
  const tracked = TRACKED.exec(text);
  if (tracked !== null) {
    const [, staged = '', unstaged = '', inside = '', modes = '', mode, oid, path = ''] = tracked;
    const kinds = { isSubmodule: SUBMODULE.test(modes), isDirtyInside: DIRTY_INSIDE.test(inside) };
    return { path, kind: 'tracked', staged, unstaged, index: `${mode} ${oid}`, ...kinds };
  }
  const [, staged, unstaged = '', path = ''] = UNMERGED.exec(text) ?? [];
  return staged === undefined ? undefined : { ...other, path, kind: 'unmerged', staged, unstaged };
}

/** git waits for ever where a named pipe is in place of a file that it reads. */
const LONGEST_WAIT_MS = 20_000;

/**
 * The status of many worktrees, as many at once as there are cores; none where git cannot tell within `wait` milliseconds.
 * Shells start the gits: a fork of this process takes longer than a `git status`. `options` are of `git status`.
 */
export async function statusOfEach(
  git: Git,
  worktrees: readonly string[],
  options: readonly string[],
  wait = LONGEST_WAIT_MS,
): Promise<Map<string, Status>> {
  const found = new Map<string, Status>();
  const cores = availableParallelism();
  const work = async (env: NodeJS.ProcessEnv, lane: readonly string[]) => {
    for (let waiting = lane; waiting.length > 0; ) {
      const answers = await runLane({ ...git, env }, waiting, [...STATUS, ...options], wait);
      for (const [i, answer] of answers.entries())
        if (answer !== undefined) found.set(waiting[i] ?? '', answer);
      waiting = waiting.slice(answers.length + 1); // without the one at which git hangs
    }
  };
  // A worktree with settings of its own has an environment of its own.
  const groups = Map.groupBy(worktrees, (worktree) => inDirectory(git, worktree).env);
  const lanes = [...groups].flatMap(([env, members]) =>
    Array.from({ length: cores }, (_, core) =>
      work(
        env,
        members.filter((_, i) => i % cores === core),
      ),
    ),
  );
  await Promise.all(lanes);
  return found;
}

/** Fewer answers than worktrees if a git hangs. */
async function runLane(git: Git, worktrees: readonly string[], args: readonly string[], wait: number) {
  for (const worktree of worktrees) traceCommand(git.env, git.path, ['-C', worktree, ...args]);
  const command = `${singleQuoted(git.path)} -C "$at" ${args.map(singleQuoted).join(' ')}`;
  // No record of git begins like the one with the exit code.
  const script = `for at; do ${command}; printf '\\0= %s\\0' $?; done`;
  const shell = spawn('/bin/sh', ['-c', script, 'sh', ...worktrees], {
    ...{ cwd: '/', env: git.env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
  });
  const timer = setTimeout(() => endGroup(shell.pid), wait);
  const chunks: Buffer[] = [];
  const onOutput = (chunk: Buffer) => {
    chunks.push(chunk);
    timer.refresh();
  };
  await endOf(shell, undefined, onOutput).catch(() => undefined);
  clearTimeout(timer);
  const answers = Buffer.concat(chunks)
    .toString('latin1')
    .matchAll(/(.*?)\0= (\d+)\0/gs);
  return Array.from(answers, ([, output = '', code]) => (code === '0' ? parseStatus(output) : undefined));
}

/** It may have ended. */
function endGroup(pid: number | undefined): void {
  if (pid !== undefined) attempt(() => process.kill(-pid, 'SIGKILL'));
}
