/**
 * `agt session fork`: creates sessions that continue from a snapshot of another one. If the user names no snapshot, agt
 * captures the source first and writes the new folder from that snapshot, so that both have the same content.
 */
import { checkOutSnapshot } from '../../checkout/apply.ts';
import { restoreGitDirFiles } from '../../checkout/git-dir-files.ts';
import { refreshIndex, requireGitDir, restoreIndex } from '../../checkout/sandbox-git-dir.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { AgtError, isAgtError } from '../../errors.ts';
import { reviewRef } from '../../filter/agent-refs.ts';
import { SUBMODULE } from '../../git/modes.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { readIndex } from '../../git/objects/scratch-index.ts';
import { type GitConfig, mayDifferInWorktrees } from '../../git/run/config.ts';
import { gitText, resolveObject, runGit, updateRefs } from '../../git/run/git.ts';
import { createSession, requireFreeId, type SessionToCreate } from '../../lifecycle/create.ts';
import { resolveStartPoint } from '../../lifecycle/start-point.ts';
import { undoUnfinishedCreation } from '../../lifecycle/undo-creation.ts';
import type { Repository } from '../../repository/repository.ts';
import { checkId, generateId, type SessionId } from '../../session/id.ts';
import { refuseFromNamespace } from '../../session/lock.ts';
import type { SessionRecord } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { readSnapshotMetadata } from '../../snapshot/manifest.ts';
import { autocommit } from '../../triggers/autocommit.ts';
import { warmUp } from '../../workspace/clone.ts';
import { examineWritten } from '../written-folder.ts';
import { emptyClone, type ForkSource, separateNames, sourceToClone } from './clone-source.ts';
import { type ForkOrigin, type OriginRequest, readForkOrigin } from './fork-origin.ts';

/** Here two names of one file are so in a clone as well. */
const SHARES_FILES = new Set(['btrfs', 'zfs']);

export interface ForkRequest extends OriginRequest, Pick<SessionToCreate, 'snapshots' | 'standsAt'> {
  readonly id: string | undefined;
  /** The number of forks, which are named `<id>-1`, `<id>-2`, …; undefined for one that is named `id`. */
  readonly count: number | undefined;
}

/** @throws AgtError. If some forks were created before one failed, a hint names them. */
export async function forkSession(
  session: Session,
  request: ForkRequest,
): Promise<{ readonly records: SessionRecord[]; readonly warnings: string[] }> {
  const ids = forkIds(request);
  for (const id of ids) {
    refuseFromNamespace(session.repository, id);
    await undoUnfinishedCreation(session.repository, id);
    await requireFreeId(session.repository, id);
  }
  const origin = await readForkOrigin(session, request, ids[0] as SessionId);
  const records: SessionRecord[] = [];
  try {
    for (const id of ids) records.push(await createFork(session, origin, { ...request, id }));
  } catch (error) {
    if (!isAgtError(error) || records.length === 0) throw error;
    const created = records.map((record) => record.session_id).join(', ');
    const { message, exitCode, cause } = error;
    const hints = [...error.hints, `created before that: ${created}`];
    throw new AgtError(message, { exitCode, cause, hints });
  }
  return { records, warnings: origin.warnings };
}

function forkIds({ id, count, now }: ForkRequest): SessionId[] {
  if (count === undefined) return [id === undefined ? generateId(now) : checkId(id)];
  return Array.from({ length: count }, (_, i) =>
    id === undefined ? generateId(now) : checkId(`${id}-${i + 1}`),
  );
}

async function createFork(
  session: Session,
  origin: ForkOrigin,
  { id, snapshot, now, snapshots, standsAt }: Omit<ForkRequest, 'id'> & { readonly id: SessionId },
): Promise<SessionRecord> {
  const { repository, record: source } = session;
  let chosen: ForkSource | undefined;
  let isClone = false;
  const record = await createSession(repository, {
    id,
    snapshots,
    standsAt,
    clone: async (fields) => {
      chosen = await sourceToClone(session, fields, origin);
      return chosen;
    },
    workCommit: origin.workCommit,
    shadowCommit: origin.content.commit,
    userBranch: source.user_branch,
    from: source.session_id,
    fromSpec: origin.content.commit,
    profile: source.profile,
    now,
    fill: async (fork, { config, clone }) => {
      isClone = clone !== undefined;
      if (isClone) {
        if (SHARES_FILES.has(fork.record.provider ?? '')) await separateNames(fork.folder);
        if (await chosen?.finish(fork)) return restoreGitDirectory(fork, origin);
        emptyClone(fork.record);
      }
      await fillFolder(fork, { ...origin, config });
    },
  });
  if (isClone) await warmUp(session.with(record));
  // A person has looked at the work as it is now.
  const marks = snapshot === undefined ? await resolveObject(session.git, reviewRef(session.id)) : undefined;
  if (marks !== undefined) await updateRefs(session.git, [`update ${reviewRef(id)} ${marks}`]);
  return record;
}

async function fillFolder(
  session: Session,
  { content, snapshotWorkBranch, detached, times, config }: ForkOrigin & { readonly config: GitConfig },
): Promise<void> {
  const { git } = session.repository;
  const { sandbox } = session.record;
  const { plan } = await checkOutSnapshot(git, content.commit, session.folder, times);
  failurePoint('fork: files written');
  const known = mayDifferInWorktrees(config) ? undefined : config;
  const written = await examineWritten(session, plan, {
    hasTime: (path) => times?.(path) !== undefined,
    config: known,
  });
  await restoreIndex(git, content, sandbox, written.statOf);
  failurePoint('fork: index written');
  await restoreGitDirectory(session, { content, snapshotWorkBranch, detached });
  await written.seed(content.commit);
}

/** All but the index. */
async function restoreGitDirectory(
  session: Session,
  { content, snapshotWorkBranch, detached }: Pick<ForkOrigin, 'content' | 'snapshotWorkBranch' | 'detached'>,
): Promise<void> {
  await restoreGitDirFiles(session.git, requireGitDir(session.record.sandbox), content, {
    workBranch: session.record.work_branch,
    snapshotWorkBranch,
  });
  if (detached !== undefined)
    await runGit(session.sandboxGit, ['update-ref', '--no-deref', 'HEAD', detached]);
}

/**
 * Forks an attached folder: a session with a sandbox of its own, in the user's repository, with the files of a snapshot.
 * Its work branch starts at the commit that the folder was at, and git shows the rest as uncommitted changes. `user` is
 * the repository of the folder.
 */
export async function forkFolder(
  user: Repository,
  source: Session,
  { id: given, snapshot: spec, now, snapshots }: Pick<ForkRequest, 'id' | 'snapshot' | 'now' | 'snapshots'>,
): Promise<{ readonly record: SessionRecord; readonly warnings: readonly string[] }> {
  const id = given === undefined ? generateId(now) : checkId(given);
  await undoUnfinishedCreation(user, id);
  await requireFreeId(user, id);
  const captured = spec === undefined ? await autocommit(source, { now }) : undefined;
  const snapshot = await source.find(spec ?? '@', now);
  const start = await resolveStartPoint(user, undefined, source.record.checkout ?? user.git.cwd);
  // Somebody may have deleted the commit that the user's HEAD was at.
  const { head } = snapshot;
  const recorded = head === undefined ? undefined : await resolveObject(user.git, `${head}^{commit}`);
  const workCommit = recorded ?? start.commit;
  const record = await createSession(user, {
    id,
    workCommit,
    userBranch: start.userBranch,
    fromSpec: snapshot.commit,
    now,
    snapshots,
    fill: async (made) => {
      const { plan } = await checkOutSnapshot(source.git, snapshot.commit, made.folder);
      failurePoint('fork: files written');
      const { statOf } = await examineWritten(made, plan);
      const { sandbox } = made.record;
      const content = await readSnapshotMetadata(source.git, snapshot.commit);
      await restoreIndex(source.git, content, sandbox, statOf);
      const staged = [...(await readIndex(made.sandboxGit)).values()];
      const files = staged.filter((one) => !one.startsWith(SUBMODULE));
      const oids = files.flatMap((one) => one.split(' ')[1] ?? []);
      const known = await findObjects(user.git, oids);
      // The repository may have lost what was staged then.
      if (staged.length > 0 && !known.includes(undefined)) return;
      await gitText(made.sandboxGit, ['read-tree', 'HEAD']);
      refreshIndex(sandbox, workCommit.length / 2, statOf);
    },
  });
  const first = await autocommit(new Session(user, record), { now });
  const warnings = [...(captured?.warnings ?? []), ...first.warnings];
  const missing = [...(captured?.failed ?? []), ...first.failed];
  return { record, warnings: [...warnings, ...missing.map(({ path, reason }) => `${path} ${reason}`)] };
}
