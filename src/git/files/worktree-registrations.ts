/** The worktrees that git has registered, from its own porcelain listing, and those that it never finished. */
import { existsSync, globSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openFiles } from '../../disk/open-files.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { type Git, gitText } from '../run/git.ts';
import { readSmallFile } from './read-small-file.ts';

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
  const gitFile = readSmallFile(join(gitDir, 'gitdir'));
  return gitFile !== undefined && resolve(gitDir, gitFile) === join(worktree, '.git');
}

/** What a git left of a registration that it was to remove, unless another worktree has the place by now. */
export function dropRegistration(gitDir: string, worktree: string): void {
  const isOther = existsSync(join(gitDir, 'gitdir')) && !isRegistrationOf(gitDir, worktree);
  if (existsSync(gitDir) && !isOther) removeTree(gitDir);
}

/**
 * Registrations that a git was killed over: before HEAD was there or said anything, or between making `commondir` and writing into it. `git
 * fsck` complains of the one; with the other git lists no worktrees and no branches, checks and collects nothing. No file
 * has been checked out there yet.
 */
export function unfinishedWorktrees(commonDir: string): string[] {
  const found = globSync('worktrees/*', { cwd: commonDir })
    .map((path) => join(commonDir, path))
    .filter(isUnfinished);
  if (found.length === 0) return [];
  const open = openFiles();
  // Looked at again: who had it open may have written it by now.
  return found.filter((path) => open?.has(join(path, 'commondir')) !== true && isUnfinished(path));
}

/** What git needs for all of it, many times over. */
const MAKING_MS = 1000;

function isUnfinished(gitDir: string): boolean {
  const has = (name: string) => existsSync(join(gitDir, name));
  const isNew =
    Math.abs(Date.now() - (statSync(gitDir, { throwIfNoEntry: false })?.mtimeMs ?? 0)) <= MAKING_MS;
  const isEmpty = statSync(join(gitDir, 'commondir'), { throwIfNoEntry: false })?.size === 0;
  return !isNew && (isEmpty || (has('gitdir') && !has('index') && !pointsAnywhere(gitDir)));
}

/** git begins with a HEAD of zeros. */
function pointsAnywhere(gitDir: string): boolean {
  return existsSync(join(gitDir, 'HEAD')) && !/^0+$/.test(readSmallFile(join(gitDir, 'HEAD')) ?? '');
}

/** So that the next worktree can be made. */
export function dropUnfinishedWorktrees(commonDir: string): void {
  for (const path of unfinishedWorktrees(commonDir)) removeTree(path);
}
