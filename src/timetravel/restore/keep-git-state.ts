/**
 * Before a restore of a session whose folder is gone: a snapshot of what git still has of it. Its files are those of the
 * last snapshot.
 */
import { gitText, inDirectory } from '../../git/run/git.ts';
import type { LockedSession } from '../../session/lock.ts';
import type { SessionRecord } from '../../session/record.ts';
import { captureSession } from '../../workspace/capture-session.ts';

interface GitState {
  readonly now: Date;
  /** Commits that nothing else would keep. */
  readonly keep: readonly string[];
  /** agt has just registered the sandbox: nothing but the commits is the session's. */
  readonly isNew: boolean;
}

export async function keepGitState(
  session: LockedSession,
  record: SessionRecord,
  { now, keep, isNew }: GitState,
): Promise<void> {
  const [commit] = keep;
  if (isNew && commit === undefined) return;
  if (isNew && commit !== undefined) {
    const git = inDirectory(session.repository.git, record.sandbox);
    await gitText(git, ['update-ref', '--no-deref', 'HEAD', commit]);
    await gitText(git, ['read-tree', commit]);
  }
  await captureSession(session, record, { now, keep, siblings: [] });
}
