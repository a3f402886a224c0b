/**
 * What a fork begins with: a snapshot of the other session, and where HEAD and the work branch were. A snapshot names the work
 * branch's commit only while HEAD is on it.
 */
import { AgtError } from '../../errors.ts';
import { gitAnswer, resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionId } from '../../session/id.ts';
import { type SessionRecord, snapshotRefs, workRef } from '../../session/record.ts';
import { sandboxExists } from '../../session/sandbox.ts';
import { isActive } from '../../session/state.ts';
import { readHistory, type Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/metadata.ts';
import { findSnapshot } from '../../snapshot/resolve-snapshot.ts';
import { autocommit } from '../../triggers/autocommit.ts';

export interface OriginRequest {
  /** A snapshot of the source; undefined means as it is now. */
  readonly at: string | undefined;
  readonly now: Date;
}

/** What the forks begin with. */
export interface Origin {
  readonly content: SnapshotMetadata;
  /** The work branch of the session that the snapshot is of. */
  readonly workBranchThen: string;
  /** Where the work branches start. */
  readonly workCommit: string;
  /** Where HEAD is to be detached; undefined where it is on the work branch. */
  readonly detached: string | undefined;
  readonly warnings: string[];
}

export async function readOrigin(
  repository: Repository,
  source: SessionRecord,
  request: OriginRequest,
  id: SessionId,
): Promise<Origin> {
  if (request.at === undefined && isActive(source) && sandboxExists(source)) {
    const { now } = request;
    const captured = await autocommit(repository, source, { now, label: `before fork to ${id}` });
    const warnings = [
      ...captured.warnings,
      ...captured.skipped.map(({ path, reason }) => `not in the fork: ${path}: ${reason}`),
      ...captured.failed.map(
        ({ path, reason }) => `in the fork as it last was, if at all: ${path}: ${reason}`,
      ),
    ];
    const [snapshot] = await readHistory(repository.git, snapshotRefs(source));
    if (snapshot === undefined) throw new AgtError(`session "${source.session_id}" has no snapshot to fork`);
    const workBranch = () => resolveObject(repository.git, `${source.work_branch}^{commit}`);
    return describeOrigin(repository, source, snapshot, workBranch, warnings);
  }
  const history = await readHistory(repository.git, snapshotRefs(source));
  const snapshot = await findSnapshot(
    repository.git,
    snapshotRefs(source),
    history,
    request.at ?? '@',
    request.now,
  );
  const warnings =
    request.at === undefined
      ? [
          `"${source.session_id}" has no sandbox now: forked from its last snapshot, of ${snapshot.time.toISOString()}`,
        ]
      : [];
  const earlier = history.slice(history.indexOf(snapshot) + 1);
  return describeOrigin(repository, source, snapshot, () => lastWorkCommit(repository, earlier), warnings);
}

/** `workBranch` finds the work branch's commit of a snapshot that had HEAD elsewhere, and so does not say it. */
async function describeOrigin(
  repository: Repository,
  source: SessionRecord,
  snapshot: Snapshot,
  workBranch: () => Promise<string | undefined>,
  warnings: string[],
): Promise<Origin> {
  const content = await readSnapshotMetadata(repository.git, snapshot.commit);
  const { ref, commit } = content.manifest.head;
  const workBranchThen = workRef(repository, snapshot.session as SessionId);
  if (commit !== null && ref === workBranchThen)
    return { content, workBranchThen, workCommit: commit, detached: undefined, warnings };
  if (commit === null)
    warnings.push('HEAD was on a branch without commits; in the fork it is on its work branch');
  else warnings.push(`HEAD is detached at ${commit.slice(0, 10)}, where it is in the other session`);
  return {
    content,
    workBranchThen,
    workCommit: (await rebasedBranch(repository, content)) ?? (await workBranch()) ?? source.from_commit,
    detached: commit ?? undefined,
    warnings,
  };
}

/** In a rebase the branch stays where it was until the end, and git notes where that is. */
function rebasedBranch(
  repository: Repository,
  { commit, manifest }: SnapshotMetadata,
): Promise<string | undefined> {
  const place = `${commit}:_/operation/rebase-merge/orig-head`;
  return manifest.operation === 'rebase'
    ? gitAnswer(repository.git, ['cat-file', 'blob', place])
    : Promise.resolve(undefined);
}

/** Where the work branch was seen last. */
async function lastWorkCommit(
  repository: Repository,
  snapshots: readonly Snapshot[],
): Promise<string | undefined> {
  for (const { commit, session } of snapshots) {
    const { head } = (await readSnapshotMetadata(repository.git, commit)).manifest;
    if (head.commit !== null && head.ref === workRef(repository, session as SessionId)) return head.commit;
  }
  return undefined;
}
