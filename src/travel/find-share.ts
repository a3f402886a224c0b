/** Which session of a remote a pull means, and what of it is here already. */
import { AgtError, attempt, EXIT, listSome, plural } from '../errors.ts';
import { localTime } from '../local-time.ts';
import type { Repository } from '../repository/repository.ts';
import { idProblem, type SessionId } from '../session/id.ts';
import { withSessionLock } from '../session/lock.ts';
import { inState } from '../session/operation.ts';
import { type Landed, listRecords, readRecord, recordNamed, type SessionRecord } from '../session/record.ts';
import {
  type Held,
  type Holder,
  knownCopies,
  placeOf,
  readShares,
  type Share,
  writeShares,
} from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { commandsToShare, type Keys, requireKeys } from './keys.ts';
import { chooseRemote } from './remote.ts';
import { type Head, idOf, listShares, type RemoteShare } from './share.ts';

export interface PullRequest {
  /** An id, or the name of a share. */
  readonly id: string;
  readonly remote: string | undefined;
  /** The id here. */
  readonly as: string | undefined;
  readonly take: boolean;
  readonly dryRun: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly now: Date;
}

/** For a hint: what the user has given, with another word in it. */
export function commandToPull(
  { id, remote, as, take }: PullRequest,
  other: Partial<Pick<PullRequest, 'id' | 'as' | 'take'>>,
): string {
  const words = { id, as, take, ...other };
  const given = [words.id, remote, words.as && `--as ${words.as}`, words.take && '--take'];
  return ['agt session pull', ...given.filter(Boolean)].join(' ');
}

/** As another session than the one of this id here. */
export function commandToPullAs(request: PullRequest, { share, head }: RemoteShare): string {
  const take = request.take || isHeld(head);
  return commandToPull(request, { id: share, as: request.as ?? 'ID', take });
}

/** A pull has to take it. */
function isHeld(head: Head | undefined): boolean {
  return head?.holder !== undefined && !isEnded(head.record);
}

export interface Pulled {
  readonly record: SessionRecord;
  readonly remote: string;
  /** Undefined: the remote has no copy any more. */
  readonly head: Head | undefined;
  /** Nothing had to be done. */
  readonly wasHere: boolean;
  /** A session with what only this repository had. */
  readonly fork: SessionId | undefined;
  readonly warnings?: readonly string[];
  /** It had ended here, and goes on now. */
  readonly landed?: Landed | undefined;
  /** The user's own checkout, in which the session was. */
  readonly checkout?: string | undefined;
}

/** @throws AgtError if the remote has no such session, or it cannot be opened. */
export async function findThere(repository: Repository, keys: Keys | undefined, request: PullRequest) {
  const { id, remote: given, as, env } = request;
  const local = idProblem(as ?? id) === undefined ? ((as ?? id) as SessionId) : undefined;
  const copies = local === undefined ? [] : knownCopies(readShares({ repository, id: local }));
  const remote = await chooseRemote(repository, given, copies[0]?.remote);
  const record = local && readRecord(repository, local);
  // Without metadata of the session, only a pull that was killed goes on.
  const isKept = (share: Share) => share.head !== undefined && (record !== undefined || share.pulling);
  const kept = copies.find((share) => share.remote === remote && isKept(share));
  // Under `as`, what the user names may be another one.
  const known = as === undefined || as === id ? kept : undefined;
  const all = await listShares(repository, remote, keys, isLikeShare(id) ? undefined : known?.share);
  const advice = (one: RemoteShare) => commandToPullAs(request, one);
  const found = shareNamed(all, id, remote, advice, known);
  const there = found ?? all.find(({ share }) => kept?.pulling && share === kept.share);
  const here = known && local;
  if (there === undefined ? here && record?.away : there.head) return { remote, there, here };
  if (all.length > 0 && there?.problem === undefined && keys === undefined)
    await requireKeys(env, commandsToShare());
  if (there === undefined) throw noShare(all, id, remote, keys);
  const reason = there.problem ?? 'it is encrypted for other keys';
  throw new AgtError(`session "${id}" on ${remote} cannot be opened: ${reason}`, {
    hints: [toOpen(here ?? 'ID', keys)],
  });
}

/** So many characters of a share's name are in a list. */
export const SHOWN = 8;

/** Of an id, too: then each share has to be looked at. */
export function isLikeShare(name: string): boolean {
  return name.length >= SHOWN && /^[0-9a-f]+$/.test(name);
}

/**
 * `name`: a session's id, or a share's name or the beginning of it. `own`: the copy of the session here that has this id.
 * @throws AgtError if there are several
 */
export function shareNamed(
  all: readonly RemoteShare[],
  name: string,
  remote: string,
  advice: (one: RemoteShare) => string,
  own?: Share,
): RemoteShare | undefined {
  const isOwn = ({ share }: RemoteShare) => share === own?.share;
  const isOfId = ({ head }: RemoteShare) => own === undefined && head && idOf(head) === name;
  const isMeant = (one: RemoteShare) =>
    isOwn(one) || isOfId(one) || one.share === name || (isLikeShare(name) && one.share.startsWith(name));
  const found = all.filter(isMeant);
  if (found.length < 2) return own === undefined ? found[0] : found.find(isOwn);
  throw new AgtError(`${found.length} sessions on ${remote} are named "${name}"`, {
    exitCode: EXIT.usage,
    hints: found.map((one) => `${ownerOf(one.head)} ${advice(one)}`),
  });
}

/** For a hint. */
function ownerOf(head: Head | undefined): string {
  const empty = head?.snapshots === 0 ? ', without a snapshot' : '';
  if (head?.holder === undefined) return `nobody has it now${empty}:`;
  return `of ${placeOf(head.holder)}${empty}:`;
}

export function noShare(all: readonly RemoteShare[], id: string, remote: string, keys?: Keys): AgtError {
  const others = all.filter(({ head }) => head === undefined).length;
  const ids = all.flatMap(({ head }) => (head === undefined ? [] : [idOf(head)]));
  const opened = others > 0 ? ' that a key here can open' : '';
  const closed = `${plural(others, 'session')} there ${others === 1 ? 'is' : 'are'} encrypted for other keys`;
  return new AgtError(`there is no session "${id}" on ${remote}${opened}`, {
    hints: [
      ...(ids.length > 0 ? [`sessions there: ${listSome(ids)}`] : []),
      ...(all.length > 0 ? [] : [`push it, in the repository that has it: agt session push ${id}`]),
      ...(others > 0 ? [`${closed}; ${toOpen(id, keys)}`] : []),
    ],
  });
}

/** For a hint. */
export function toOpen(id: string, keys: Keys | undefined): string {
  return `import the key that it was pushed with: agt key import FILE; or ${commandsToShare(keys?.recipient, id)}`;
}

/** The remote has lost the copy, and the session was given away or taken: it can go on here as it is. */
export async function takeBack(repository: Repository, id: SessionId, request: PullRequest, remote: string) {
  const { holder, sealed } = readRecord(repository, id)?.away ?? {};
  const who = holder ? placeOf(holder) : sealed && 'somebody else';
  if (!request.take)
    throw new AgtError(
      `"${remote}" has lost its copy of session "${id}"${who ? `, which is with ${who}` : ''}`,
      {
        hints: [`go on with it as it is here: ${commandToPull(request, { take: true })}`],
      },
    );
  const record = await goOnHere({ repository, id });
  const { copies, deleted } = readShares({ repository, id });
  writeShares({ repository, id }, { copies: copies.filter((share) => share.remote !== remote), deleted });
  return { record, remote, head: undefined, wasHere: false, fork: undefined };
}

/** No other repository can have the session. */
export function goOnHere(session: Held): Promise<SessionRecord> {
  return withSessionLock(session, async (locked) => {
    const { away: _, ...rest } = locked.record;
    locked.write(isEnded(rest) ? rest : inState(rest, 'active', { now: new Date() }));
    return locked.read() ?? rest;
  });
}

/** The session here that has this copy. */
export function sessionWith(repository: Repository, name: string): SessionRecord | undefined {
  const copiesOf = (id: SessionId) => attempt(() => knownCopies(readShares({ repository, id }))) ?? [];
  const hasIt = (record: SessionRecord) => copiesOf(record.session_id).some(({ share }) => share === name);
  return listRecords(repository).records.find(hasIt);
}

/** What is known here of the copy. @throws AgtError if it is here under another id, or another session has this id */
export function ownShare(
  repository: Repository,
  id: SessionId,
  there: RemoteShare & { readonly head: Head },
  remote: string,
  request: PullRequest,
): Share | undefined {
  const { session_id: here = id } = sessionWith(repository, there.share) ?? {};
  const words = { id: here, as: undefined, take: request.take || isHeld(there.head) };
  if (here !== id)
    throw new AgtError(`session "${idOf(there.head)}" on ${remote} is already here, under the id "${here}"`, {
      hints: [`pull it under that id: ${commandToPull({ ...request, remote }, words)}`],
    });
  const own = knownCopies(readShares({ repository, id })).find(({ share }) => share === there.share);
  if (own !== undefined || recordNamed(repository, id) === undefined) return own;
  throw new AgtError(`session "${id}" is another one here`, {
    hints: [`pull it under another id: ${commandToPullAs({ ...request, as: undefined }, there)}`],
  });
}

export function heldError(head: Head, holder: Holder, request: PullRequest): AgtError {
  return new AgtError(`session "${request.id}" goes on at ${placeOf(holder)}`, {
    hints: [
      `give it away there: agt session push ${idOf(head)} --release`,
      `or take it, with all that was pushed until ${localTime(new Date(head.pushed_at))}: ${commandToPull(request, { take: true })}`,
    ],
  });
}
