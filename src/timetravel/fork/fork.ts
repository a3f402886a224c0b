/**
 * `agt session fork`: new sessions that go on from a whole snapshot of another one. Without a snapshot named, the other session
 * is captured first, and the new folder is written from that capture, so that both are the same snapshot.
 */

import { checkOutSnapshot } from '../../checkout/checkout.ts';
import { restoreIndex, restoreOperation } from '../../checkout/sandbox-state.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { AgtError, isAgtError } from '../../errors.ts';
import { inDirectory, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { checkId, generateId, type SessionId } from '../../session/id.ts';
import { createSession, requireFreeId } from '../../session/lifecycle/create.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { type Origin, readOrigin } from './fork-origin.ts';

export interface ForkRequest {
  readonly id: string | undefined;
  /** A snapshot of the source; undefined means as it is now. */
  readonly at: string | undefined;
  /** So many forks, named `<id>-1`, `<id>-2`, …; undefined means one, named `id`. */
  readonly count: number | undefined;
  readonly now: Date;
}

export interface Forked {
  readonly records: SessionRecord[];
  readonly warnings: string[];
}

/** @throws AgtError; where some forks were made before the one that failed, the hints name them. */
export async function forkSession(
  repository: Repository,
  source: SessionRecord,
  request: ForkRequest,
): Promise<Forked> {
  const ids = idsOf(request);
  for (const id of ids) await requireFreeId(repository, id);
  const origin = await readOrigin(repository, source, request, ids[0] as SessionId);
  const records: SessionRecord[] = [];
  try {
    for (const id of ids) records.push(await fork(repository, source, origin, id, request.now));
  } catch (error) {
    if (!isAgtError(error) || records.length === 0) throw error;
    const made = records.map((record) => record.session_id).join(', ');
    const { message, exitCode, cause } = error;
    throw new AgtError(message, { exitCode, cause, hints: [...error.hints, `made before that: ${made}`] });
  }
  return { records, warnings: origin.warnings };
}

function idsOf({ id, count, now }: ForkRequest): SessionId[] {
  if (count === undefined) return [id === undefined ? generateId(now) : checkId(id)];
  return Array.from({ length: count }, (_, i) =>
    id === undefined ? generateId(now) : checkId(`${id}-${i + 1}`),
  );
}

function fork(
  repository: Repository,
  source: SessionRecord,
  { content, workBranchThen, workCommit, detached }: Origin,
  id: SessionId,
  now: Date,
): Promise<SessionRecord> {
  return createSession(repository, {
    id,
    workCommit,
    shadowCommit: content.commit,
    userBranch: source.user_branch,
    from: source.session_id,
    fromSpec: content.commit,
    profile: source.profile,
    now,
    checkOut: false,
    showProgress: false,
    fill: async (record) => {
      await checkOutSnapshot(repository.git, content.commit, sessionFolder(record));
      failurePoint('fork: files written');
      await restoreIndex(repository.git, undefined, content, record.sandbox);
      failurePoint('fork: index written');
      const { sandbox, work_branch } = record;
      await restoreOperation(repository.git, content, { sandbox, workBranch: work_branch, workBranchThen });
      if (detached === undefined) return;
      await runGit(inDirectory(repository.git, sandbox), ['update-ref', '--no-deref', 'HEAD', detached]);
    },
  });
}
