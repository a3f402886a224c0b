/** Finds the git directory of a linked worktree by its `.git` file. */
import { dirname, join, resolve } from 'node:path';
import { readSmallFile } from './read-small-file.ts';

/** Absolute; undefined if the worktree has no such file. */
export function worktreeGitDir(worktree: string): string | undefined {
  return gitFileTarget(join(worktree, '.git'));
}

/** The directory that a `.git` file names, absolute; undefined if the file cannot be read or is not a `.git` file. */
export function gitFileTarget(path: string): string | undefined {
  const target = /^gitdir: (.+)$/s.exec(readSmallFile(path) ?? '')?.[1];
  return target === undefined ? undefined : resolve(dirname(path), target);
}
