/**
 * Carries a plan out: the worktree, the commit, the branch. The intent in the metadata says how far it came. git itself
 * brings the worktree along: it keeps staged and other uncommitted changes, and respects filters, sparse checkouts and
 * submodules. Until the branch moves, `git status` shows the change as staged, and nothing is lost.
 */
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError, EXIT, isAgtError } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { editIndex, editTree, withIndex } from '../git/objects/scratch-index.ts';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import { type Git, gitFailed, inDirectory, resolveObject, runGit } from '../git/run/git.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import { moveLockedRef, type RefMove } from '../git/run/ref-transaction.ts';
import { uninterrupted } from '../process/interrupts.ts';
import { reportProgress } from '../process/progress.ts';
import { shellQuote } from '../process/shell-quote.ts';
import type { Repository } from '../repository/repository.ts';
import type { LockedSession } from '../session/lock.ts';
import { begin } from '../session/operation.ts';
import type { BranchMove, Present } from '../session/state.ts';
import { BEFORE_ACCEPT } from '../snapshot/format.ts';
import { captureSession } from '../workspace/capture-session.ts';
import type { AcceptRequest, Landing, LandingPlan, NewPlan } from './accept-request.ts';
import { hasHook, makeCommit, requireHook } from './make-commit.ts';
import { indexEdits, settleMove } from './recover.ts';
import type { Workbench } from './workbench.ts';

/** @throws AgtError; then branch and worktree are as before. */
export async function land(
  session: LockedSession,
  plan: LandingPlan,
  bench: Workbench,
  request: AcceptRequest,
): Promise<Landing> {
  const { onto, from, tree, worktree, source, present, hasCommits, parents, message = '' } = plan;
  const { keepCommits, text, edit, verify, keep } = request;
  const git = worktree === undefined ? bench.git : inDirectory(session.git, worktree);
  const checksFiles = verify && plan.commit === undefined && (await hasHook(git, 'pre-merge-commit'));
  const warnings = [...plan.warnings];
  if (checksFiles && worktree === undefined)
    warnings.push('the pre-merge-commit hook did not run, because no worktree has the branch checked out');
  const kind = keepCommits ? 'merge' : text === undefined ? 'squash' : 'message';
  const commit = async () =>
    plan.commit ?? makeCommit(git, bench, { tree, parents, message, source: kind, edit, verify });
  const to = checksFiles && worktree !== undefined ? undefined : await commit();
  // Nothing refuses it now. What has changed since the capture stays for the check at the end.
  await captureSession(session, { now: request.now, label: BEFORE_ACCEPT, siblings: [] });
  const move = { onto, from, to, tree, worktree, keep, source, present, isPart: isPart(plan), hasCommits };
  const intent = { operation: 'accept', ...move } as const;
  const landed = await carryOut(session, intent, async () => {
    await requireHook(git, 'pre-merge-commit', [], { GIT_EDITOR: ':' });
    return commit();
  });
  return { ...plan, ...landed, warnings };
}

export const isPart = ({ leftOut, leftOutCommits = [], hasRest = false }: NewPlan) =>
  hasRest || leftOut.length + leftOutCommits.length > 0;

type MoveIntent = BranchMove & { readonly operation: 'accept' | 'unaccept' };

/** Moves worktree and branch. With `makeCommit` the worktree goes first: a hook checks its files before the commit. */
export async function carryOut(
  session: LockedSession,
  begun: MoveIntent,
  makeCommit?: () => Promise<string>,
): Promise<Pick<Landing, 'record' | 'commit' | 'at'>> {
  const { repository } = session;
  const { onto: ref, from, worktree, present = [] } = begun;
  let intent = present.length === 0 ? begun : { ...begun, base: await baseWith(repository, from, present) };
  let written = begin(session, intent);
  // The worktree may have changed: git can fail in the middle, as when a filter fails.
  let hasBegun = false;
  let isDone = false;
  let at: Date | undefined;
  const follow = async () => {
    if (worktree === undefined || isDone) return;
    hasBegun = true;
    await bringAlong(inDirectory(repository.git, worktree), intent).catch((error: unknown) => {
      // Somebody else has the lock of the index: git had not begun.
      hasBegun = present.length > 0 || !(isAgtError(error) && error.exitCode === EXIT.busy);
      throw error;
    });
    isDone = true;
    failurePoint('landing: worktree brought along');
  };
  try {
    if (intent.to === undefined && makeCommit !== undefined) {
      await follow();
      intent = { ...intent, to: await makeCommit() };
      written = { ...written, intent };
      session.write(written);
    }
    const { operation, to = '' } = intent;
    const reason = `agt ${operation}: ${session.id}`;
    await moveBranch(repository, worktree, { ref, from, to, reason }, async () => {
      failurePoint('landing: branch locked');
      await follow();
      at = new Date();
    });
  } catch (error) {
    // The branch may have moved although git reported a failure.
    if (!hasBegun || !(await settleMove(repository, intent))) {
      session.write(session.record);
      throw error;
    }
  }
  return { record: written, commit: intent.to ?? '', at };
}

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
async function bringAlong(worktree: Git, { from, tree, base = from, present = [] }: BranchMove) {
  const git = withUsersPrograms(worktree);
  const args = ['read-tree', '-m', '-u', base, tree];
  reportProgress('bringing the worktree along');
  await editIndex(git, indexEdits(present, 'entry'), tree.length).catch((error: AgtError) => {
    throw cannotFollow(git, error);
  });
  failurePoint('landing: index has what is there');
  let run = await runGit(git, args, { detached: true });
  if (/not uptodate/.test(run.stderr)) {
    // The index may know older times of the same files: after a copy, or a touch.
    await runGit(git, ['update-index', '-q', '--refresh'], { detached: true });
    run = await runGit(git, args, { detached: true });
  }
  if (run.exitCode !== 0) throw cannotFollow(git, gitFailed(args, run));
  if (present.length > 0) await runGit(git, ['update-index', '-q', '--refresh'], { detached: true });
}

/** git passes over files that are in the index as in both trees. */
function baseWith(repository: Repository, tree: string, present: readonly Present[]): Promise<string> {
  return withScratchObjects(repository, ({ dir }) =>
    editTree(withIndex(repository.git, join(dir, 'index')), { tree }, indexEdits(present, 'entry')),
  );
}

function cannotFollow(git: Git, { message, hints, cause }: AgtError): AgtError {
  const isLocked = /index\.lock/.test(message);
  const lock = /'(.*index\.lock)'/.exec(message)?.[1] ?? 'index.lock';
  return new AgtError(`cannot bring ${git.cwd} along: ${message.replace(/^.*? failed: /, '')}`, {
    exitCode: isLocked ? EXIT.busy : EXIT.failed,
    hints: isLocked
      ? [
          'if a git works there, try again when it is done',
          `if none does, a killed one has left the lock: rm ${shellQuote(lock)}`,
        ]
      : hints,
    cause,
  });
}

/** Moves a branch while `action` holds its lock. @throws BranchMoved */
async function moveBranch(
  repository: Repository,
  worktree: string | undefined,
  move: RefMove,
  action: () => Promise<void>,
): Promise<void> {
  const git = withUsersPrograms(inDirectory(repository.git, worktree ?? repository.git.cwd));
  try {
    await uninterrupted(() => moveLockedRef(git, move, action));
  } catch (error) {
    if (!isAgtError(error) || error.exitCode !== EXIT.git) throw error;
    // Another acceptance may bring a large worktree along under the lock.
    const isHeld = /\.lock': File exists/.test(String(error.cause));
    if (isHeld || (await resolveObject(git, move.ref)) !== move.from) throw new BranchMoved(move.ref);
    throw error;
  }
  failurePoint('landing: branch moved');
}
