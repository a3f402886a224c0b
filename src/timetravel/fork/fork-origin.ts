/** Reads what a fork starts with: a snapshot, HEAD and the work branch, or the last commit left of it. */
import { loadStatCache } from '../../autocommit/last-snapshot.ts';
import { AgtError } from '../../errors.ts';
import { isWorkRef } from '../../filter/agent-refs.ts';
import { isActive } from '../../filter/session-file.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { branchUser } from '../../git/files/worktree-registrations.ts';
import { resolveObject } from '../../git/run/git.ts';
import { localTime } from '../../local-time.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionId } from '../../session/id.ts';
import { workBranchOf } from '../../session/record.ts';
import { mountProblem } from '../../session/sandbox-place.ts';
import { type Session, startCommit } from '../../session/session.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import { autocommit } from '../../triggers/autocommit.ts';
import { captureTarget } from '../../workspace/capture-session.ts';

export interface OriginRequest {
  /** Names a snapshot of the source; undefined for the source as it is now. */
  readonly snapshot: string | undefined;
  readonly now: Date;
}

export interface ForkOrigin {
  readonly content: SnapshotMetadata;
  /** The work branch of the session that made the snapshot; full name. */
  readonly snapshotWorkBranch: string;
  /** The work branches of the forks start at this commit. */
  readonly workCommit: string;
  /** The commit of a detached HEAD; undefined if HEAD is on the work branch. */
  readonly detached: string | undefined;
  /** The mtimes of the files in the source, in seconds, as far as agt knows them: builds go on where they were. */
  readonly times: ((path: string) => number | undefined) | undefined;
  /** Whether the snapshot is the source as it is now. */
  readonly isCurrent: boolean;
  readonly warnings: string[];
}

/** `id` is the id of the first fork. @throws AgtError if the folder of the source is not mounted */
export async function readForkOrigin(
  session: Session,
  request: OriginRequest,
  id: SessionId,
): Promise<ForkOrigin> {
  const isOfNow = request.snapshot === undefined && isActive(session.record);
  const problem = isOfNow ? mountProblem(session.record.token, session.folder) : undefined;
  if (problem !== undefined) throw problem;
  return isOfNow && session.place === 'here'
    ? captureOrigin(session, id, request.now)
    : findOrigin(session, request);
}

/** Captures the source first. */
async function captureOrigin(session: Session, id: SessionId, now: Date): Promise<ForkOrigin> {
  const captured = await autocommit(session, { now, label: `before fork to ${id}` });
  const warnings = [
    ...captured.warnings,
    ...captured.skipped.map(({ path, reason }) => `not in the fork: ${path}: ${reason}`),
    ...captured.failed.map(
      ({ path, reason }) =>
        `agt could not capture ${path} (${reason}); the fork has its last captured version, if there is one`,
    ),
  ];
  const [snapshot] = await session.history();
  if (snapshot === undefined) throw new AgtError(`session "${session.id}" has no snapshot to fork`);
  const findWorkCommit = () => resolveObject(session.git, `${session.record.work_branch}^{commit}`);
  const origin = await describeOrigin(session, snapshot, findWorkCommit, warnings);
  return { ...origin, times: timesIn(session, snapshot), isCurrent: true };
}

/** The stat cache has the times that belong to the content of a snapshot. */
function timesIn(session: Session, { commit }: Snapshot): ForkOrigin['times'] {
  const { cache } = loadStatCache(captureTarget(session));
  if (cache?.commit !== commit) return undefined;
  return (path) => {
    const row = cache.files.find(path);
    const time = row < 0 ? Number.NaN : cache.files.mtimeMs(row) / 1000;
    return Number.isNaN(time) ? undefined : time;
  };
}

/** Finds a snapshot that exists already: the one that the user named, or the last one of a session without sandbox. */
async function findOrigin(session: Session, request: OriginRequest): Promise<ForkOrigin> {
  const history = await session.history();
  const snapshot = await session.find(request.snapshot ?? '@', request.now, history);
  const last = `its last snapshot, of ${localTime(snapshot.time)}`;
  const warning = `"${session.id}" has no sandbox; the fork starts from ${last}`;
  const warnings = request.snapshot === undefined ? [warning] : [];
  const earlier = history.slice(history.indexOf(snapshot) + 1);
  return describeOrigin(session, snapshot, () => lastWorkCommit(session.repository, earlier), warnings);
}

/** `findWorkCommit` finds the commit of the work branch if the one that the snapshot records is gone. */
async function describeOrigin(
  session: Session,
  snapshot: Snapshot,
  findWorkCommit: () => Promise<string | undefined>,
  warnings: string[],
): Promise<ForkOrigin> {
  const { repository } = session;
  const content = await readSnapshotMetadata(repository.git, snapshot.commit);
  const { ref, commit, work } = content.manifest.head;
  const origin = { content, times: undefined, isCurrent: false };
  if (commit !== null && isWorkRef(repository.prefixes, snapshot.sessionThen, ref))
    return { ...origin, snapshotWorkBranch: ref, workCommit: commit, detached: undefined, warnings };
  // It may be gone: somebody may have rewritten the history.
  const recorded = work ? await resolveObject(repository.git, `${work}^{commit}`) : undefined;
  const workCommit = recorded ?? (await findWorkCommit()) ?? (await startCommit(session));
  const warning =
    commit === null
      ? 'HEAD was on a branch without commits; in the fork it is on the work branch'
      : `HEAD is detached at ${commit.slice(0, 10)}${await whyDetached(repository, ref)}`;
  return {
    ...origin,
    snapshotWorkBranch: workBranchOf(repository, snapshot.sessionThen),
    workCommit,
    detached: commit ?? undefined,
    warnings: [...warnings, warning],
  };
}

/** `ref`: the branch of the snapshot; null if HEAD was detached. */
async function whyDetached({ git }: Repository, ref: string | null): Promise<string> {
  if (ref === null) return ', as in the snapshot';
  const user = await branchUser(git, ref, '');
  const why = user === undefined ? 'not the own one of the fork' : `${user.use} in ${user.worktree}`;
  return `: branch "${shortBranch(ref)}" is ${why}`;
}

/** The work branch's commit in the newest of the snapshots that recorded it. */
async function lastWorkCommit(
  repository: Repository,
  snapshots: readonly Snapshot[],
): Promise<string | undefined> {
  for (const { commit, sessionThen } of snapshots) {
    const { head } = (await readSnapshotMetadata(repository.git, commit)).manifest;
    if (head.commit !== null && isWorkRef(repository.prefixes, sessionThen, head.ref)) return head.commit;
  }
  return undefined;
}
