/** The worktrees that git has registered, from its own porcelain listing, and those that it never finished. */
import { existsSync, globSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readLine } from '../git/discover.ts';
import { openFiles } from '../git/fast-import-leftovers.ts';
import { type Git, gitText } from '../git/git.ts';
import { removeTree } from './remove-tree.ts';

export interface WorktreeEntry {
  readonly path: string;
  readonly bare: boolean;
  /** Full name of the branch; undefined where HEAD is detached. */
  readonly branch: string | undefined;
  /** Why `git worktree prune` would remove it, if it would. */
  readonly prunable: string | undefined;
}

export async function listWorktrees(git: Git): Promise<WorktreeEntry[]> {
  return parseWorktrees(await gitText(git, ['worktree', 'list', '--porcelain', '-z']));
}

export function parseWorktrees(output: string): WorktreeEntry[] {
  const records = output.split('\0\0').filter((record) => record !== '');
  return records.map((record) => {
    const fields = record.split('\0');
    const value = (name: string) =>
      fields.find((field) => field === name || field.startsWith(`${name} `))?.slice(name.length + 1);
    return {
      path: value('worktree') ?? '',
      bare: value('bare') !== undefined,
      branch: value('branch'),
      prunable: value('prunable'),
    };
  });
}

/** Where git keeps what it knows of a worktree, even if that is gone; undefined where nothing leads there. */
export function registrationOf(commonDir: string, worktree: string): string | undefined {
  return globSync('worktrees/*/gitdir', { cwd: commonDir })
    .map((path) => join(commonDir, dirname(path)))
    .find((gitDir) => isRegistrationOf(gitDir, worktree));
}

function isRegistrationOf(gitDir: string, worktree: string): boolean {
  const gitFile = readLine(join(gitDir, 'gitdir'));
  return gitFile !== undefined && resolve(gitDir, gitFile) === join(worktree, '.git');
}

/** What a git left of a registration that it was to remove, unless another worktree has the place by now. */
export function dropRegistration(gitDir: string, worktree: string): void {
  const isOther = existsSync(join(gitDir, 'gitdir')) && !isRegistrationOf(gitDir, worktree);
  if (existsSync(gitDir) && !isOther) removeTree(gitDir);
}

/**
 * Where a git was killed between making the file and writing into it. Until such a folder is gone, git lists no
 * worktrees and no branches, checks and collects nothing. No file has been checked out there yet.
 */
export function unfinishedWorktrees(commonDir: string): string[] {
  const isUnfinished = (path: string) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.size === 0 && Math.abs(Date.now() - stat.mtimeMs) > WRITING_MS;
  };
  const empty = globSync('worktrees/*/commondir', { cwd: commonDir })
    .map((path) => join(commonDir, path))
    .filter(isUnfinished);
  if (empty.length === 0) return [];
  const open = openFiles();
  // Looked at again: who had it open may have written it by now.
  return empty.filter((path) => open?.has(path) !== true && isUnfinished(path)).map((path) => dirname(path));
}

/** What git needs for the few bytes, many times over. */
const WRITING_MS = 1000;

/** So that the next worktree can be made. */
export function dropUnfinishedWorktrees(commonDir: string): void {
  for (const path of unfinishedWorktrees(commonDir)) removeTree(path);
}
