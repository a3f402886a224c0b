/**
 * `agt session restore`, and what `undo` and `redo` do: brings a session, or a part of it, back into a captured snapshot.
 * What is there is captured first, and what was brought back is recorded as a new snapshot, so that history only grows and
 * every restore can itself be undone.
 */

import type { CaptureResult } from '../../autocommit/capture.ts';
import { readStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { applyPlan, ChangedMeanwhile, type Folder } from '../../checkout/apply.ts';
import { prepareCheckout } from '../../checkout/checkout.ts';
import type { CheckoutPlan } from '../../checkout/plan.ts';
import { restoreHead, restoreIndex, restoreOperation } from '../../checkout/sandbox-state.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { AgtError } from '../../errors.ts';
import { gitAnswer, resolveObject } from '../../git/run/git.ts';
import { statCacheFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureSession } from '../../session/capture-session.ts';
import { type LockedSession, withSessionLock } from '../../session/lock.ts';
import { begin, complete, requireAllowed } from '../../session/operation.ts';
import { readRecord, type SessionRecord, sessionFolder, workRef } from '../../session/record.ts';
import { sandboxExists } from '../../session/sandbox.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { bringBackIgnoreFile } from '../../snapshot/ignore-file.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/metadata.ts';
import { ensureWorktree } from './ensure-worktree.ts';
import { compareSnapshots } from './verify.ts';

export interface RestoreRequest {
  /** Relative to the session folder, one byte per character; top-level folders, or paths in them. */
  readonly scope: readonly string[];
  readonly by: 'restore' | 'undo' | 'redo';
  readonly now: Date;
  /** Chooses the snapshot; `uncaptured` where what is there is not captured, as in a preview. */
  readonly choose: (uncaptured: boolean) => Promise<Snapshot>;
}

export interface Restored {
  readonly record: SessionRecord;
  readonly snapshot: Snapshot;
  /** The snapshot before, which undoes this; undefined where nothing was there. */
  readonly before: string | undefined;
  readonly commit: string;
  readonly changed: number;
  /** Paths that are not as they were, each readable. Empty: verified. */
  readonly mismatches: readonly string[];
  readonly warnings: readonly string[];
}

/** How often what changes meanwhile is captured again before the restore is given up. */
const ATTEMPTS = 3;

export function restoreSession(
  repository: Repository,
  record: SessionRecord,
  request: RestoreRequest,
): Promise<Restored> {
  return withSessionLock(repository, record.session_id, (session) =>
    restore(session, session.read() ?? record, request),
  );
}

async function restore(
  session: LockedSession,
  found: SessionRecord,
  request: RestoreRequest,
): Promise<Restored> {
  requireAllowed(found, 'restore');
  const { repository } = session;
  const { now, scope } = request;
  const { intent: _, ...rest } = found;
  const record: SessionRecord = { ...rest, state: 'active' };
  const beginWith = ({ commit }: Snapshot) =>
    begin(session, found, { operation: 'restore', snapshot: commit, scope });

  // A sandbox that is gone is made again: the intent comes first.
  const chosen = sandboxExists(record) ? undefined : await request.choose(false);
  if (chosen !== undefined) beginWith(chosen);
  const wasEmpty = await ensureWorktree(repository, record, record.from_commit);
  const before = wasEmpty
    ? undefined
    : await captureSession(session, record, { now, keep: await workTip(repository, record) });
  const snapshot = chosen ?? (await request.choose(false));
  failurePoint('restore: captured before');
  const begun = beginWith(snapshot);

  const wanted = await readSnapshotMetadata(repository.git, snapshot.commit);
  if (wasEmpty) bringBackIgnoreFile(sessionFolder(record), wanted.manifest.agtignore);
  const { changed, captured } = await bringBack(session, record, before, wanted, request);
  const warnings = [...(before?.warnings ?? []), ...leftAlone(before)];
  if (scope.includes('sandbox')) {
    warnings.push(...(await restoreSandbox(repository, record, snapshot, captured, wanted)));
  }
  failurePoint('restore: brought back');

  const { commit = '' } = await captureSession(session, record, {
    now,
    restored: { commit: snapshot.commit, by: request.by },
  });
  const after = await readSnapshotMetadata(repository.git, commit);
  const { mismatches, ignored } = await compareSnapshots(repository.git, after, wanted, scope);
  warnings.push(...ignored.map((path) => `not compared, since .agtignore names it: ${path}`));
  failurePoint('restore: compared');
  const done = complete(session, begun, 'restore', now);
  return { record: done, snapshot, before: before?.commit, commit, changed, mismatches, warnings };
}

function leftAlone(before: CaptureResult | undefined): string[] {
  return (before?.failed ?? []).map(
    ({ path, reason }) => `left as it is, since agt could not capture it: ${path}: ${reason}`,
  );
}

/** Files, links, directories and permissions. Returns how many paths were not as they should be, and what was captured. */
async function bringBack(
  session: LockedSession,
  record: SessionRecord,
  first: CaptureResult | undefined,
  wanted: SnapshotMetadata,
  { scope, now }: RestoreRequest,
): Promise<{ changed: number; captured: string | undefined }> {
  const { repository } = session;
  const changed = new Set<string>();
  let captured = first?.commit;
  for (let attempt = 1; ; attempt++) {
    const from = captured === undefined ? undefined : await readSnapshotMetadata(repository.git, captured);
    const plan = await prepareCheckout(repository.git, from, wanted, scope);
    for (const path of pathsOf(plan)) changed.add(path);
    try {
      await applyPlan(repository.git, plan, openFolder(repository, record));
      return { changed: changed.size, captured };
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      if (attempt === ATTEMPTS) {
        throw new AgtError(`${displayPath(error.path)} keeps changing while it is restored`, {
          hints: ['something works in the session: stop it, then run this again', 'agt keeps every snapshot'],
        });
      }
      captured = (await captureSession(session, record, { now })).commit;
    }
  }
}

/** Every path that a plan would change. */
export function pathsOf(plan: CheckoutPlan): string[] {
  return [...plan.deletions, ...plan.writes.map(({ path }) => path), ...plan.modes.keys()];
}

/** The folder, with what the last capture saw in it. */
function openFolder(repository: Repository, record: SessionRecord): Folder {
  const seen = readStatCache(statCacheFile(repository.agtDir, record.session_id))?.files;
  return {
    path: Buffer.from(sessionFolder(record)).toString('latin1'),
    isCaptured: (path, stat) => {
      const row = seen?.find(path) ?? -1;
      return row >= 0 && seen?.isSame(row, stat, Number.POSITIVE_INFINITY) === true;
    },
  };
}

async function restoreSandbox(
  repository: Repository,
  record: SessionRecord,
  snapshot: Snapshot,
  captured: string | undefined,
  wanted: SnapshotMetadata,
): Promise<string[]> {
  const then = readRecord(repository, snapshot.session as SessionRecord['session_id']);
  const wish = {
    head: wanted.manifest.head,
    sandbox: record.sandbox,
    workBranch: record.work_branch,
    workBranchThen: then?.work_branch ?? workRef(repository, snapshot.session as SessionRecord['session_id']),
  };
  const warnings = await restoreHead(repository.git, wish);
  failurePoint('restore: head moved');
  await restoreIndex(repository.git, captured, wanted, record.sandbox);
  await restoreOperation(repository.git, wanted, wish);
  return warnings;
}

/** The work branch, which may be moved, where the sandbox's HEAD does not keep it. */
async function workTip(repository: Repository, record: SessionRecord): Promise<string[]> {
  const tip = await resolveObject(repository.git, record.work_branch);
  if (tip === undefined) return [];
  const kept = [record.branch, record.user_branch ?? record.from_commit];
  const missing = await gitAnswer(repository.git, ['rev-list', '--max-count=1', tip, '--not', ...kept, '--']);
  return missing === '' ? [] : [tip];
}
