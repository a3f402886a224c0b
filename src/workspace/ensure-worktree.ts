/**
 * Makes sure that a session's sandbox is a worktree. The folder, its registration or both may be missing. No file of the
 * sandbox changes: the files that are still there are captured afterwards.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { holdsFiles } from '../disk/folder-entries.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { AgtError } from '../errors.ts';
import { mendWorktrees, reconnectWorktrees } from '../git/files/worktree-registrations.ts';
import { gitText, runGit } from '../git/run/git.ts';
import type { LockedSession } from '../session/lock.ts';
import { dropWorkspace } from '../session/provider.ts';
import { isAttached } from '../session/record.ts';
import { dropUnfinishedWorktree, registerWorktree } from '../session/register-worktree.ts';
import { refuseForeign } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import { captureSession } from './capture-session.ts';
import { makeFolder } from './clone.ts';

/** The folder had files to capture; none, but git still has its index and HEAD; or nothing. */
export async function ensureWorktree(session: Session): Promise<'files' | 'registered' | 'new'> {
  const { repository, record } = session;
  reconnectWorktrees(repository.commonDir);
  await dropUnfinishedWorktree(session);
  if (session.place === 'here') return 'files';
  if (isAttached(record)) {
    makeDirectories(record.checkout ?? record.sandbox);
    return 'new';
  }
  const wasEmpty = !holdsFiles(session.folder);
  if (!existsSync(session.folder)) await makeFolderIfPossible(session);
  mkdirSync(record.sandbox, { recursive: true });
  mendWorktrees(repository.commonDir);
  failurePoint('worktree: folder made');
  // If only the `.git` file is missing, git writes it again. It would also take over the registration of another one.
  if (session.look() !== 'taken') await runGit(repository.git, ['worktree', 'repair', record.sandbox]);
  const isRegistered = session.look() === 'here';
  if (!isRegistered) await registerWorktree(session);
  if (session.look() !== 'here')
    throw new AgtError(`git could not register "${record.sandbox}" as a worktree`);
  if (!wasEmpty) return 'files';
  return isRegistered ? 'registered' : 'new';
}

/** Where the provider cannot make it any more, the folder is an ordinary one. */
async function makeFolderIfPossible(session: Session): Promise<void> {
  try {
    await makeFolder(session);
  } catch {
    await dropWorkspace(session.repository, session.record).catch(() => undefined);
  }
}

/** @throws AgtError if something is at the sandbox's place that is not to be replaced. */
export function refuseToReplace(session: Session): void {
  const { record } = session;
  refuseForeign(record, session.place);
  if (record.checkout !== undefined) return; // its .git is the user's
  if (!statSync(join(record.sandbox, '.git'), { throwIfNoEntry: false })?.isDirectory()) return;
  throw new AgtError(`"${record.sandbox}" has become a repository of its own`, {
    hints: ['agt does not capture a .git directory; move it out of the sandbox with: agt doctor --fix'],
  });
}

/**
 * Before a restore of a session whose folder is gone: a snapshot of what git still has of it. Its files are those of the
 * last snapshot. `keep`: commits that nothing else would keep. `isNew`: agt has just registered the sandbox, and nothing
 * but these commits is the session's.
 */
export async function keepGitState(
  session: LockedSession,
  { now, keep, isNew }: { readonly now: Date; readonly keep: readonly string[]; readonly isNew: boolean },
): Promise<void> {
  const [commit] = keep;
  if (isNew) {
    if (commit === undefined) return;
    const git = session.sandboxGit;
    await gitText(git, ['update-ref', '--no-deref', 'HEAD', commit]);
    await gitText(git, ['read-tree', commit]);
  }
  await captureSession(session, { now, keep, siblings: [] });
}
