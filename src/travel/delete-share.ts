/** `agt session push --delete`: the copy of a session on a remote goes. */
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError } from '../errors.ts';
import type { Repository } from '../repository/repository.ts';
import { refuseAway } from '../session/operation.ts';
import { Session } from '../session/session.ts';
import { placeOf, readShares, type Share, writeShares } from '../session/share-file.ts';
import { goOnHere, isLikeShare, noShare, sessionWith, shareNamed } from './find-share.ts';
import type { Keys } from './keys.ts';
import { chooseRemote, moveRefs } from './remote.ts';
import { type Head, holdingShares, isHere, listShares, type RemoteShare } from './share.ts';

interface Deletion {
  readonly remote: string | undefined;
  /** Also what another repository has, if agt has seen that state of it before. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

/**
 * `of`: a session here, or the id or the share of another one. `id`: undefined if no key here opens it. `session`: the one
 * here that had the copy. @throws AgtError if there is no copy, or another repository has the session.
 */
export async function deleteShare(
  repository: Repository,
  of: Session | string,
  keys: Keys | undefined,
  { remote: where, force, dryRun }: Deletion,
) {
  const [given, name] = typeof of === 'string' ? [undefined, of] : [of, of.id];
  const isThere = ({ remote, head }: Share) => head && (where === undefined || remote === where);
  const named = given && readShares(given).copies.find(isThere);
  if (given !== undefined && named === undefined)
    throw new AgtError(`session "${name}" has no copy${where === undefined ? '' : ` on ${where}`}`, {
      hints: [`see: agt session list --remote ${where ?? 'REMOTE'}`],
    });
  const remote = named?.remote ?? (await chooseRemote(repository, where));
  const all = await listShares(repository, remote, keys, isLikeShare(name) ? undefined : named?.share);
  const advice = ({ share }: RemoteShare) => `agt session push ${share} ${remote} --delete`;
  const there = shareNamed(all, name, remote, advice, named);
  const { share = name, refs = {}, head, isNew } = there ?? {};
  const here = given ? undefined : sessionWith(repository, share);
  const session = here ? new Session(repository, here) : given;
  const act = async () => {
    if (session !== undefined && !force) refuseAway(session.record);
    const { copies, pushing, deleted } = session ? readShares(session) : { copies: [], deleted: [] };
    const own = named ?? copies.find((one) => one.share === share && (there || one.remote === remote));
    if (there === undefined && own === undefined) throw noShare(all, name, remote, keys);
    // A pull that was killed has only seen a state without a holder.
    const isKnown = [own, pushing].some((one) => one?.head === refs.head && (one?.holder || !one?.pulling));
    const isOurs = own ? isKnown : isHere({ repository }, head?.holder);
    if (there !== undefined && !isOurs && (!force || isNew)) throw notOurs(name, remote, head);
    const other = own?.takenFrom;
    if (other !== undefined && there !== undefined && !force)
      throw new AgtError(`${placeOf(other)}, may not know that session "${session?.id}" is here now`, {
        hints: [
          'it learns so when it pushes next, which agt cannot see from here',
          'once it has pushed, or if it is gone, delete the copy: --force',
        ],
      });
    if (!dryRun && there !== undefined && !(await moveRefs(repository.git, remote, share, refs, {})))
      throw notOurs(name, remote, undefined);
    failurePoint('delete: copy gone');
    if (!dryRun && session !== undefined) {
      const left = copies.filter((one) => one.share !== own?.share);
      const { away } = session.record;
      if (away?.remote === remote && away.holder === undefined && !away.sealed) await goOnHere(session);
      writeShares(session, { copies: left, deleted: [...new Set([...deleted, remote])] });
    }
    return { remote, id: session?.id ?? head?.record.session_id, session };
  };
  return session === undefined ? act() : holdingShares(session, act);
}

function notOurs(name: string, remote: string, head: Head | undefined): AgtError {
  const { holder } = head ?? {};
  const where = holder === undefined ? '' : `: it goes on at ${placeOf(holder)}`;
  const take = `take it first: agt session pull ${name} ${remote} --take`;
  return new AgtError(`session "${name}" on ${remote} is not of this repository${where}`, {
    hints: [...(head === undefined ? [] : [take]), `see: agt session list --remote ${remote}`],
  });
}
