/** agt session list --remote: the sessions of a remote. */
import { showSize } from '../../../config/values.ts';
import { attempt, plural } from '../../../errors.ts';
import type { Repository } from '../../../repository/repository.ts';
import { listRecords, type SessionRecord } from '../../../session/record.ts';
import { knownCopies, placeOf, readShares } from '../../../session/share-file.ts';
import { isEnded } from '../../../session/state.ts';
import { SHOWN, toOpen } from '../../../travel/find-share.ts';
import { noteHolders } from '../../../travel/held.ts';
import { readKeys } from '../../../travel/keys.ts';
import { chooseRemote } from '../../../travel/remote.ts';
import { type Head, isHere, listShares, type RemoteShare } from '../../../travel/share.ts';
import type { Answer } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';
import { age, lines, orNull, table } from '../../output/format.ts';

export async function listRemote(context: Context, given: string | undefined): Promise<Answer> {
  const repository = await context.repository();
  const remote = await chooseRemote(repository, given || undefined);
  const keys = await readKeys(context.env);
  const shares = await listShares(repository, remote, keys);
  await noteHolders(repository, remote, shares);
  const known = shares.flatMap(({ head, share }) => (head === undefined ? [] : { head, share }));
  const damaged = shares.filter(({ problem }) => problem !== undefined);
  const rest = shares.length - known.length - damaged.length;
  const now = context.now();
  const areElsewhere = known.some(({ head }) => head.holder && !isHere({ repository }, head.holder));
  const heading = ['SESSION', 'STATE', 'AT', ...(areElsewhere ? ['REPOSITORY'] : [])];
  const rows = known.map(({ head, share }) => remoteRow(head, share, now, areElsewhere));
  return {
    json: shares.map(remoteJson),
    text: rows.length > 0 ? table([[...heading, 'PUSHED', 'SNAPSHOTS', 'SIZE', 'COPY'], ...rows]) : '',
    notes: lines([
      shares.length === 0 && `note: no sessions on ${remote}; send one: agt session push ID`,
      ...damaged.map(({ share, problem }) => `note: ${share} there cannot be read: ${problem}`),
      ...takenSince(repository, known),
      rest > 0 &&
        `note: ${plural(rest, 'session')} there ${rest === 1 ? 'is' : 'are'} encrypted${keys === undefined ? ', and you have no key yet' : ' for other keys'}`,
      rest > 0 &&
        `hint: ${keys === undefined ? 'bring the key of another machine of yours: agt key import FILE; or make one: agt key new' : toOpen('ID', keys)}`,
    ]),
  };
}

/** This repository learns it when it pushes next. */
function takenSince(
  repository: Repository,
  known: readonly { readonly head: Head; readonly share: string }[],
) {
  const holders = new Map(known.map(({ head, share }) => [share, head.holder]));
  return listRecords(repository).records.flatMap(({ session_id: id, state, away }) => {
    const copies =
      state === 'active' && !away ? (attempt(() => knownCopies(readShares({ repository, id }))) ?? []) : [];
    const holder = copies
      .map(({ share }) => holders.get(share))
      .find((one) => one && !isHere({ repository }, one));
    if (!holder) return [];
    return `note: ${id} is still active here, but ${placeOf(holder)} has taken it; a push makes it away here: agt session push ${id}`;
  });
}

function remoteRow(
  { record, holder, pushed_at, snapshots, size, plain }: Head,
  share: string,
  now: Date,
  areElsewhere: boolean,
) {
  return [
    record.session_id,
    holder === undefined && !isEnded(record) ? 'free' : stateIn(record),
    holder?.name ?? '-',
    ...(areElsewhere ? [holder?.repository ?? '-'] : []),
    age(new Date(pushed_at), now),
    String(snapshots),
    showSize(size),
    `${share.slice(0, SHOWN)}${plain === undefined ? '' : ' (plain)'}`,
  ];
}

/** A push with --again has noted that it was away from there; it is where it has a holder. */
const stateIn = ({ state }: SessionRecord) => (state === 'away' ? 'active' : state);

function remoteJson({ head, share, problem }: RemoteShare) {
  const { record, holder, pushed_at, snapshots, size: bytes } = head ?? {};
  return {
    share,
    ...orNull({ session_id: record?.session_id, state: record && stateIn(record) }),
    ...orNull({ holder: holder?.name, repository: holder?.repository, pushed_at, snapshots, bytes }),
    encrypted: head?.plain === undefined,
    problem: head === undefined ? (problem ?? 'encrypted for other keys') : null,
  };
}
