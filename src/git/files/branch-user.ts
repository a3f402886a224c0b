/** Which other worktree uses a branch, so that nobody may move it: as git's own commands see it. */
import { dirname, join, resolve } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { AgtError } from '../../errors.ts';
import type { Git } from '../run/git.ts';
import { discoverRepository } from './discover-repository.ts';
import { gitDirOf } from './worktree-git-dir.ts';
import { listRegistrations, listWorktrees } from './worktree-registrations.ts';

export interface BranchUser {
  readonly use: 'checked out' | 'being rebased' | 'being bisected';
  readonly worktree: string;
}

/** `ref` is a full name. Undefined if no worktree but `except` uses it. */
export async function branchUser(git: Git, ref: string, except: string): Promise<BranchUser | undefined> {
  const other = (await listWorktrees(git)).find(({ branch, path }) => branch === ref && path !== except);
  if (other !== undefined) return { use: 'checked out', worktree: other.path };
  const commonDir = discoverRepository(git.cwd, git.env)?.commonDir;
  if (commonDir === undefined) throw new AgtError(`${git.cwd} is in no repository`);
  const own = gitDirOf(except);
  for (const gitDir of [commonDir, ...listRegistrations(commonDir)]) {
    const use = gitDir === own ? undefined : operationOn(gitDir, ref);
    if (use !== undefined) return { use, worktree: worktreeOf(gitDir) };
  }
  return undefined;
}

/** Meanwhile HEAD is detached. */
function operationOn(gitDir: string, ref: string): BranchUser['use'] | undefined {
  const read = (name: string) => readSmallFile(join(gitDir, name)) ?? '';
  const heads = [read('rebase-merge/head-name'), read('rebase-apply/head-name')];
  const updated = read('rebase-merge/update-refs').split('\n');
  if ([...heads, ...updated].includes(ref)) return 'being rebased';
  return `refs/heads/${read('BISECT_START')}` === ref ? 'being bisected' : undefined;
}

/** The worktree of a git directory: of a registration, or of a main worktree. */
export function worktreeOf(gitDir: string): string {
  const gitFile = readSmallFile(join(gitDir, 'gitdir'));
  return dirname(gitFile === undefined ? gitDir : resolve(gitDir, gitFile));
}
