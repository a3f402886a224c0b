/** The user's own checkout, in which a session works in place: what is not committed there, and how agt changes its branch. */
import { lstatSync, rmdirSync, rmSync, type Stats, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { systemPath } from '../../disk/long-path.ts';
import { withOpenDirectories } from '../../disk/open-directories.ts';
import { parentPath } from '../../disk/parent-path.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { AgtError, EXIT } from '../../errors.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { breakStaleLocks } from '../../git/files/ref-locks.ts';
import { gitDirOf } from '../../git/files/worktree-git-dir.ts';
import { type Git, gitAnswer, gitBytes, inDirectory, runGit } from '../../git/run/git.ts';
import { statCacheFile } from '../../repository/layout.ts';
import { OPERATION_FILES } from '../../snapshot/git-dir-files.ts';
import { captureSession } from '../capture-session.ts';
import { listPaths, nextTick } from '../lifecycle/delete-folder.ts';
import type { LockedSession } from '../lock.ts';
import { type SessionRecord, sessionFolder } from '../record.ts';

/** A session in place, with the branch to return to. */
export interface InPlace {
  readonly session: LockedSession;
  readonly record: SessionRecord;
  readonly checkout: string;
  readonly userBranch: string;
  /** Runs in the checkout. */
  readonly git: Git;
}

export function inPlace(session: LockedSession, record: SessionRecord): InPlace {
  const { checkout, user_branch: userBranch } = record;
  if (checkout === undefined || userBranch === undefined)
    throw new AgtError(`session "${record.session_id}" does not work in your own checkout`);
  return { session, record, checkout, userBranch, git: inDirectory(session.repository.git, checkout) };
}

export interface DirtyPath {
  /** Relative to the checkout, one byte per character. */
  readonly path: string;
  readonly isUntracked: boolean;
}

/** Without ignored files, submodules and repositories of their own. */
export async function dirtyPaths(git: Git): Promise<DirtyPath[]> {
  const options = ['--no-renames', '--untracked-files=all', '--ignore-submodules=all'];
  const output = await gitBytes(git, ['status', '--porcelain=v1', '-z', ...options]);
  return output
    .toString('latin1')
    .split('\0')
    .filter((entry) => entry !== '' && !entry.endsWith('/'))
    .map((entry) => ({ path: entry.slice(3), isUntracked: entry.startsWith('??') }));
}

export function headBranch({ git }: InPlace): Promise<string | undefined> {
  return gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD']);
}

export function gitDir({ checkout }: InPlace): string {
  return gitDirOf(checkout) ?? join(checkout, '.git');
}

/** Somebody may be saving files while agt captures them. */
const ATTEMPTS = 5;

/**
 * Captures the checkout until the last snapshot holds everything that is not committed, so that agt may take it away.
 * @returns these paths. @throws AgtError if agt cannot capture one of them.
 */
export async function captureDirty(
  { session, record, git, checkout }: InPlace,
  {
    label,
    now,
    onlyIfNeeded,
  }: { readonly label: string; readonly now: Date; readonly onlyIfNeeded?: boolean },
): Promise<DirtyPath[]> {
  let left: readonly DirtyPath[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt > 1 || onlyIfNeeded !== true) {
      await nextTick(sessionFolder(record));
      await captureSession(session, { ...record, state: 'active' }, { now, label });
    }
    const dirty = await dirtyPaths(git);
    const isCaptured = captureCheck(session, checkout);
    left = dirty.filter(({ path }) => !isCaptured(path));
    if (left.length === 0) return dirty;
  }
  const paths = left.map(({ path }) => displayPath(path));
  throw new AgtError(`cannot capture what is not committed in ${checkout}: ${listPaths(paths)}`, {
    hints: ['see why: agt autocommit; move such files away, or commit them'],
  });
}

/** Whether the last snapshot holds the file as it is now. */
function captureCheck({ repository, id }: LockedSession, checkout: string): (path: string) => boolean {
  const cache = readStatCache(statCacheFile(repository.agtDir, id));
  return (path) => {
    const stat = lstatIn(checkout, path);
    if (stat === undefined) return true;
    const row = cache?.files.find(`sandbox/${path}`) ?? -1;
    return cache !== undefined && row >= 0 && cache.files.isSame(row, stat, cache.clock);
  };
}

export function pathIn(checkout: string, path: string): string | Buffer {
  return systemPath(`${Buffer.from(checkout).toString('latin1')}/${path}`);
}

export function lstatIn(checkout: string, path: string): Stats | undefined {
  try {
    return lstatSync(pathIn(checkout, path), { throwIfNoEntry: false });
  } catch {
    return undefined; // a directory on the way has become a file
  }
}

/** And the directories that are empty then. Follows no link on the way. */
export function removeFile(checkout: string, path: string): void {
  withOpenDirectories(checkout, (disk) => {
    if (disk.lstat(path) === undefined) return;
    unlinkSync(disk.entry(path));
    try {
      for (let parent = parentPath(path); parent !== ''; parent = parentPath(parent)) {
        disk.forget(parent);
        rmdirSync(disk.entry(parent));
      }
    } catch {
      // it is not empty
    }
  });
}

/** Checks the branch out, whatever git finds in its way: a snapshot holds it. No hook runs. */
export async function switchTo(place: InPlace, branch: string): Promise<void> {
  const { git, checkout } = place;
  const options = ['--force', '--quiet', '--no-recurse-submodules'];
  const args = ['-c', 'core.hooksPath=/dev/null', 'checkout', ...options, shortBranch(branch), '--'];
  let run = await runGit(git, args);
  if (run.exitCode !== 0 && /\.lock'/.test(run.stderr)) {
    const directory = gitDir(place);
    const locks = ['index.lock', 'HEAD.lock'].map((name) => join(directory, name));
    await breakStaleLocks(locks, async () => [checkout, directory]);
    run = await runGit(git, args);
  }
  if (run.exitCode === 0) return;
  throw new AgtError(`git could not check out ${shortBranch(branch)} in ${git.cwd}`, {
    hints: run.stderr.split('\n').filter((line) => line !== ''),
    exitCode: EXIT.git,
  });
}

/** A merge or rebase that the agent has begun; the last snapshot holds it. */
export function dropOperation(place: InPlace): void {
  for (const name of OPERATION_FILES) rmSync(join(gitDir(place), name), { recursive: true, force: true });
}
