/**
 * Forks an attached folder: a session with a sandbox of its own, in the user's repository, with the files of a snapshot. Its
 * work branch starts at the commit that the folder was at, and git shows the rest as uncommitted changes.
 */

import { checkOutSnapshot } from '../../checkout/checkout.ts';
import { refreshIndex } from '../../checkout/sandbox-git-dir.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { gitText, inDirectory, resolveObject } from '../../git/run/git.ts';
import { createSession, requireFreeId } from '../../lifecycle/create.ts';
import { resolveStartPoint } from '../../lifecycle/start-point.ts';
import { undoUnfinishedCreation } from '../../lifecycle/undo-creation.ts';
import type { Repository } from '../../repository/repository.ts';
import { checkId, generateId } from '../../session/id.ts';
import { type SessionRecord, sessionFolder, snapshotRefs } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { resolveSnapshot } from '../../snapshot/resolve-snapshot.ts';
import { autocommit } from '../../triggers/autocommit.ts';
import { examineWritten } from '../written-folder.ts';
import type { ForkRequest } from './fork.ts';

/** `user` is the repository of the folder. */
export async function forkFolder(
  user: Repository,
  { repository: store, record: source }: Session,
  { id: given, snapshot: spec, now, snapshots }: Pick<ForkRequest, 'id' | 'snapshot' | 'now' | 'snapshots'>,
): Promise<{ readonly record: SessionRecord; readonly warnings: readonly string[] }> {
  const id = given === undefined ? generateId(now) : checkId(given);
  await undoUnfinishedCreation(user, id);
  await requireFreeId(user, id);
  const captured = spec === undefined ? await autocommit(new Session(store, source), { now }) : undefined;
  const snapshot = await resolveSnapshot(store.git, snapshotRefs(source), spec ?? '@', now);
  const start = await resolveStartPoint(user, undefined, source.checkout ?? user.git.cwd);
  // Somebody may have deleted the commit that the user's HEAD was at.
  const { head } = snapshot;
  const recorded = head === undefined ? undefined : await resolveObject(user.git, `${head}^{commit}`);
  const workCommit = recorded ?? start.commit;
  const record = await createSession(user, {
    id,
    workCommit,
    shadowCommit: workCommit,
    userBranch: start.userBranch,
    fromSpec: snapshot.commit,
    now,
    snapshots,
    checkOut: false,
    showProgress: false,
    fill: async (made) => {
      const { plan } = await checkOutSnapshot(store.git, snapshot.commit, sessionFolder(made));
      failurePoint('fork: files written');
      await gitText(inDirectory(user.git, made.sandbox), ['read-tree', 'HEAD']);
      const { statOf } = await examineWritten(new Session(user, made), plan, { hasTime: () => false });
      refreshIndex(made.sandbox, workCommit.length / 2, statOf);
    },
  });
  const first = await autocommit(new Session(user, record), { now });
  const warnings = [...(captured?.warnings ?? []), ...first.warnings];
  const missing = [...(captured?.failed ?? []), ...first.failed];
  return { record, warnings: [...warnings, ...missing.map(({ path, reason }) => `${path} ${reason}`)] };
}
