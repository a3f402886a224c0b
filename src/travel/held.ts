/** What remotes have of sessions here, and what they lack; who has those that are away. */
import { attempt } from '../errors.ts';
import { TIPS, tipRef } from '../filter/agent-refs.ts';
import { findObject, findObjects, readObject } from '../git/objects/object-reader.ts';
import { type Git, gitAnswer, gitLines, isAncestor, runGit } from '../git/run/git.ts';
import { onceForEach } from '../once.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { type LockedSession, unlessBusy, withSessionLock } from '../session/lock.ts';
import { inState, placeOfAway } from '../session/operation.ts';
import { listRecords, type SessionRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { copyOn, readShares, type Share } from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { OWN, trailersOf } from '../snapshot/format.ts';
import { existingRefs } from './content.ts';
import type { Keys } from './keys.ts';
import { type Head, isHere, listShares, type RemoteShare, refsOf } from './share.ts';

export type Debt = NonNullable<Awaited<ReturnType<typeof debtOf>>>;

/**
 * What the remote of a session does not have; undefined if it has all, or none is to have the session. `wanted`: the remote
 * that sessions without a copy are to be on.
 */
export async function debtOf(session: Session, tip: string | undefined, wanted: string | undefined) {
  const [share] = readShares(session).copies;
  const { remote = wanted, refs, pushed_at = null, failed = null } = share ?? {};
  const sent = refs?.['tip'];
  const hasAll = share !== undefined && [undefined, sent, share.arrived].includes(tip);
  if (remote === undefined || hasAll) return undefined;
  const snapshots = await snapshotsSince(session, sent, tip);
  return { remote, snapshots, pushed_at, failed };
}

/** Where sessions are pushed by themselves, or somebody has pushed another one. */
export function wantedRemote({ settings }: Repository, copies: ReadonlyMap<string, Share>) {
  return settings.push === '' ? copies.values().next().value?.remote : settings.push;
}

/** All if the session no longer builds on `sent`. A long history is not read. */
export async function snapshotsSince(session: Session, sent: string | undefined, tip: string | undefined) {
  const words = ['rev-list', '--first-parent', `^${sent}^@`, tip ?? '', '--'];
  const commits = sent === undefined ? [''] : ((await gitAnswer(session.git, words)) ?? '').split('\n');
  return commits.at(-1) === sent ? commits.length - 1 : (await session.history()).length;
}

/** By session id: its copy, as this repository knows it. */
export function copiesOnRemotes(repository: Repository): Map<string, Share> {
  const ids = listRecords(repository).records.map(({ session_id: id }) => id);
  return new Map(
    ids.flatMap((id) => {
      const share = attempt(() => readShares({ repository, id }).copies[0]);
      return share?.head === undefined ? [] : [[id, share] as const];
    }),
  );
}

/**
 * `held`: the tips of ended sessions that a pull brings back from their remote as they are here, by id. `stays`: why others
 * that were pushed are needed here, by id. @throws AgtError if a remote cannot be reached
 */
export async function heldByRemotes(repository: Repository, keys: Keys | undefined) {
  const listed = onceForEach((remote: string) => listShares(repository, remote, keys));
  const held = new Map<string, string>();
  const stays = new Map<string, string>();
  const copies = copiesOnRemotes(repository);
  for (const record of listRecords(repository).records.filter(isEnded)) {
    const session = new Session(repository, record);
    const share = copies.get(session.id);
    if (share === undefined) continue;
    const there = (await listed(share.remote)).find((one) => one.share === share.share);
    const reason = whyNeeded(record, share, await existingRefs(session), there);
    if (reason === undefined) held.set(session.id, share.refs['tip'] as string);
    else stays.set(session.id, reason);
  }
  return { held, stays };
}

function whyNeeded(
  { session_id: id, away }: SessionRecord,
  share: Share,
  here: Readonly<Record<string, string>>,
  there: RemoteShare | undefined,
): string | undefined {
  const { remote, plain, refs } = share;
  const { head, parts } = refsOf(share);
  const isWhole =
    here['tip'] !== undefined && Object.entries(here).every(([role, oid]) => refs[role] === oid);
  if (!isWhole && away !== undefined)
    return `it is ${placeOfAway(away)}, and ${remote} lacks the last of what is here`;
  if (!isWhole) return `${remote} lacks the last of it; to send that: agt session push ${id}`;
  if (plain === 'without ignored') return `its copy on ${remote} has no ignored files`;
  if (there === undefined) return `${remote} no longer has what was pushed`;
  if (there.refs.head !== head || there.refs.parts !== parts)
    return `another repository has pulled or pushed it on ${remote} since this one did`;
  return there.head === undefined ? `no key here opens the copy on ${remote}` : undefined;
}

/**
 * The newest snapshot here that has something of its own. `isOurs`: neither `there`, the refs of a remote, nor a fork has
 * it. `keeper`: a session here that has it, such as the fork of an earlier pull that was killed.
 */
export async function newestHere({ git, id }: Session, there: Head['refs']) {
  const tip = await newestOf(git, await findObject(git, tipRef(id)), there['tip']);
  if (tip === undefined || (await isAncestor(git, tip, there['tip'] ?? ''))) return { tip, isOurs: false };
  const words = ['for-each-ref', '--format=%(refname:lstrip=3)', '--contains', tip, TIPS];
  const keeper = (await gitLines(git, words)).find((name) => name !== id) as SessionId | undefined;
  return { tip, isOurs: keeper === undefined, keeper };
}

/**
 * Nobody has to keep a snapshot with the files and the index of the one before or of `there`, the newest one of a remote,
 * and without a new commit of the session; nor one between two steps of a restore, all of which `there` has. Its second
 * parent is a commit of the user's branch.
 */
export async function newestOf(git: Git, tip: string | undefined, there = ''): Promise<string | undefined> {
  const [before, user] = await findObjects(git, [`${tip}^1`, `${tip}^2`]);
  if (tip === undefined || before === undefined) return tip;
  const isIn = async (other: string, index: string, ...words: readonly string[]) => {
    const paths = [...TOP_FOLDERS, index, ...words];
    const filter = index === OWN.staged ? ['--diff-filter=d'] : [];
    const { exitCode } = await runGit(git, ['diff', '--quiet', ...filter, other, tip, '--', ...paths]);
    return other !== '' && exitCode === 0;
  };
  const { Unfinished: unfinished } = trailersOf((await readObject(git, tip))?.content.toString() ?? '');
  const isKept =
    (await isIn(before.oid, OWN.index)) ||
    (await isIn(there, OWN.index)) ||
    (unfinished !== undefined && (await isIn(there, OWN.staged, ':(exclude,glob)**/.agt-*.tmp')));
  const known = [before, user].flatMap((commit) => commit?.oid ?? []);
  const commits = await gitAnswer(git, ['rev-list', '--max-count=1', `${tip}^@`, '--not', ...known, '--']);
  return isKept && commits === '' ? newestOf(git, before.oid, there) : tip;
}

/** Another repository goes on with it, or may do so. */
export function becomeAway(
  session: LockedSession,
  away: NonNullable<SessionRecord['away']>,
  now: Date,
): SessionRecord {
  const { record } = session;
  const next = isEnded(record) ? record : inState(record, 'away', { now });
  session.write({ ...next, away });
  return session.read() ?? record;
}

/** Sessions that are away: who has them now. A session that another agt has locked may be on its way back. */
export async function noteHolders(repository: Repository, remote: string, shares: readonly RemoteShare[]) {
  for (const { session_id: id, away } of listRecords(repository).records) {
    const own = away?.remote === remote ? copyOn({ repository, id }, remote).copy : undefined;
    const holder = shares.find(({ share }) => share === own?.share)?.head?.holder;
    if (holder === undefined || isHere({ repository }, holder) || holder.since === away?.holder?.since)
      continue;
    const note = async (session: LockedSession) => {
      const record = session.read();
      if (record?.away?.remote === remote && record.away.holder?.since === away?.holder?.since)
        session.write({ ...record, away: { remote, holder } });
    };
    await unlessBusy(() => withSessionLock({ repository, id }, note, { waitMs: 0, mount: false }));
  }
}
