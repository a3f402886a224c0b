/** The state of a session on a remote from which agt moves it: what agt remembers, compared with what is there. */
import { randomBytes } from 'node:crypto';
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError, attempt, FEW, listSome } from '../errors.ts';
import { type ScratchObjects, storeInScratch } from '../git/objects/scratch-objects.ts';
import { type Git, gitLines } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { isBusy, type LockedSession, withSessionLock } from '../session/lock.ts';
import { listRecords, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { allOf, readShare, type Share, writeShare } from '../session/share-file.ts';
import { isRemote, moveRefs, type RemoteShare, readRefs, withoutTracking } from './remote.ts';
import type { Seal } from './seal.ts';
import { type Head, sealHead } from './share.ts';

export function newShare(remote: string): Share {
  return { remote, share: randomBytes(10).toString('hex'), refs: {}, parts: [], number: 0 };
}

type Held = Pick<Session, 'repository' | 'id'>;

/** @throws AgtError if the remote that has the session is gone */
export async function requireRemote({ repository, id }: Held, known: string): Promise<void> {
  if (await isRemote(repository.git, known)) return;
  const remotes = await gitLines(repository.git, ['remote']);
  throw new AgtError(`this repository has no remote "${known}" any more, which has session "${id}"`, {
    hints: [
      `name where it is now: agt session push ${id} REMOTE; remotes here: ${listSome(remotes, FEW) || 'none'}`,
    ],
  });
}

interface Wanted {
  readonly remote: string;
  readonly again: boolean;
  readonly mode: Share['plain'];
}

export async function startOf(
  { git }: Session,
  found: Share | undefined,
  { remote, again, mode }: Wanted,
): Promise<Share> {
  const known = found && (await settled(git, found, remote));
  const share = known && (await shareOn(git, known, remote));
  if (share === undefined)
    return { ...newShare(remote), plain: mode, ...(known && { others: allOf(known) }) };
  if (!again && mode === share.plain) return share;
  const there = await readRefs(git, remote, share.share);
  if (there.head !== undefined && there.head !== share.head) return share; // it has gone on elsewhere
  return { ...share, plain: mode, head: there.head, lost: there.parts, parts: [], said: undefined };
}

/** A push that was killed may have come through. */
async function settled(git: Git, { pushing, ...share }: Share, remote: string): Promise<Share> {
  if (pushing?.remote !== remote) return share;
  const { head } = await readRefs(git, pushing.remote, pushing.share);
  return head === pushing.head ? pushing : share;
}

/** The copy on this remote, which may have had another name. Undefined: there is none. */
async function shareOn(git: Git, known: Share, remote: string): Promise<Share | undefined> {
  const all = allOf(known);
  const named = all.find((share) => share.remote === remote);
  if (named !== undefined) return { ...named, others: all.filter((share) => share !== named) };
  for (const share of all) {
    const { head } = await readRefs(git, remote, share.share);
    if (head !== undefined) return { ...share, remote, others: all.filter((one) => one !== share) };
  }
  return undefined;
}

interface Moving {
  /** For the names of failure points. */
  readonly step: 'push' | 'pull';
  /** This repository remembers it until the remote has moved. */
  readonly known: Share;
  readonly from: Share;
  readonly to: Share;
  /** As the remote is to have them. */
  readonly record: SessionRecord;
  readonly refs: Head['refs'];
  readonly seal: Seal;
}

/** Writes down what it does before and after. Undefined: the remote has another state. */
export async function moveShare(
  session: Held,
  scratch: ScratchObjects,
  { step, known, from, to, record, refs, seal }: Moving,
): Promise<Share | undefined> {
  const { parts, number, holder, plain, sealedFor, pushed_at = '', snapshots = 0 } = to;
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  const lease = { number, holder, plain, sealedFor, pushed_at, snapshots, size };
  const head: Head = { version: 1, record, refs, parts: parts.at(-1)?.commit ?? '', ...lease };
  const content = Buffer.from(await sealHead(seal, head));
  const next = { ...to, head: storeInScratch(scratch, { type: 'blob', content }, record.from_commit) };
  writeShare(session, { ...known, pushing: next });
  failurePoint(`${step}: written down`);
  const last = ({ head, lost, parts }: Share) => ({ head, parts: lost ?? parts.at(-1)?.commit });
  const moved = await moveRefs(withoutTracking(scratch), to.remote, to.share, last(from), last(next));
  failurePoint(`${step}: moved`);
  if (!moved) return undefined;
  writeShare(session, next, { durable: false }); // after a power cut the next push asks the remote
  return next;
}

/** Sessions that are away: who has them now. A session that another agt has locked may be on its way back. */
export async function noteHolders(repository: Repository, remote: string, shares: readonly RemoteShare[]) {
  for (const { session_id: id, away } of listRecords(repository).records) {
    const own = away?.remote === remote ? attempt(() => readShare({ repository, id })) : undefined;
    const holder = shares.find(({ share }) => share === own?.share)?.head?.holder;
    if (holder === undefined || holder.since === away?.holder?.since) continue;
    const note = async (session: LockedSession) => {
      const record = session.read();
      if (record?.away?.remote === remote && record.away.holder?.since === away?.holder?.since)
        session.write({ ...record, away: { remote, holder } });
    };
    await withSessionLock({ repository, id }, note, { waitMs: 0, mount: false }).catch((error: unknown) => {
      if (!isBusy(error)) throw error;
    });
  }
}
