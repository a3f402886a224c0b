/**
 * `git worktree`, when several run at once. Before it acts, git reads the registrations of all worktrees, and dies at one
 * whose file `commondir` another git has made and not yet filled, or just deletes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AgtError, EXIT } from '../../errors.ts';
import { type Git, type GitRun, gitFailed, type RunOptions, runGit } from './git.ts';

const HALF_MADE = /^fatal: failed to read .*commondir: (Success|No such file or directory)$/m;
const ATTEMPTS = 20;
/** The first pause; each one is longer by as much. */
const PAUSE_MS = 5;

export async function runWorktree(
  git: Git,
  args: readonly string[],
  options: RunOptions = {},
): Promise<GitRun> {
  for (let attempt = 1; ; attempt++) {
    const run = await runGit(git, args, options);
    if (run.exitCode === 0 || !HALF_MADE.test(run.stderr) || attempt === ATTEMPTS) return run;
    await sleep(PAUSE_MS * attempt);
  }
}

/** Standard output of a call that must succeed. @throws AgtError with git's own message. */
export async function worktreeText(git: Git, args: readonly string[]): Promise<string> {
  const run = await runWorktree(git, args);
  if (run.exitCode !== 0) throw HALF_MADE.test(run.stderr) ? halfMade(run.stderr) : gitFailed(args, run);
  return run.stdout.toString();
}

function halfMade(stderr: string): AgtError {
  const [reason = ''] = HALF_MADE.exec(stderr) ?? [];
  return new AgtError(`git stops at half a worktree: ${reason.replace(/^fatal: /, '')}`, {
    hints: ['if a git that was killed has left it: agt doctor --fix'],
    exitCode: EXIT.git,
  });
}
