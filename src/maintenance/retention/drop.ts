/**
 * Drops what is kept of a session that ended long ago: its shadow branch with all states, then its metadata. The work
 * branch goes with it where the user's branches have all of its commits; otherwise it stays, an ordinary branch.
 */

import { rmSync } from 'node:fs';
import { failurePoint } from '../../disk/failure-point.ts';
import { listWorktrees } from '../../git/files/worktree-registrations.ts';
import { gitText, resolveObject } from '../../git/run/git.ts';
import { sessionCaches } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { LockedSession } from '../../session/lock.ts';
import { begin, complete } from '../../session/operation.ts';
import { type SessionRecord, tipRef } from '../../session/record.ts';
import type { Chain } from './chain.ts';
import { countUnmerged } from './plan.ts';

/** If agt is killed on the way, the next `agt gc` reads the intent and finishes. Returns the work branch if it stays. */
export async function dropHistory(
  session: LockedSession,
  found: SessionRecord,
  chain: Chain,
): Promise<string | undefined> {
  const { repository } = session;
  const { git } = repository;
  const record = begin(session, found, { operation: 'drop' });
  const work = await resolveObject(git, `${record.work_branch}^{commit}`);
  const workGoes = work !== undefined && (await isSpare(repository, record.work_branch, work));
  const refs: [string, string | undefined][] = [
    [tipRef(record.session_id), chain.tip],
    [record.branch, chain.branch],
    [record.work_branch, workGoes ? work : undefined],
  ];
  const input = refs.map(([ref, at]) => (at === undefined ? '' : `delete ${ref} ${at}\n`)).join('');
  failurePoint('gc: dropping');
  await gitText(git, ['update-ref', '--stdin'], { input });
  failurePoint('gc: refs deleted');
  for (const file of sessionCaches(repository.agtDir, record.session_id)) rmSync(file, { force: true });
  failurePoint('gc: caches removed');
  complete(session, record, 'drop');
  return work === undefined || workGoes ? undefined : record.work_branch;
}

async function isSpare(repository: Repository, branch: string, commit: string): Promise<boolean> {
  const checkedOut = (await listWorktrees(repository.git)).some((worktree) => worktree.branch === branch);
  return !checkedOut && (await countUnmerged(repository, commit)) === 0;
}
