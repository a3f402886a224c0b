/**
 * `agt session accept`: merges the content of a sandbox into a branch in memory, and only then changes something: the
 * worktree that has the branch checked out, the branch, the session. README.md beside it tells how a kill is repaired.
 */
import { inDirectory } from '../git/run/git.ts';
import { refuseLoss } from '../lifecycle/delete-folder.ts';
import { requireReturnable } from '../lifecycle/in-place/leave.ts';
import { requireRemovable } from '../lifecycle/remove.ts';
import type { Repository } from '../repository/repository.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { requireAllowed, unfinishedError } from '../session/operation.ts';
import { refuseRunning } from '../session/owner.ts';
import type { SessionRecord } from '../session/record.ts';
import { captureSession, previewCapture } from '../workspace/capture-session.ts';
import type { AcceptRequest, AcceptResult, Landing, LandingPlan } from './accept-request.ts';
import { endSession, finishEarlier } from './end-session.ts';
import { BranchMoved, land } from './land.ts';
import { refuseOverlap } from './overlap.ts';
import { planLanding } from './plan-landing.ts';
import { requireSettled } from './sandbox-content.ts';
import { findTarget } from './target.ts';
import { refuseUsersIgnored } from './users-side.ts';
import { type Workbench, withWorkbench } from './workbench.ts';

const WAY_OUT = 'let the session go on: --keep';

/** agt merges once more if somebody moves the branch meanwhile. Several sessions may be accepted at once. */
const ATTEMPTS = 10;

export async function acceptSession(
  repository: Repository,
  record: SessionRecord,
  request: AcceptRequest,
): Promise<AcceptResult> {
  if (request.dryRun) return previewAccept(repository, record, request);
  // The current directory may be in the folder that goes.
  process.chdir(repository.commonDir);
  const action = (session: LockedSession) => accept(session, session.read() ?? record, request);
  return withSessionLock(repository, record.session_id, action, { waitMs: request.waitMs });
}

async function accept(
  session: LockedSession,
  found: SessionRecord,
  request: AcceptRequest,
): Promise<AcceptResult> {
  const earlier = await finishEarlier(session, found, request.now);
  if (earlier.result !== undefined) return earlier.result;
  const { record } = earlier;
  await requireReady(session.repository, record);
  if (!request.keep) await requireReturnable(session.repository, record);
  if (!request.keep) refuseRunning(record, WAY_OUT);
  const captured = await captureSession(session, record, { now: request.now, label: 'before accept' });
  if (!request.keep) refuseLoss(record, captured, WAY_OUT);
  const landed = await mergeAndLand(session, record, request);
  return endSession(session, landed, request.now);
}

async function requireReady(repository: Repository, record: SessionRecord): Promise<void> {
  requireAllowed(record, 'accept');
  if (record.intent !== undefined) throw unfinishedError(record.session_id, record.intent.operation);
  await requireSettled(repository, record);
}

async function mergeAndLand(
  session: LockedSession,
  record: SessionRecord,
  request: AcceptRequest,
): Promise<Landing> {
  for (let attempt = 1; ; attempt++) {
    try {
      const newer = new Set<string>(); // agt has just captured everything
      return await withPlan(session.repository, record, request, newer, (plan, bench) =>
        land(session, record, plan, bench, request),
      );
    } catch (error) {
      if (!(error instanceof BranchMoved) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Merges with the branch as it is now. `newer`: see Landable. */
async function withPlan<T>(
  repository: Repository,
  record: SessionRecord,
  request: AcceptRequest,
  newer: ReadonlySet<string>,
  action: (plan: LandingPlan, bench: Workbench) => Promise<T>,
): Promise<T> {
  const target = await findTarget(repository, record, request.onto);
  const { onto: ref, worktree } = target;
  return withWorkbench(repository, { ref, dryRun: request.dryRun }, async (bench) => {
    const plan = await planLanding(repository, record, { target, bench, request, newer });
    await refuseUsersIgnored(repository, record, plan.changes);
    if (worktree !== undefined) await refuseOverlap(inDirectory(repository.git, worktree), plan.changes);
    return action(plan, bench);
  });
}

/** Merges as `accept` does, and writes nothing into the repository. */
async function previewAccept(
  repository: Repository,
  record: SessionRecord,
  request: AcceptRequest,
): Promise<AcceptResult> {
  await requireReady(repository, record);
  if (!request.keep)
    await requireRemovable(repository, record, { force: false, now: request.now, wayOut: WAY_OUT });
  const newer = await changedSince(repository, record, request.now);
  return withPlan(repository, record, request, newer, async (plan) => ({
    ...plan,
    record,
    commit: undefined,
    kept: request.keep,
  }));
}

/** The acceptance itself makes a snapshot of it first. */
async function changedSince(
  repository: Repository,
  record: SessionRecord,
  now: Date,
): Promise<ReadonlySet<string>> {
  const { changes } = await previewCapture(repository, record, { now });
  return new Set(changes.flatMap(({ path }) => (path.startsWith(SANDBOX) ? path.slice(SANDBOX.length) : [])));
}

const SANDBOX = 'sandbox/';
