/** `agt session push --delete`: the copy of a session on a remote goes. */
import { AgtError, attempt } from '../errors.ts';
import type { Repository } from '../repository/repository.ts';
import { refuseAway } from '../session/operation.ts';
import { listRecords } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { allOf, copyNamed, readShare, type Share, writeShare } from '../session/share-file.ts';
import { noShare, shareNamed } from './find-share.ts';
import type { Keys } from './keys.ts';
import { chooseRemote, listShares, moveRefs, readRefs } from './remote.ts';
import { type Head, isHere } from './share.ts';

interface Deletion {
  readonly remote: string | undefined;
  /** Also what another repository has, if agt has seen that state of it before. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** Returns the remote. @throws AgtError if there is no copy, or another repository has the session. */
export async function deleteShare(
  session: Session,
  keys: Keys | undefined,
  { remote, force, dryRun }: Deletion,
): Promise<string> {
  const { git, id, record } = session;
  if (!force) refuseAway(record);
  const known = readShare(session);
  const all = known === undefined ? [] : allOf(known);
  const share = remote === undefined ? all[0] : all.find((one) => one.remote === remote);
  if (share === undefined)
    throw new AgtError(`session "${id}" has no copy${remote === undefined ? '' : ` on ${remote}`}`, {
      hints: [`see: agt session list --remote ${remote ?? 'REMOTE'}`],
    });
  const there = await readRefs(git, share.remote, share.share);
  const isOurs = [share, share.pushing].some((one) => one !== undefined && one.head === there.head);
  if (there.head !== undefined && !isOurs && !(force && (await isListed(session, share, keys))))
    throw await otherState(session, share, keys);
  const { takenFrom: other } = share;
  if (other !== undefined && there.head !== undefined && !force) {
    const holder = `${other.name}, in ${other.repository}`;
    throw new AgtError(`${holder}, may not know that session "${id}" is here now`, {
      hints: [
        'it learns so from the copy when it pushes next; without the copy it goes on as well',
        'to delete the copy all the same: --force',
      ],
    });
  }
  if (dryRun) return share.remote;
  const isGone = there.head === undefined && there.parts === undefined;
  if (!isGone && !(await moveRefs(git, share.remote, share.share, there, {})))
    throw await otherState(session, share, keys);
  const [next, ...others] = all.filter((one) => one !== share);
  const deleted = [...new Set([...(known?.deleted ?? []), share.remote])];
  writeShare(session, { ...next, ...(others.length > 0 && { others }), deleted });
  return share.remote;
}

/** An earlier list has shown this state. */
async function isListed({ repository }: Session, { remote, share }: Share, keys: Keys | undefined) {
  const [there] = await listShares(repository, remote, keys, share);
  return there?.isNew === false;
}

async function otherState({ repository, id }: Session, { remote, share }: Share, keys: Keys | undefined) {
  const [there] = await listShares(repository, remote, keys, share);
  return notOurs(id, remote, there?.head);
}

/** Of a session that is not here. `name`: its id, or its share. @throws AgtError unless forced */
export async function deleteForeignShare(
  repository: Repository,
  name: string,
  keys: Keys | undefined,
  { remote: given, force, dryRun }: Deletion,
): Promise<{ readonly remote: string; readonly head: Head | undefined }> {
  const remote = await chooseRemote(repository, given);
  const all = await listShares(repository, remote, keys);
  const found = shareNamed(
    all,
    name,
    remote,
    ({ share: one }) => `agt session push ${one} ${remote} --delete`,
  );
  if (found === undefined) throw noShare(all, name, remote, keys);
  const { share, oid, head, isNew } = found;
  const isOurs = isHere({ repository }, head?.holder);
  const held = listRecords(repository).records.find(
    ({ session_id: id }) => attempt(() => copyNamed({ repository, id }, share)) !== undefined,
  );
  if (held !== undefined) {
    await deleteShare(new Session(repository, held), keys, { remote, force, dryRun });
    return { remote, head };
  }
  if (!isOurs && (!force || isNew)) throw notOurs(name, remote, head);
  const there = await readRefs(repository.git, remote, share);
  if (there.head !== oid || !(dryRun || (await moveRefs(repository.git, remote, share, there, {}))))
    throw new AgtError(`another repository has just pushed session "${name}" to ${remote}`, {
      hints: [`see: agt session list --remote ${remote}`],
    });
  return { remote, head };
}

function notOurs(name: string, remote: string, head: Head | undefined): AgtError {
  const { holder } = head ?? {};
  const where = holder === undefined ? '' : `: it goes on at ${holder.name}, in ${holder.repository}`;
  const take = `take it first: agt session pull ${name} ${remote} --take`;
  return new AgtError(`session "${name}" on ${remote} is not of this repository${where}`, {
    hints: [...(head === undefined ? [] : [take]), `see: agt session list --remote ${remote}`],
  });
}
