/** Restores the files of a session by a swap, if it changes many paths and nothing is in the way. */
import type { CaptureResult } from '../../autocommit/capture.ts';
import { linkedSandbox } from '../../autocommit/observe.ts';
import type { KnownFolder } from '../../autocommit/scan/known-folder.ts';
import type { CheckoutPlan } from '../../checkout/plan.ts';
import { requireSpaceFor } from '../../checkout/required-space.ts';
import type { Repository } from '../../repository/repository.ts';
import type { LockedSession } from '../../session/lock.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { findSwap, type NearestMoment, trySwap } from '../swap/swap.ts';
import { type FilesToRestore, pathsOf, planFrom, type RestoredFiles, type Way } from './restore-files.ts';

export interface RestorePlan {
  readonly plan: CheckoutPlan;
  /** Undefined if agt has to write the files. */
  readonly nearest: NearestMoment | undefined;
}

/** @throws AgtError if the disk has too little room for the restore. Nothing has changed then. */
export async function planRestore(
  repository: Repository,
  record: SessionRecord,
  before: CaptureResult,
  way: Way,
): Promise<RestorePlan> {
  const plan = await planFrom(repository.git, { ...way, captured: before.commit });
  const request = { record, before, plan, size: countPaths(plan), wanted: way.wanted.commit };
  const nearest = await findSwap(repository, request);
  if (nearest === undefined) await requireRoomFor(repository, record, plan);
  return { plan, nearest };
}

function countPaths(plan: CheckoutPlan): number {
  return new Set(pathsOf(plan)).size;
}

function requireRoomFor({ git }: Repository, record: SessionRecord, plan: CheckoutPlan): Promise<void> {
  return requireSpaceFor(git, plan, sessionFolder(record), linkedSandbox(record));
}

interface Start extends FilesToRestore {
  /** The session with the intent to restore. */
  readonly begun: SessionRecord;
  readonly nearest: NearestMoment | undefined;
}

interface SwappedFolder<S> extends RestoredFiles {
  /** With the metadata of the folder that is in place now. */
  readonly start: S;
  readonly known: KnownFolder;
}

/** Undefined if agt has to write the files. @throws AgtError if there is too little room for that */
export async function swapFolder<S extends Start>(
  session: LockedSession,
  start: S,
): Promise<SwappedFolder<S> | undefined> {
  const { nearest, plan, before } = start;
  if (nearest === undefined || plan === undefined || before?.commit === undefined) return undefined;
  const swapped = await trySwap(session, start.begun, before.commit, nearest);
  if (swapped === undefined) {
    await requireRoomFor(session.repository, start.record, plan);
    return undefined;
  }
  const { begun, known } = swapped;
  const record = { ...start.record, ...(begun.token && { token: begun.token }) };
  const done = { ...start, begun, record };
  return { start: done, known, changed: countPaths(plan), warnings: [], whole: undefined };
}
