/** The git directory of a linked worktree, from its `.git` file. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Absolute; undefined where there is no such file. */
export function worktreeGitDir(worktree: string): string | undefined {
  let file: string;
  try {
    file = readFileSync(join(worktree, '.git'), 'utf8');
  } catch {
    return undefined;
  }
  return file.startsWith('gitdir: ')
    ? resolve(worktree, file.slice('gitdir: '.length).replace(/\n$/, ''))
    : undefined;
}
