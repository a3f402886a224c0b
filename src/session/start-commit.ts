/**
 * The commit that a session started at. If somebody has rewritten the history and deleted the old one, the metadata name
 * a commit that is gone; then it is the commit below the oldest snapshot.
 */

import { AgtError } from '../errors.ts';
import { resolveObject } from '../git/run/git.ts';
import type { Session } from './session.ts';

export async function startCommit(session: Session): Promise<string> {
  const { git, record } = session;
  const recorded = await resolveObject(git, `${record.from_commit}^{commit}`);
  if (recorded !== undefined) return recorded;
  const oldest = (await session.history()).at(-1);
  if (oldest?.parents[0] !== undefined) return oldest.parents[0];
  for (const ref of [record.work_branch, record.user_branch ?? record.work_branch]) {
    const commit = await resolveObject(git, `${ref}^{commit}`);
    if (commit !== undefined) return commit;
  }
  throw new AgtError(`session "${record.session_id}" started at ${record.from_commit}, which is gone`);
}
