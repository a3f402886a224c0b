/**
 * Breaks the locks of killed gits. git creates `<ref>.lock` to change a ref, and refuses while it is there. A git
 * that is alive may have closed the file and still need it, so a lock is stale only if no git runs that could hold
 * it.
 */
import { existsSync, realpathSync, unlinkSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listProcesses, openFiles, type RunningProcess } from '../../disk/processes.ts';
import { succeeds } from '../../errors.ts';
import { isStartedByGuard } from '../../process/invocation.ts';
import type { Git } from '../run/environment.ts';
import { discoverRepository, listRegistrations, registeredWorktree } from './discover-repository.ts';

/** A git changes its refs in less than this, unless it is stopped. */
const LONGEST_CHANGE_MS = 3000;
const POLL_MS = 20;

/** The caller holds the session's lock. `places` names the directories that a git at work there runs in. */
export async function breakStaleLocks(locks: readonly string[], places: () => Promise<readonly string[]>) {
  const left = () => locks.filter((path) => existsSync(path));
  if (left().length === 0) return;
  const real = (await places()).filter((place) => existsSync(place)).map((place) => realpathSync(place));
  const deadline = Date.now() + LONGEST_CHANGE_MS;
  while (left().length > 0 && Date.now() < deadline) {
    // Asked in this order: a git that took the lock before is still among the processes.
    const stale = left();
    if (someGitMayHoldThem(real) || someProcessHasOpen(stale)) await sleep(POLL_MS);
    else if (!stale.every(remove)) return;
  }
}

/** False if the system refuses: git then says why it cannot work. */
function remove(path: string): boolean {
  return succeeds(() => unlinkSync(path)) || !existsSync(path);
}

/** Commands that change no ref. They may run for long, as in a pager. */
const READERS = new Set(
  `blame cat-file diff diff-files diff-index diff-tree for-each-ref grep log ls-files ls-tree rev-list rev-parse
  shortlog show status`.split(/\s+/),
);

/** Also true where the system does not say which processes run. */
function someGitMayHoldThem(places: readonly string[]): boolean {
  const processes = listProcesses();
  return processes === undefined || processes.some((running) => mayHold(running, places));
}

/**
 * Programs that work on a repository without git, such as editors, keep the file open. Also true where the system does
 * not say which files are open.
 */
function someProcessHasOpen(locks: readonly string[]): boolean {
  const open = openFiles();
  return locks.some((path) => existsSync(path) && open?.has(realpathSync(path)) !== false);
}

function mayHold({ pid, program, words, areExact, cwd }: RunningProcess, places: readonly string[]): boolean {
  // Git mode is called git too. It waits for this capture, and holds no lock.
  if (pid === process.ppid && isStartedByGuard(process.env)) return false;
  const isReader = (areExact ? words : words.slice(1, 2)).some((word) => READERS.has(word));
  if (!/^git(-|$)/.test(basename(program)) || isReader) return false;
  return cwd === undefined || places.some((place) => cwd === place || cwd.startsWith(`${place}/`));
}

const LOCKED = /(?:Unable to create '(.*)\.lock'|could not lock config file (.*)): File exists/;

/** A killed git leaves at most these: on a ref, on HEAD that leads to it, on packed refs. */
export const MOST_LOCKS = 3;

/**
 * Whether git failed, with this message, because of a lock that is gone now. Locks on refs and settings are held for
 * moments: agt removes one that no running git can hold. An index may be locked while a person writes a message.
 */
export async function isLockGone(git: Pick<Git, 'cwd' | 'env'>, message: string): Promise<boolean> {
  const [, file, config] = LOCKED.exec(message) ?? [];
  const locked = file ?? config;
  const found = locked === undefined ? undefined : discoverRepository(git.cwd, git.env);
  if (found === undefined) return false;
  const { commonDir, top } = found;
  const path = resolve(top ?? git.cwd, `${locked}.lock`); // git has changed to the top directory
  if (path.endsWith('/index.lock') || !isBelow(commonDir, path)) return false;
  await breakStaleLocks([path], async () => [git.cwd, commonDir, ...worktreesOf(commonDir)]);
  return !existsSync(path);
}

function isBelow(directory: string, path: string): boolean {
  const parent = dirname(path);
  return existsSync(parent) && `${realpathSync(parent)}/`.startsWith(`${realpathSync(directory)}/`);
}

/** A git that changes a ref runs in one of them. */
function worktreesOf(commonDir: string): string[] {
  const linked = listRegistrations(commonDir).flatMap((gitDir) => registeredWorktree(gitDir) ?? []);
  return commonDir.endsWith('/.git') ? [dirname(commonDir), ...linked] : linked;
}
