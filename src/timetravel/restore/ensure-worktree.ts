/**
 * Makes sure that a session's sandbox is a worktree. The folder, its registration or both may be missing. No file of the
 * sandbox changes: the files that are still there are captured afterwards.
 */
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { holdsFiles } from '../../disk/folder-entries.ts';
import { AgtError } from '../../errors.ts';
import { mendWorktrees } from '../../git/files/worktree-registrations.ts';
import { gitText, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { refuseForeign, sandboxExists, sandboxPlace } from '../../session/sandbox-place.ts';
import { startCommit } from '../../session/start-commit.ts';

/** What a session folder had: files to capture; none, but git still has its index and HEAD; or nothing. */
type FoundFolder = 'files' | 'registered' | 'new';

export async function ensureWorktree(repository: Repository, record: SessionRecord): Promise<FoundFolder> {
  if (sandboxExists(repository, record)) return 'files';
  const wasEmpty = !holdsFiles(sessionFolder(record));
  mkdirSync(record.sandbox, { recursive: true });
  mendWorktrees(repository.commonDir);
  failurePoint('worktree: folder made');
  // If only the `.git` file is missing, git writes it again.
  await runGit(repository.git, ['worktree', 'repair', record.sandbox]);
  const isRegistered = sandboxExists(repository, record);
  if (!isRegistered) await register(repository, record);
  if (!sandboxExists(repository, record))
    throw new AgtError(`git could not register "${record.sandbox}" as a worktree`);
  if (!wasEmpty) return 'files';
  return isRegistered ? 'registered' : 'new';
}

/** @throws AgtError if something is at the sandbox's place that is not to be replaced. */
export function refuseToReplace(repository: Repository, record: SessionRecord): void {
  refuseForeign(record, sandboxPlace(repository, record));
  if (!statSync(join(record.sandbox, '.git'), { throwIfNoEntry: false })?.isDirectory()) return;
  throw new AgtError(`"${record.sandbox}" has become a repository of its own`, {
    hints: ['agt does not capture a .git directory; move it out of the sandbox with: agt doctor --fix'],
  });
}

/** git adds no worktree in a directory that has files. So agt adds one beside it and moves its `.git` file. */
async function register(repository: Repository, record: SessionRecord): Promise<void> {
  const { git } = repository;
  const parent = join(sessionFolder(record), '.agt-worktree');
  const temporary = join(parent, 'sandbox');
  if (existsSync(temporary)) await runGit(git, ['worktree', 'remove', '--force', '--force', temporary]);
  rmSync(parent, { recursive: true, force: true });
  const commit = await startCommit(repository, record);
  await gitText(git, ['worktree', 'add', '--detach', '--no-checkout', '--', temporary, commit]);
  failurePoint('worktree: added beside');
  rmSync(join(record.sandbox, '.git'), { force: true });
  renameSync(join(temporary, '.git'), join(record.sandbox, '.git'));
  failurePoint('worktree: moved');
  await gitText(git, ['worktree', 'repair', record.sandbox]);
  failurePoint('worktree: repaired');
  rmSync(parent, { recursive: true, force: true });
}
