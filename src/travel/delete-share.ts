/** `agt session push --delete`: the copy of a session on a remote goes. */
import { AgtError } from '../errors.ts';
import type { Repository } from '../repository/repository.ts';
import { refuseAway } from '../session/operation.ts';
import { Session } from '../session/session.ts';
import { readShares, writeShares } from '../session/share-file.ts';
import { noShare, sessionWith, shareNamed } from './find-share.ts';
import type { Keys } from './keys.ts';
import { chooseRemote, moveRefs } from './remote.ts';
import { type Head, idOf, isHere, listShares, type RemoteShare } from './share.ts';

interface Deletion {
  readonly remote: string | undefined;
  /** Also what another repository has, if agt has seen that state of it before. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

interface Deleted {
  readonly remote: string;
  /** Undefined: no key here opens it. */
  readonly id: string | undefined;
}

/** @throws AgtError if there is no copy, or another repository has the session. */
export async function deleteShare(
  session: Session,
  keys: Keys | undefined,
  { remote, force, dryRun }: Deletion,
): Promise<Deleted> {
  const { id, record, repository } = session;
  if (!force) refuseAway(record);
  const { copies, pushing, deleted } = readShares(session);
  const share = remote === undefined ? copies[0] : copies.find((one) => one.remote === remote);
  if (share === undefined)
    throw new AgtError(`session "${id}" has no copy${remote === undefined ? '' : ` on ${remote}`}`, {
      hints: [`see: agt session list --remote ${remote ?? 'REMOTE'}`],
    });
  const [there] = await listShares(repository, share.remote, keys, share.share);
  const isOurs = [share, pushing].some((one) => one !== undefined && one.head === there?.refs.head);
  if (there !== undefined && !isOurs && (!force || there.isNew)) throw notOurs(id, share.remote, there.head);
  const { takenFrom: other } = share;
  if (other !== undefined && there !== undefined && !force)
    throw new AgtError(
      `${other.name}, in ${other.repository}, may not know that session "${id}" is here now`,
      {
        hints: [
          'it learns so from the copy when it pushes next; without the copy it goes on as well',
          'to delete the copy all the same: --force',
        ],
      },
    );
  const gone = { remote: share.remote, id };
  if (dryRun) return gone;
  if (there !== undefined) await deleteRefs(repository, gone, there);
  writeShares(session, {
    copies: copies.filter((one) => one !== share),
    deleted: [...new Set([...deleted, share.remote])],
  });
  return gone;
}

async function deleteRefs({ git }: Repository, { remote, id }: Deleted, { share, refs }: RemoteShare) {
  if (await moveRefs(git, remote, share, refs, {})) return;
  throw new AgtError(`another repository has just pushed session "${id ?? share}" to ${remote}`, {
    hints: [`see: agt session list --remote ${remote}`],
  });
}

/** Of a session that is not here. `name`: its id, or its share. @throws AgtError unless forced */
export async function deleteForeignShare(
  repository: Repository,
  name: string,
  keys: Keys | undefined,
  { remote: given, force, dryRun }: Deletion,
): Promise<Deleted> {
  const remote = await chooseRemote(repository, given);
  const all = await listShares(repository, remote, keys);
  const advice = ({ share }: RemoteShare) => `agt session push ${share} ${remote} --delete`;
  const there = shareNamed(all, name, remote, advice);
  if (there === undefined) throw noShare(all, name, remote, keys);
  const own = sessionWith(repository, there.share);
  if (own !== undefined) return deleteShare(new Session(repository, own), keys, { remote, force, dryRun });
  const { head, isNew } = there;
  if (!isHere({ repository }, head?.holder) && (!force || isNew)) throw notOurs(name, remote, head);
  const gone = { remote, id: head && idOf(head) };
  if (!dryRun) await deleteRefs(repository, gone, there);
  return gone;
}

function notOurs(name: string, remote: string, head: Head | undefined): AgtError {
  const { holder } = head ?? {};
  const where = holder === undefined ? '' : `: it goes on at ${holder.name}, in ${holder.repository}`;
  const take = `take it first: agt session pull ${name} ${remote} --take`;
  return new AgtError(`session "${name}" on ${remote} is not of this repository${where}`, {
    hints: [...(head === undefined ? [] : [take]), `see: agt session list --remote ${remote}`],
  });
}
