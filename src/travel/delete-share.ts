/** `agt session push --delete`: the copy of a session on a remote goes. */
import { AgtError } from '../errors.ts';
import type { Repository } from '../repository/repository.ts';
import { refuseAway } from '../session/operation.ts';
import { Session } from '../session/session.ts';
import { readShares, writeShares } from '../session/share-file.ts';
import { noShare, sessionWith, shareNamed } from './find-share.ts';
import type { Keys } from './keys.ts';
import { chooseRemote, moveRefs } from './remote.ts';
import { type Head, isHere, listShares, type RemoteShare } from './share.ts';

interface Deletion {
  readonly remote: string | undefined;
  /** Also what another repository has, if agt has seen that state of it before. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

/**
 * `of`: a session here, or the id or the share of another one. `id`: undefined if no key here opens it. @throws AgtError if
 * there is no copy, or another repository has the session.
 */
export async function deleteShare(
  repository: Repository,
  of: Session | string,
  keys: Keys | undefined,
  { remote: given, force, dryRun }: Deletion,
): Promise<{ readonly remote: string; readonly id: string | undefined }> {
  const [session, name] = typeof of === 'string' ? [undefined, of] : [of, of.id];
  if (session !== undefined && !force) refuseAway(session.record);
  const { copies, pushing, deleted } = session ? readShares(session) : { copies: [], deleted: [] };
  const own = copies.find((one) => given === undefined || one.remote === given);
  if (session !== undefined && own === undefined)
    throw new AgtError(`session "${name}" has no copy${given === undefined ? '' : ` on ${given}`}`, {
      hints: [`see: agt session list --remote ${given ?? 'REMOTE'}`],
    });
  const remote = own?.remote ?? (await chooseRemote(repository, given));
  const all = await listShares(repository, remote, keys, own?.share);
  const advice = ({ share }: RemoteShare) => `agt session push ${share} ${remote} --delete`;
  const there = own ? all[0] : shareNamed(all, name, remote, advice);
  if (own === undefined && there === undefined) throw noShare(all, name, remote, keys);
  const { share = '', refs = {}, head, isNew } = there ?? {};
  const here = own ? undefined : sessionWith(repository, share);
  if (here !== undefined)
    return deleteShare(repository, new Session(repository, here), keys, { remote, force, dryRun });
  const isKnown = [own, pushing].some((one) => one !== undefined && one.head === refs.head);
  const isOurs = own ? isKnown : isHere({ repository }, head?.holder);
  if (there !== undefined && !isOurs && (!force || isNew)) throw notOurs(name, remote, head);
  const other = own?.takenFrom;
  if (other !== undefined && there !== undefined && !force)
    throw new AgtError(
      `${other.name}, in ${other.repository}, may not know that session "${name}" is here now`,
      {
        hints: [
          'it learns so when it pushes next, which agt cannot see from here',
          'once it has pushed, or if it is gone, delete the copy: --force',
        ],
      },
    );
  if (!dryRun && there !== undefined && !(await moveRefs(repository.git, remote, share, refs, {})))
    throw notOurs(name, remote, undefined);
  if (!dryRun && session !== undefined) {
    const left = copies.filter((one) => one !== own);
    writeShares(session, { copies: left, deleted: [...new Set([...deleted, remote])] });
  }
  return { remote, id: session?.id ?? head?.record.session_id };
}

function notOurs(name: string, remote: string, head: Head | undefined): AgtError {
  const { holder } = head ?? {};
  const where = holder === undefined ? '' : `: it goes on at ${holder.name}, in ${holder.repository}`;
  const take = `take it first: agt session pull ${name} ${remote} --take`;
  return new AgtError(`session "${name}" on ${remote} is not of this repository${where}`, {
    hints: [...(head === undefined ? [] : [take]), `see: agt session list --remote ${remote}`],
  });
}
