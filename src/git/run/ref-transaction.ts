/**
 * Moves a ref in two steps. git locks the ref and compares its value; then the caller acts; then git moves the
 * ref. If agt is killed meanwhile, git sees the end of its input, and the ref stays.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isAgtError } from '../../errors.ts';
import { isLockGone, MOST_LOCKS } from '../files/ref-locks.ts';
import { cannotRun, endOf, FSYNC_ARGS, type Git, gitFailed, spawnGit } from './git.ts';

export interface RefMove {
  /** A full name. */
  readonly ref: string;
  readonly from: string;
  readonly to: string;
  /** For the reflog. */
  readonly reason: string;
}

/** While `action` runs, nobody moves the ref; if it throws, the ref stays. @throws AgtError by git. */
export async function moveLockedRef(git: Git, move: RefMove, action: () => Promise<void>): Promise<void> {
  for (let locks = 0; ; locks++) {
    let hasBegun = false;
    try {
      return await tryToMove(git, move, () => {
        hasBegun = true;
        return action();
      });
    } catch (error) {
      if (hasBegun || locks === MOST_LOCKS || !isAgtError(error)) throw error;
      if (!(await isLockGone(git, String(error.cause)))) throw error;
    }
  }
}

/** The holder of the lock may bring a worktree along meanwhile. */
const PATIENCE = ['-c', 'core.filesRefLockTimeout=1000'];

async function tryToMove(git: Git, move: RefMove, action: () => Promise<void>): Promise<void> {
  const args = [...FSYNC_ARGS, ...PATIENCE, 'update-ref', '-m', move.reason, '--stdin'];
  // An interrupt from the terminal must not reach git between the two steps.
  const child = spawnGit(git, args, { detached: true }) as ChildProcessWithoutNullStreams;
  const ended = endOf(child).catch((error: unknown) => {
    throw cannotRun(git, error);
  });
  ended.catch(() => undefined); // awaited below
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`start\nupdate ${move.ref} ${move.to} ${move.from}\nprepare\n`);
  const isPrepared =
    (await answers.next()).value === 'start: ok' && (await answers.next()).value !== undefined;
  try {
    if (isPrepared) await action();
  } catch (error) {
    child.stdin.end('abort\n');
    await ended;
    throw error;
  }
  child.stdin.end(isPrepared ? 'commit\n' : '');
  const end = await ended;
  if (end.exitCode !== 0) throw gitFailed(args, { ...end, exitCode: end.exitCode ?? -1 });
}
