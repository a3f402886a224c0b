/**
 * The history of a session up to the folder as it is now. A dry run has the snapshot that an autocommit would make, in
 * scratch objects, so that it plans by the same snapshots as the command itself.
 */
import { holdsFiles } from '../../disk/folder-entries.ts';
import { withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { autocommit } from '../../triggers/autocommit.ts';
import { captureInScratch } from '../../workspace/capture-session.ts';
import { type AuthoredHistory, readAuthors } from '../turns.ts';
import { filesOfLast } from './ignored-files.ts';

/** `action` gets the session whose git has the objects. */
export async function withPresent<T>(
  session: Session,
  { now, dryRun }: { readonly now: Date; readonly dryRun: boolean },
  action: (session: Session, authored: AuthoredHistory) => Promise<T>,
): Promise<T> {
  if (dryRun) return withScratchSnapshot(session, now, async (seen) => action(seen, await readAuthors(seen)));
  await autocommit(session, { now });
  return action(session, await readAuthors(session));
}

/**
 * `captured`: as the folder is; undefined without files. Where the sandbox is not in its place, the history ends before it:
 * a restore chooses its snapshot first.
 */
export async function withScratchSnapshot<T>(
  session: Session,
  now: Date,
  action: (session: Session, captured: string | undefined) => Promise<T>,
  marks: { readonly unfinished?: string } = {},
): Promise<T> {
  if (session.isUpToScratch) return action(session, (await session.history())[0]?.commit);
  const isHere = session.place === 'here';
  const hasFiles = isHere || (!isAttached(session.record) && holdsFiles(session.folder));
  return withScratchObjects(session.repository, async (scratch) => {
    const options = isHere ? await filesOfLast(session) : { filesOnly: true };
    const result = hasFiles
      ? await captureInScratch(session, { now, ...options, ...marks }, scratch)
      : undefined;
    const captured = result?.commit;
    return action(session.upTo(isHere ? captured : undefined, scratch.git), captured);
  });
}
