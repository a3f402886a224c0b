/**
 * `agt session accept`: merges the content of a sandbox into a branch in memory, and only then changes something: the
 * worktree that has the branch checked out, the branch, the session. README.md beside it tells how a kill is repaired.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isSameDirectory } from '../disk/real-path.ts';
import { AgtError, isAgtError } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { withRenames } from '../git/objects/raw-diff.ts';
import { plainCommit } from '../git/objects/scratch-index.ts';
import { type Git, gitLines, inDirectory } from '../git/run/git.ts';
import { refuseLoss } from '../lifecycle/delete-folder.ts';
import { requireReturnable } from '../lifecycle/in-place/end.ts';
import { requireRemovable } from '../lifecycle/remove.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { relativesIn } from '../session/landings.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { requireAllowed, unfinishedError } from '../session/operation.ts';
import { refuseRunning } from '../session/owner.ts';
import { listRecords } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { captureSession, previewCapture } from '../workspace/capture-session.ts';
import type { AcceptRequest, AcceptResult, Landing, LandingPlan } from './accept-request.ts';
import { acceptedBefore, endSession, finishEarlier, landedResult } from './end-session.ts';
import { BranchMoved, isPart, land } from './land.ts';
import { refuseOtherContent, refuseOverlap } from './overlap.ts';
import { planLanding } from './plan-landing.ts';
import { requireSettled } from './sandbox-content.ts';
import { takenChanges } from './taken.ts';
import { findTarget, type LandingTarget } from './target.ts';
import { ignoredAlone } from './untracked.ts';
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
  if (locked.record.state === 'accepted' && !isAgain(locked, request))
    requireAllowed(locked.record, 'accept');
  const earlier = await finishEarlier(locked, now);
  if (earlier.result !== undefined) return earlier.result;
  const session = locked.with(earlier.record);
  await requireReady(session);
  if (!keep) await requireReturnable(session);
  if (!keep) refuseRunning(session, WAY_OUT);
  const captured = await captureSession(session, { now });
  if (!keep) refuseLoss(session.record, captured, WAY_OUT);
  return endSession(session, await mergeAndLand(session, request), now);
}

/** Without these words, an acceptance that is called again, as after a kill, changes nothing. */
function isAgain({ record: { landed, state } }: Session, request: AcceptRequest): boolean {
  const { commits, include, exclude, committedOnly, chooseTree, onto } = request;
  const isSome = commits.length + include.length + exclude.length > 0 || committedOnly || chooseTree;
  const isOnto = onto === undefined || [landed?.onto, shortBranch(landed?.onto ?? '')].includes(onto);
  return state === 'accepted' && !isSome && isOnto;
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
  await otherLandings(session);
  const { onto: ref, worktree } = target;
  return withWorkbench(session.repository, { ref, dryRun: request.dryRun }, async (bench) => {
    const from = await tipAfter(bench, target, request);
    const planned = await planLanding(session, { target: { ...target, from }, bench, request, newer });
    await refuseUsersIgnored(session, planned.changes, request);
    const shown = await withRenames(bench.git, from, planned.tree, planned.changes);
    const plan = { ...planned, shown, ignored: await ignoredAlone(session, worktree) };
    if (worktree === undefined) return action(plan, bench);
    const [git, wayOut] = [inDirectory(session.git, worktree), wayOutInPlace(session, worktree)];
    if (wayOut !== undefined) {
      await refuseOverlap(git, plan.changes, () => wayOut);
      return action(plan, bench);
    }
    const taken = await takenChanges(session);
    const present = await refuseOtherContent(session.repository, git, plan.changes, taken);
    return action({ ...plan, present }, bench);
  });
}

/** A fork, or what was forked, may be about to land: the branch has moved then before its metadata say so. */
async function otherLandings({ repository, id }: Session): Promise<void> {
  const isLanding = () =>
    relativesIn(listRecords(repository).records)(id).some(({ intent }) => intent?.operation === 'accept');
  for (let waited = 0; waited < LANDING_MS && isLanding(); waited += POLL_MS) await sleep(POLL_MS);
}

const LANDING_MS = 2000;
const POLL_MS = 50;

/** In a dry run: the tip of the branch after the sessions that would have landed before. */
async function tipAfter(bench: Workbench, target: LandingTarget, request: AcceptRequest): Promise<string> {
  let { from } = target;
  for (const { session, newer } of await plannedOn(target, request)) {
    const plan = await planLanding(session, { target: { ...target, from }, bench, request, newer });
    // With its source: a fork of the session goes on from there.
    const isWhole = !isPart(plan) || plan.hasCommits;
    const parents = [...plan.parents, ...(isWhole && plan.source ? [plan.source] : [])];
    from = plan.commit ?? (await plainCommit(bench.git, plan.tree, parents));
  }
  return from;
}

async function plannedOn({ onto }: LandingTarget, { planned = [], onto: branch }: AcceptRequest) {
  const targets = await Promise.all(planned.map(({ session }) => findTarget(session, branch)));
  return planned.filter((_, i) => targets[i]?.onto === onto);
}

/** The agent has the user branch itself checked out: what is in the way is its own work. */
function wayOutInPlace({ record }: Session, worktree: string): string | undefined {
  const { checkout, work_branch: work } = record;
  if (checkout === undefined || !isSameDirectory(checkout, worktree)) return undefined;
  return `take them back to the work branch: git -C ${shellQuote(checkout)} switch ${shortBranch(work)}`;
}

/** Merges as `accept` does, and writes nothing into the repository. */
async function previewAccept(session: Session, request: AcceptRequest): Promise<AcceptResult> {
  const { record } = session;
  if (record.landed !== undefined && isAgain(session, request))
    return landedResult(session, acceptedBefore(record));
  await requireReady(session);
  if (!request.keep) await requireRemovable(session, { force: false, now: request.now, wayOut: WAY_OUT });
  const newer = await changedSince(session, request.now);
  const target = request.planned?.length ? await findTarget(session, request.onto) : undefined;
  const after = (target ? await plannedOn(target, request) : []).map((one) => one.session.id);
  const planFor = (asked: AcceptRequest) =>
    withPlan(session, asked, newer, async (plan, { git }) => {
      return { ...plan, merged: await mergedCommits(git, plan.parents) };
    });
  const result = await planFor(request).catch(async (error: unknown) => {
    if (!isAgtError(error) || after.length === 0) throw error;
    const alone: unknown = await planFor({ ...request, planned: [] }).catch((reason: unknown) => reason);
    if (isAgtError(alone) && alone.message === error.message) throw alone;
    throw new AgtError(`once the work of ${after.join(' and ')} has landed: ${error.message}`, {
      ...error,
      hints: [`accept what lands before it: agt accept ${after.join(' ')}`, ...error.hints],
    });
  });
  request.planned?.push({ session, newer });
  return {
    ...result,
    from: target?.from ?? result.from,
    record,
    commit: undefined,
    after,
    kept: request.keep,
  };
}

async function mergedCommits(git: Git, [onto, merged]: readonly string[]): Promise<string[]> {
  if (merged === undefined) return [];
  return gitLines(git, ['log', '--no-show-signature', '--format=%h %s', `${onto}..${merged}`, '--']);
}

/** Readable paths in the sandbox that no snapshot has yet. */
export async function changedSince(session: Session, now: Date): Promise<ReadonlySet<string>> {
  const { changes } = await previewCapture(session, { now });
  return new Set(changes.flatMap(({ path }) => (path.startsWith(SANDBOX) ? path.slice(SANDBOX.length) : [])));
}

const SANDBOX = 'sandbox/';
