/** Captures a session: passes its folder and refs to src/autocommit, which knows nothing of sessions. */
import { type CaptureResult, capture } from '../autocommit/capture.ts';
import { type Observation, observeFolder } from '../autocommit/observe.ts';
import type { CaptureOptions, CaptureTarget } from '../autocommit/request.ts';
import type { Freeze } from '../autocommit/source.ts';
import { tipRef } from '../filter/agent-refs.ts';
import { attachedFolder } from '../folders/attached-folder.ts';
import { worktreeGitDir } from '../git/files/discover-repository.ts';
import { reconnectIfCutOff } from '../git/files/worktree-registrations.ts';
import { type ScratchObjects, withScratchObjects } from '../git/objects/scratch-objects.ts';
import { refuseRepositoryInside } from '../repository/repository.ts';
import { callsAtWork } from '../session/calls-at-work.ts';
import type { LockedSession } from '../session/lock.ts';
import { requireActive } from '../session/operation.ts';
import { isAttached } from '../session/record.ts';
import { lostGitDir, requireSandbox } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import { isNewest, isOnTheWay, sweepBeside } from './killed-restore.ts';
import { freezerOf } from './moments.ts';
import { recordAddedBytes } from './usage.ts';

export interface AutocommitOptions extends Omit<CaptureOptions, 'agentEmail' | 'maxFileSize'> {
  /** The agent works: a turn that failed before is past. */
  readonly agentGoesOn?: boolean;
  /** The front may have looked already. Nobody relies on what has changed since. */
  readonly isAskedByFront?: boolean;
  /** A reason that leaves the change to the next capture; asked once nobody else works on the session. */
  readonly reasonToWait?: () => string | undefined;
  /** Called once nobody else works on the session, before agt looks at the folder. */
  readonly onLocked?: () => void;
  /** How long to wait for another agt that works on the session. */
  readonly waitMs?: number;
  /** Do not freeze the folder, because it goes. */
  readonly isLast?: boolean;
}

export function captureTarget(session: Session): CaptureTarget {
  const { repository, record } = session;
  return {
    sessionId: record.session_id,
    folder: session.folder,
    sandbox: record.sandbox,
    checkout: record.checkout,
    lostGitDir: lostGitDir(session),
    commonDir: repository.commonDir,
    agtDir: repository.agtDir,
    shadowRef: record.branch,
    tipRef: tipRef(record.session_id),
    workRef: record.work_branch,
    userRef: record.user_branch,
    startCommit: record.from_commit,
    attached: isAttached(record) ? attachedFolder(session) : undefined,
  };
}

/** Captures the session folder, if it differs from the last snapshot. */
export async function captureSession(
  session: LockedSession,
  options: AutocommitOptions,
): Promise<CaptureResult> {
  requireCapturable(session, true);
  const way = await killedWay(session, options);
  const unfinished = options.unfinished ?? way;
  const freezer = options.isLast ? undefined : freezerOf(session);
  let whole: string | undefined;
  try {
    const result = await runCapture(session, { ...options, unfinished }, freezer?.freeze);
    const captured = result.outcome === 'committed' ? result.commit : undefined;
    if (captured !== undefined) await recordAddedBytes(session, captured);
    if (result.failed.length === 0) whole = captured;
    return { ...result, warnings: [...result.warnings, ...(freezer?.warnings ?? [])] };
  } finally {
    await freezer?.settle(whole);
  }
}

/** The snapshot that a killed restore was on the way to, if a capture that nobody has asked for sees nothing else. */
async function killedWay(session: Session, options: AutocommitOptions): Promise<string | undefined> {
  const { intent } = session.record;
  if (intent?.operation !== 'restore') return undefined;
  sweepBeside(session.record, intent);
  const isAsked = (options.unfinished ?? options.label ?? options.call ?? options.before) !== undefined;
  if (isAsked || !isNewest(await session.history(), intent)) return undefined;
  return withScratchObjects(session.repository, async (scratch) => {
    const { commit } = await captureInScratch(session, { ...options, newerPaths: undefined }, scratch);
    return commit && (await isOnTheWay(scratch.git, commit, intent)) ? intent.snapshot : undefined;
  });
}

/** Compares the folder with the last snapshot. It stores nothing, and needs no lock. */
export function observeSession(session: Session): Promise<Observation> {
  return observeFolder(session.git, captureTarget(session), withUsual(session, { now: new Date() }));
}

/** The snapshot that a capture would make, for a command that changes nothing. It needs no lock. */
export function captureInScratch(
  session: Session,
  options: AutocommitOptions,
  scratch: ScratchObjects,
): Promise<CaptureResult> {
  const inScratch = withUsual(session, { ...options, dryRun: true, scratch });
  return capture(scratch.git, captureTarget(session), inScratch);
}

/** Reports what a capture would store. It writes nothing and needs no lock. */
export async function previewCapture(session: Session, options: AutocommitOptions): Promise<CaptureResult> {
  requireCapturable(session, false);
  return runCapture(session, { ...options, dryRun: true });
}

function runCapture(session: Session, options: AutocommitOptions, freeze?: Freeze): Promise<CaptureResult> {
  return capture(session.git, { ...captureTarget(session), freeze }, withUsual(session, options));
}

function withUsual({ repository, id }: Session, options: AutocommitOptions): CaptureOptions {
  const { agentEmail, maxFileSize } = repository.settings;
  const atWork = () => callsAtWork(repository.agtDir, id, options.now);
  const before = atWork();
  // A call that begins while agt looks may have written, too.
  const during = () => [...new Set([...before, ...atWork()])];
  return { agentEmail, maxFileSize, during, ...options };
}

/** @throws AgtError */
function requireCapturable(session: Session, mayMend: boolean): void {
  const { repository, record } = session;
  requireActive(record);
  if (lostGitDir(session) === undefined) requireSandbox(session);
  const gitDir = record.checkout === undefined ? worktreeGitDir(record.sandbox) : undefined;
  if (gitDir !== undefined && mayMend) reconnectIfCutOff(gitDir);
  const folder = isAttached(record) ? record.checkout : undefined;
  refuseRepositoryInside(repository, folder ?? session.folder);
}
