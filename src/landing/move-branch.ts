/**
 * Moves a branch, and before that the worktree that has it checked out. git itself brings the worktree along: it keeps
 * staged and other uncommitted changes, and respects filters, sparse checkouts and submodules. Between the two steps the
 * worktree is ahead of the branch: `git status` then shows the change as staged, and nothing is lost.
 */
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError, EXIT, isAgtError } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { type Git, gitFailed, inDirectory, resolveObject, runGit } from '../git/run/git.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import { moveLockedRef, type RefMove } from '../git/run/ref-transaction.ts';
import { shellQuote } from '../git/run/trace.ts';
import { uninterrupted } from '../process/interrupts.ts';
import { reportProgress } from '../process/progress.ts';
import type { Repository } from '../repository/repository.ts';

/** Somebody else moved the branch since agt read it. */
export class BranchMoved extends AgtError {
  constructor(ref: string) {
    super(`"${shortBranch(ref)}" moves again and again`, {
      exitCode: EXIT.busy,
      hints: ['another process commits to it; try again when that is done'],
    });
  }
}

/** Brings a worktree from one commit or tree to another. @throws AgtError if git refuses; then nothing has changed. */
export async function bringAlong(worktree: Git, from: string, to: string): Promise<void> {
  const git = withUsersPrograms(worktree);
  const args = ['read-tree', '-m', '-u', from, to];
  reportProgress('bringing the worktree along');
  let run = await runGit(git, args, { detached: true });
  if (/not uptodate/.test(run.stderr)) {
    // The index may know older times of the same files: after a copy, or a touch.
    await runGit(git, ['update-index', '-q', '--refresh'], { detached: true });
    run = await runGit(git, args, { detached: true });
  }
  if (run.exitCode !== 0) throw cannotFollow(git, gitFailed(args, run));
}

function cannotFollow(git: Git, { message, hints, cause }: AgtError): AgtError {
  const isLocked = /index\.lock/.test(message);
  return new AgtError(`cannot bring ${git.cwd} along: ${message.replace(/^.*? failed: /, '')}`, {
    exitCode: isLocked ? EXIT.busy : EXIT.failed,
    hints: isLocked
      ? [
          'if a git works there, try again when it is done',
          `if none does, a killed one has left the lock: rm ${shellQuote(lockIn(message))}`,
        ]
      : hints,
    cause,
  });
}

function lockIn(message: string): string {
  return /'(.*index\.lock)'/.exec(message)?.[1] ?? 'index.lock';
}

/** Moves a branch while `action` holds its lock. @throws BranchMoved */
export async function moveBranch(
  repository: Repository,
  worktree: string | undefined,
  move: RefMove,
  action: () => Promise<void>,
): Promise<void> {
  const git = withUsersPrograms(inDirectory(repository.git, worktree ?? repository.git.cwd));
  try {
    await uninterrupted(() => moveLockedRef(git, move, action));
  } catch (error) {
    if (isAgtError(error) && error.exitCode === EXIT.git && (await isElsewhere(git, move)))
      throw new BranchMoved(move.ref);
    throw error;
  }
  failurePoint('landing: branch moved');
}

async function isElsewhere(git: Git, { ref, from }: RefMove): Promise<boolean> {
  return (await resolveObject(git, ref)) !== from;
}
