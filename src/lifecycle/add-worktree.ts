/** Registers the sandbox of a new session as a worktree of git. It has the user's files, so the user's hooks run. */
import { availableParallelism } from 'node:os';
import { AgtError, EXIT } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { mendWorktrees, runWorktree } from '../git/files/worktree-registrations.ts';
import type { GitConfig } from '../git/run/config.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import type { LockedSession } from '../session/lock.ts';

/** Without `checkOut` git writes no files. */
export async function addWorktree(
  { repository, record }: LockedSession,
  { checkOut, showProgress = false }: { readonly checkOut: boolean; readonly showProgress?: boolean },
  config: GitConfig,
): Promise<void> {
  mendWorktrees(repository.commonDir);
  const options = [checkOut ? '--checkout' : '--no-checkout', ...(showProgress ? [] : ['--quiet'])];
  const workers = checkOut ? ownWorkers(config) : [];
  const tree = [record.sandbox, shortBranch(record.work_branch)];
  const args = [...workers, 'worktree', 'add', ...options, '--', ...tree];
  const git = checkOut ? withUsersPrograms(repository.git) : repository.git;
  const run = await runWorktree(git, args, { stderr: showProgress ? 'inherit' : 'pipe' });
  if (run.exitCode !== 0) {
    const said = run.stderr.split('\n').filter((line) => line !== '');
    const guess = `git ended with exit code ${run.exitCode}; a post-checkout hook that fails does that`;
    throw new AgtError(`git could not create the sandbox ${record.sandbox}`, {
      hints: said.length === 0 && !showProgress ? [guess] : said,
      exitCode: EXIT.git,
    });
  }
}

/** By default git writes one file at a time and mostly waits for the disk. The settings of the user have priority. */
function ownWorkers(config: GitConfig): string[] {
  const own = {
    'checkout.workers': Math.max(FEWEST_WORKERS, availableParallelism()),
    'checkout.thresholdForParallelism': FEWEST_FILES,
  };
  const missing = Object.entries(own).filter(([key]) => !config.has(key.toLowerCase()));
  return missing.flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}

/** To start the workers takes longer than one git needs for so many files. git's own default is 100. */
const FEWEST_FILES = 2000;

/** On few cores, too, more workers keep the disk busy. */
const FEWEST_WORKERS = 4;
