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
import { gitAnswer } from '../../git/run/git.ts';
import { statCacheFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureSession } from '../../session/capture-session.ts';
import { withSessionLock } from '../../session/lock.ts';
import { readRecord, type SessionRecord, sessionFolder, workRef, writeRecord } from '../../session/record.ts';
import { sandboxIsThere } from '../../session/sandbox.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { restoreIgnoreFile } from '../../snapshot/ignore-file.ts';
import { readSnapshot, type SnapshotContent } from '../../snapshot/snapshot.ts';
import { makePlace } from './place.ts';
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
  const id = record.session_id;
  return withSessionLock(repository, id, () =>
    restore(repository, readRecord(repository, id) ?? record, request),
  );
}

async function restore(
  repository: Repository,
  found: SessionRecord,
  request: RestoreRequest,
): Promise<Restored> {
  if (found.state === 'creating' || found.state === 'removing') {
    throw new AgtError(
      `session "${found.session_id}" was never finished ${found.state.replace('ing', '')}ing`,
      {
        hints: ['see: agt doctor'],
      },
    );
  }
  const { restoring: _, restoring_scope: __, ...unmarked } = found;
  const record: SessionRecord = { ...unmarked, state: 'active' };
  const { now } = request;
  const mark = ({ commit }: Snapshot) =>
    writeRecord(repository, { ...record, restoring: commit, restoring_scope: request.scope });
  // What is to be brought back is written down before anything is made.
  const known = sandboxIsThere(record) ? undefined : await request.choose(false);
  if (known !== undefined) mark(known);
  const wasEmpty = await makePlace(repository, record, record.from_commit);
  const first = wasEmpty
    ? undefined
    : await captureSession(repository, record, { now, keep: await workTip(repository, record) });
  const snapshot = known ?? (await request.choose(false));
  failurePoint('restore: captured before');
  mark(snapshot);

  const wanted = await readSnapshot(repository.git, snapshot.commit);
  if (wasEmpty) restoreIgnoreFile(sessionFolder(record), wanted.manifest.agtignore);
  const { changed, captured } = await bringBack(repository, record, first, wanted, request);
  const warnings = [
    ...(first?.warnings ?? []),
    ...(first?.failed ?? []).map(
      ({ path, reason }) => `left as it is: ${path} could not be captured: ${reason}`,
    ),
  ];
  if (request.scope.includes('sandbox')) {
    warnings.push(...(await restoreSandbox(repository, record, snapshot, captured, wanted)));
  }
  failurePoint('restore: brought back');
  const after = await captureSession(repository, record, {
    now,
    restored: { commit: snapshot.commit, by: request.by },
  });
  const commit = after.commit as string;
  const { mismatches, ignored } = await compareSnapshots(
    repository.git,
    await readSnapshot(repository.git, commit),
    wanted,
    request.scope,
  );
  warnings.push(...ignored.map((path) => `not compared, since .agtignore names it: ${path}`));
  failurePoint('restore: compared');
  writeRecord(repository, { ...record, last_activity_at: now.toISOString() });
  return { record, snapshot, before: first?.commit, commit, changed, mismatches, warnings };
}

/** Files, links, directories and permissions. Returns how many paths were not as they should be, and what was captured. */
async function bringBack(
  repository: Repository,
  record: SessionRecord,
  first: CaptureResult | undefined,
  wanted: SnapshotContent,
  { scope, now }: RestoreRequest,
): Promise<{ changed: number; captured: string | undefined }> {
  const changed = new Set<string>();
  let captured = first?.commit;
  for (let attempt = 1; ; attempt++) {
    const from = captured === undefined ? undefined : await readSnapshot(repository.git, captured);
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
      captured = (await captureSession(repository, record, { now })).commit;
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
  wanted: SnapshotContent,
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
  const tip = await gitAnswer(repository.git, ['rev-parse', '--verify', '--quiet', record.work_branch]);
  if (tip === undefined) return [];
  const kept = [record.branch, record.user_branch ?? record.from_commit];
  const missing = await gitAnswer(repository.git, ['rev-list', '--max-count=1', tip, '--not', ...kept, '--']);
  return missing === '' ? [] : [tip];
}
