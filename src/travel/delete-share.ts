/** `agt session push --delete`: the copy of a session on a remote goes. */
import { rmSync } from 'node:fs';
import { AgtError } from '../errors.ts';
import { sharedFile } from '../layout.ts';
import { refuseAway } from '../session/operation.ts';
import type { Session } from '../session/session.ts';
import { moveRefs, readRefs } from './remote.ts';
import { readShare, type Share } from './share.ts';

/** Returns the remote. @throws AgtError if there is no copy, or another repository has the session. */
export async function deleteShare(
  session: Session,
  { dryRun }: { readonly dryRun: boolean },
): Promise<string> {
  const { repository, git, id, record } = session;
  refuseAway(record);
  const share = readShare(session);
  if (share === undefined)
    throw new AgtError(`session "${id}" was never pushed`, {
      hints: ['see: agt session list --remote REMOTE'],
    });
  const there = await readRefs(git, share.remote, share.share);
  const isOurs = [share, share.pushing].some((one) => one !== undefined && one.head === there.head);
  if (there.head !== undefined && !isOurs) throw otherState(session, share);
  if (dryRun) return share.remote;
  const isGone = there.head === undefined && there.parts === undefined;
  if (!isGone && !(await moveRefs(git, share.remote, share.share, there, {})))
    throw otherState(session, share);
  rmSync(sharedFile(repository.agtDir, id), { force: true });
  return share.remote;
}

function otherState({ id }: Session, { remote }: Share): AgtError {
  return new AgtError(`another repository has pushed session "${id}" to ${remote} since`, {
    hints: [`see: agt session list --remote ${remote}`, `take it first: agt session pull ${id} --take`],
  });
}
