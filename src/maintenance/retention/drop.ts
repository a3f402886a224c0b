/**
 * Drops what agt keeps of a session that ended long ago: its shadow branch with all snapshots, then its
 * metadata. agt also deletes the work branch if the user's branches have all of its commits, squashed or rebased too. Otherwise the
 * work branch stays as an ordinary branch.
 */

import { failurePoint } from '../../disk/failure-point.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { listWorktrees } from '../../git/files/worktree-registrations.ts';
import { gitText, resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import type { LockedSession } from '../../session/lock.ts';
import { begin, complete } from '../../session/operation.ts';
import type { SessionRecord } from '../../session/record.ts';
import { isMerged } from '../../survey/merged.ts';
import type { Chain } from './chain.ts';
import { countUnmerged } from './plan.ts';

/** Returns the work branch if it stays. If agt is killed, the next `agt gc` reads the intent and finishes. */
export async function dropHistory(
  session: LockedSession,
  found: SessionRecord,
  chain: Chain,
): Promise<string | undefined> {
  const { repository } = session;
  const { git } = repository;
  const record = begin(session, found, { operation: 'drop' });
  const work = await resolveObject(git, `${record.work_branch}^{commit}`);
  const deletesWork = work !== undefined && (await isSpare(repository, record, work));
  const refs: [ref: string, commit: string | undefined][] = [
    [tipRef(record.session_id), chain.tip],
    [record.branch, chain.branch],
    [record.work_branch, deletesWork ? work : undefined],
  ];
  const input = refs
    .map(([ref, commit]) => (commit === undefined ? '' : `delete ${ref} ${commit}\n`))
    .join('');
  failurePoint('gc: dropping');
  await gitText(git, ['update-ref', '--stdin'], { input });
  failurePoint('gc: refs deleted');
  complete(session, record, 'drop');
  return work === undefined || deletesWork ? undefined : record.work_branch;
}

/** Whether no worktree has the work branch checked out and the user has its commits, in this form or another. */
async function isSpare(repository: Repository, record: SessionRecord, commit: string): Promise<boolean> {
  const worktrees = await listWorktrees(repository.git);
  if (worktrees.some(({ branch }) => branch === record.work_branch)) return false;
  return (await countUnmerged(repository, commit)) === 0 || isMerged(repository, record, commit);
}
