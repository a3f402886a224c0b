/** Deletes the work branch of a session that has ended. A restore makes it again from the snapshots. */

import { failurePoint } from '../disk/failure-point.ts';
import { tipRef } from '../filter/agent-refs.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { branchUser } from '../git/files/worktree-registrations.ts';
import { gitAnswer, gitText, resolveObject, runGit } from '../git/run/git.ts';
import type { Session } from '../session/session.ts';

/** Keeps a branch that a worktree uses, or that has a commit which no snapshot keeps. */
export async function dropWorkBranch({ git, record }: Session): Promise<void> {
  const { work_branch: ref, sandbox, session_id: id } = record;
  const tip = await resolveObject(git, ref);
  if (tip === undefined) return;
  const unkept = await gitAnswer(git, ['rev-list', '--max-count=1', tip, '--not', tipRef(id), '--']);
  if (unkept !== '' || (await branchUser(git, ref, sandbox)) !== undefined) return;
  await gitText(git, ['update-ref', '-d', ref, tip]);
  await runGit(git, ['config', '--remove-section', `branch.${shortBranch(ref)}`]);
  failurePoint('remove: work branch deleted');
}
