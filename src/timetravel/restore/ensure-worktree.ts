/**
 * Makes sure that a session's sandbox is a worktree, without touching a file in it: the folder may be gone, or its
 * registration, or both. Whatever stands there is captured afterwards like everything else.
 */
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { holdsFiles } from '../../disk/folder-entries.ts';
import { AgtError } from '../../errors.ts';
import { dropUnfinishedWorktrees } from '../../git/files/worktree-registrations.ts';
import { gitText, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { sandboxExists } from '../../session/sandbox.ts';

/** Returns true where nothing was there: no file to capture, no index. */
export async function ensureWorktree(
  repository: Repository,
  record: SessionRecord,
  commit: string,
): Promise<boolean> {
  if (sandboxExists(record)) return false;
  if (statSync(join(record.sandbox, '.git'), { throwIfNoEntry: false })?.isDirectory()) {
    throw new AgtError(`${record.sandbox} has become a repository of its own`, {
      hints: ['move it away first: agt captures no .git directory'],
    });
  }
  const folder = sessionFolder(record);
  const wasEmpty = !holdsFiles(folder);
  mkdirSync(record.sandbox, { recursive: true });
  dropUnfinishedWorktrees(repository.commonDir);
  failurePoint('place: folder made');
  // Writes a `.git` that is missing where the registration is still there.
  await runGit(repository.git, ['worktree', 'repair', record.sandbox]);
  if (!sandboxExists(record)) await register(repository, record, commit);
  if (!sandboxExists(record)) throw new AgtError(`git could not register ${record.sandbox} as a worktree`);
  return wasEmpty;
}

/** A folder with files in it is none that git makes a worktree of; so one is made beside it and given the place. */
async function register(repository: Repository, record: SessionRecord, commit: string): Promise<void> {
  const { git } = repository;
  const parent = join(sessionFolder(record), '.agt-worktree');
  const beside = join(parent, 'sandbox');
  if (existsSync(beside)) await runGit(git, ['worktree', 'remove', '--force', '--force', beside]);
  rmSync(parent, { recursive: true, force: true });
  await gitText(git, ['worktree', 'add', '--detach', '--no-checkout', '--', beside, commit]);
  failurePoint('place: worktree made beside');
  rmSync(join(record.sandbox, '.git'), { force: true });
  renameSync(join(beside, '.git'), join(record.sandbox, '.git'));
  failurePoint('place: worktree moved');
  await gitText(git, ['worktree', 'repair', record.sandbox]);
  failurePoint('place: worktree repaired');
  rmSync(parent, { recursive: true, force: true });
}
