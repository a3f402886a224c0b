/** Finds the git directory of a linked worktree by its `.git` file. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';

/** Absolute; undefined if the worktree has no such file. */
export function worktreeGitDir(worktree: string): string | undefined {
  return gitFileTarget(join(worktree, '.git'));
}

/** The git directory of any worktree, the main one too. */
export function gitDirOf(worktree: string): string | undefined {
  const main = join(worktree, '.git');
  return worktreeGitDir(worktree) ?? (existsSync(join(main, 'HEAD')) ? main : undefined);
}

/** Whether a `.git` file is that of a submodule of the worktree whose git directory is `gitDir`. */
export function isOfSubmodule(gitFile: string, gitDir: string): boolean {
  return gitFileTarget(gitFile)?.startsWith(`${join(gitDir, 'modules')}/`) === true;
}

/** The directory that a `.git` file names, absolute; undefined if the file cannot be read or is not a `.git` file. */
export function gitFileTarget(path: string): string | undefined {
  const target = /^gitdir: (.+)$/s.exec(readSmallFile(path) ?? '')?.[1];
  return target === undefined ? undefined : resolve(dirname(path), target);
}
