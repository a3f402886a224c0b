/** Carries a plan out: the worktree, the commit, the branch. The intent in the metadata says how far it came. */
import { failurePoint } from '../disk/failure-point.ts';
import { EXIT, isAgtError } from '../errors.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { LockedSession } from '../session/lock.ts';
import { begin } from '../session/operation.ts';
import type { SessionRecord } from '../session/record.ts';
import type { BranchMove } from '../session/state.ts';
import { type AcceptRequest, changeOf, type Landing, type LandingPlan } from './accept-request.ts';
import { hasHook, requireHook } from './hooks.ts';
import { makeCommit } from './make-commit.ts';
import { bringAlong, moveBranch } from './move-branch.ts';
import { refuseOverlap } from './overlap.ts';
import { settleMove } from './recover.ts';
import type { Workbench } from './workbench.ts';

interface Tools {
  readonly bench: Workbench;
  readonly request: AcceptRequest;
}

/** @throws AgtError; then branch and worktree are as before. */
export async function land(
  session: LockedSession,
  record: SessionRecord,
  plan: LandingPlan,
  { bench, request }: Tools,
): Promise<Landing> {
  const { repository } = session;
  const { worktree, tip: from, ref: onto } = plan.target;
  const git = worktree === undefined ? bench.git : inDirectory(repository.git, worktree);
  if (worktree !== undefined) await refuseOverlap(git, plan.changes);
  const commit = () => commitOf(git, bench, plan, request);
  const checksFiles = request.verify && plan.commit === undefined && (await hasHook(git, 'pre-merge-commit'));
  const warnings = [...plan.warnings];
  if (checksFiles && worktree === undefined)
    warnings.push('the pre-merge-commit hook did not run, because no worktree has the branch checked out');
  const hookFirst = checksFiles && worktree !== undefined;
  const place = worktree === undefined ? {} : { worktree };
  const source = plan.source === undefined ? {} : { source: plan.source };
  const move: BranchMove = { onto, from, tree: plan.tree, ...place, keep: request.keep, ...source };
  const made = hookFirst ? undefined : await commit();
  const to = await carryOut(
    session,
    record,
    { ...move, ...(made === undefined ? {} : { to: made }) },
    async (follow) => {
      await follow.run();
      await requireHook(git, 'pre-merge-commit', [], { GIT_EDITOR: ':' });
      return commit();
    },
  );
  return {
    ...changeOf(plan),
    record: { ...record, intent: { operation: 'accept', ...move, to } },
    commit: to,
    warnings,
  };
}

async function commitOf(
  git: Git,
  bench: Workbench,
  { commit, tree, parents, message = '' }: LandingPlan,
  { keepCommits, text, edit, verify }: AcceptRequest,
): Promise<string> {
  if (commit !== undefined) return commit;
  const source = keepCommits ? 'merge' : text === undefined ? 'squash' : 'message';
  return makeCommit(git, bench, { tree, parents, message, source, edit, verify });
}

/**
 * Moves worktree and branch. `makeCommit` is for a move without a commit: it brings the worktree along first, because a
 * hook checks the files before there is a commit. Returns the commit.
 */
async function carryOut(
  session: LockedSession,
  record: SessionRecord,
  move: BranchMove,
  makeCommit: (follow: Follow) => Promise<string>,
): Promise<string> {
  const { repository } = session;
  begin(session, record, { operation: 'accept', ...move });
  const follow = new Follow(repository, move);
  let moving = move;
  try {
    const to = move.to ?? (await makeCommit(follow));
    moving = { ...move, to };
    if (move.to === undefined) session.write({ ...record, intent: { operation: 'accept', ...moving } });
    await moveWith(repository, { ...moving, to }, `agt accept: ${record.session_id}`, follow);
    return to;
  } catch (error) {
    // The branch may have moved although git reported a failure.
    if (follow.hasBegun && (await settleMove(repository, moving)) && moving.to !== undefined)
      return moving.to;
    session.write(record);
    throw error;
  }
}

/** Brings the worktree along, once. */
export class Follow {
  /** The worktree may have changed: git can fail in the middle, as when a filter fails. */
  hasBegun = false;
  private isDone = false;
  private readonly repository: Repository;
  private readonly move: BranchMove;

  constructor(repository: Repository, move: BranchMove) {
    this.repository = repository;
    this.move = move;
  }

  async run(): Promise<void> {
    const { worktree, from, tree } = this.move;
    if (worktree === undefined || this.isDone) return;
    this.hasBegun = true;
    await bringAlong(inDirectory(this.repository.git, worktree), from, tree).catch((error: unknown) => {
      // Somebody else has the lock of the index: git had not begun.
      this.hasBegun = !(isAgtError(error) && error.exitCode === EXIT.busy);
      throw error;
    });
    this.isDone = true;
    failurePoint('landing: worktree brought along');
  }
}

export async function moveWith(
  repository: Repository,
  { onto: ref, from, to, worktree }: BranchMove & { readonly to: string },
  reason: string,
  follow: Follow,
): Promise<void> {
  await moveBranch(repository, worktree, { ref, from, to, reason }, async () => {
    failurePoint('landing: branch locked');
    await follow.run();
  });
}
