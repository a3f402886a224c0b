/** Makes the sandbox of a session a worktree again, with a new registration. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { branchUser } from '../git/files/branch-user.ts';
import { gitText, inDirectory, resolveObject } from '../git/run/git.ts';
import { runWorktree, worktreeText } from '../git/run/run-worktree.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, sessionFolder } from './record.ts';
import { startCommit } from './start-commit.ts';

/** git adds no worktree in a directory that has files. So agt adds one beside it and moves its `.git` file. */
export async function registerWorktree(repository: Repository, record: SessionRecord): Promise<void> {
  const { git } = repository;
  const parent = join(sessionFolder(record), '.agt-worktree');
  const temporary = join(parent, 'sandbox');
  if (existsSync(temporary)) await runWorktree(git, ['worktree', 'remove', '--force', '--force', temporary]);
  rmSync(parent, { recursive: true, force: true });
  const commit = await startCommit(repository, record);
  await worktreeText(git, ['worktree', 'add', '--detach', '--no-checkout', '--', temporary, commit]);
  failurePoint('worktree: added beside');
  rmSync(join(record.sandbox, '.git'), { force: true });
  renameSync(join(temporary, '.git'), join(record.sandbox, '.git'));
  failurePoint('worktree: moved');
  await worktreeText(git, ['worktree', 'repair', record.sandbox]);
  failurePoint('worktree: repaired');
  rmSync(parent, { recursive: true, force: true });
}

/** For a session without snapshots: HEAD on the work branch, and its files in the index. */
export async function reconnectToWorkBranch(repository: Repository, record: SessionRecord): Promise<void> {
  await registerWorktree(repository, record);
  const git = inDirectory(repository.git, record.sandbox);
  const tip = await resolveObject(git, `${record.work_branch}^{commit}`);
  const isFree = (await branchUser(git, record.work_branch, record.sandbox)) === undefined;
  if (tip !== undefined && isFree) await gitText(git, ['symbolic-ref', 'HEAD', record.work_branch]);
  await gitText(git, ['read-tree', 'HEAD']);
}
