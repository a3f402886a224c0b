/**
 * `agt session accept`: merges the content of a sandbox into a branch in memory, and only then changes something: the
 * worktree that has the branch checked out, the branch, the session. README.md beside it tells how a kill is repaired.
 */
import { inDirectory } from '../git/run/git.ts';
import { refuseLoss } from '../lifecycle/delete-folder.ts';
import { requireReturnable } from '../lifecycle/in-place/end.ts';
import { requireRemovable } from '../lifecycle/remove.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { requireAllowed, unfinishedError } from '../session/operation.ts';
import { refuseRunning } from '../session/owner.ts';
import type { Session } from '../session/session.ts';
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

export async function acceptSession(session: Session, request: AcceptRequest): Promise<AcceptResult> {
  if (request.dryRun) return previewAccept(session, request);
  // The current directory may be in the folder that goes.
  process.chdir(session.repository.commonDir);
  return withSessionLock(session, (locked) => accept(locked, request), { waitMs: request.waitMs });
}

async function accept(locked: LockedSession, request: AcceptRequest): Promise<AcceptResult> {
  const { keep, now } = request;
  const earlier = await finishEarlier(locked, now);
  if (earlier.result !== undefined) return earlier.result;
  const session = locked.with(earlier.record);
  await requireReady(session);
  if (!keep) await requireReturnable(session);
  if (!keep) refuseRunning(session.record, WAY_OUT);
  const captured = await captureSession(session, { now, label: 'before accept' });
  if (!keep) refuseLoss(session.record, captured, WAY_OUT);
  return endSession(session, await mergeAndLand(session, request), now);
}

async function requireReady(session: Session): Promise<void> {
  const { id, record } = session;
  requireAllowed(record, 'accept');
  if (record.intent !== undefined) throw unfinishedError(id, record.intent.operation);
  await requireSettled(session);
}

async function mergeAndLand(session: LockedSession, request: AcceptRequest): Promise<Landing> {
  for (let attempt = 1; ; attempt++) {
    try {
      const newer = new Set<string>(); // agt has just captured everything
      return await withPlan(session, request, newer, (plan, bench) => land(session, plan, bench, request));
    } catch (error) {
      if (!(error instanceof BranchMoved) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Merges with the branch as it is now. `newer`: see Landable. */
async function withPlan<T>(
  session: Session,
  request: AcceptRequest,
  newer: ReadonlySet<string>,
  action: (plan: LandingPlan, bench: Workbench) => Promise<T>,
): Promise<T> {
  const target = await findTarget(session, request.onto);
  const { onto: ref, worktree } = target;
  return withWorkbench(session.repository, { ref, dryRun: request.dryRun }, async (bench) => {
    const plan = await planLanding(session, { target, bench, request, newer });
    await refuseUsersIgnored(session, plan.changes);
    if (worktree !== undefined) await refuseOverlap(inDirectory(session.git, worktree), plan.changes);
    return action(plan, bench);
  });
}

/** Merges as `accept` does, and writes nothing into the repository. */
async function previewAccept(session: Session, request: AcceptRequest): Promise<AcceptResult> {
  await requireReady(session);
  if (!request.keep) await requireRemovable(session, { force: false, now: request.now, wayOut: WAY_OUT });
  const newer = await changedSince(session, request.now);
  return withPlan(session, request, newer, async (plan) => ({
    ...plan,
    record: session.record,
    commit: undefined,
    kept: request.keep,
  }));
}

/** The acceptance itself makes a snapshot of it first. */
async function changedSince(session: Session, now: Date): Promise<ReadonlySet<string>> {
  const { changes } = await previewCapture(session, { now });
  return new Set(changes.flatMap(({ path }) => (path.startsWith(SANDBOX) ? path.slice(SANDBOX.length) : [])));
}

const SANDBOX = 'sandbox/';
