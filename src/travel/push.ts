/**
 * `agt session push`: a session goes to a remote, or what it has gained since. The remote's head of the session moves only
 * from the state that agt has seen last, so of two repositories that work on one session, one pushes and the other one
 * learns who has it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NotCaptured } from '../autocommit/capture.ts';
import { withLock } from '../disk/lock.ts';
import { AgtError, plural } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { openHash } from '../git/objects/hash.ts';
import { type ScratchObjects, withScratchObjects } from '../git/objects/scratch-objects.ts';
import { pushLocks } from '../layout.ts';
import { reportProgress } from '../process/progress.ts';
import type { Repository } from '../repository/repository.ts';
import { isBusy, type LockedSession, unlessBusy, withSessionLock } from '../session/lock.ts';
import { awayError, refuseAway, unfinishedError } from '../session/operation.ts';
import { recordToPush } from '../session/push-later.ts';
import { readRecord, type SessionRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { copyOn, readShares, type Share, withCopy, writeShares } from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { captureSession, previewCapture } from '../workspace/capture-session.ts';
import { contentOf, existingRefs, plainMode, recipientsFor, requireWhole, type Wish } from './content.ts';
import { becomeAway, newestHere, snapshotsSince } from './held.ts';
import { type Recipients, readKeys } from './keys.ts';
import { addPart, partsToKeep } from './parts.ts';
import { branchesOf, chooseRemote, type Refs, readRefs } from './remote.ts';
import {
  findCopy,
  holderHere,
  holdingShares,
  isHere,
  listShares,
  moveShare,
  newShare,
  refsOf,
} from './share.ts';

export interface PushRequest extends Wish {
  readonly remote: string | undefined;
  /** Another repository may go on with the session, without asking. */
  readonly release: boolean;
  /** The last snapshots, and no new one: for a push in the background. */
  readonly asItIs?: boolean;
  /** All parts once more. */
  readonly again: boolean;
  readonly dryRun: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly now: Date;
}

interface Done {
  readonly record: SessionRecord;
  readonly remote: string;
  readonly snapshots: number;
  /** Bytes of the new part; undefined if the remote has all. */
  readonly size: number | undefined;
  /** Files that no snapshot has, and why: they stay here. */
  readonly left: readonly NotCaptured[];
  /** Of a dry run: changed files that no snapshot has yet, so that nobody has looked at them. */
  readonly unseen: number;
  readonly plain: Share['plain'];
  /** The public keys of those who can open it; undefined if it is not encrypted. */
  readonly openers: Recipients;
  /** The file of a key that agt has just made. */
  readonly madeKey: string | undefined;
}

interface Push extends PushRequest {
  readonly remote: string;
  readonly mode: Share['plain'];
  /** What the remote has of it is lost, or older: all is sent again in its place. */
  readonly over?: Refs;
}

type Locked = <T>(action: (session: LockedSession) => Promise<T>) => Promise<T>;

/** A session that goes away is locked meanwhile. Otherwise agents work on while the remote is slow. */
export async function pushSession(session: Session, given: PushRequest): Promise<Done> {
  const { repository, record } = session;
  const mode = plainMode(record, given);
  const remote = await chooseRemote(repository, given.remote, readShares(session).copies[0]?.remote);
  // Anybody may pull one that has ended.
  const release = (given.release && !isEnded(record)) || isFree(session, given);
  const request = { ...given, remote, mode, release };
  const { dryRun } = given;
  const lockForEach: Locked = (action) => withSessionLock(session, action, { mount: !given.asItIs, dryRun });
  const push = () =>
    release
      ? withSessionLock(session, (held) => pushWith(session, request, (action) => action(held)), { dryRun })
      : pushWith(session, request, lockForEach);
  return holdingShares(session, push);
}

async function pushWith(session: Session, request: Push, locked: Locked): Promise<Done> {
  const { repository, git } = session;
  const { remote, release, again, over, now, dryRun, allowSecrets = false } = request;
  if (readShares(session).copies.some(({ pulling }) => pulling))
    throw new AgtError(`session "${session.id}" is not complete here yet`, {
      hints: [`go on with: agt session pull ${session.id}`],
    });
  const { record, left, unseen, refs } = await locked((held) => capture(held, request));
  const share = (await findCopy(session, remote)) ?? newShare(remote);
  const plain = request.mode ?? share.plain;
  const [{ recipients, madeKey }, { length: snapshots }] = await Promise.all([
    recipientsFor(repository, request.env, plain, share, request),
    session.history(),
  ]);
  const said = digestOf(record, refs, plain, release);
  // Somebody who is new among the recipients could not open the parts that are there.
  const isSealed = (recipients ?? []).every((one) => share.sealedFor?.includes(one));
  const isWhole = again || over !== undefined || plain !== share.plain || !isSealed;
  const isSame = !isWhole && said === share.said;
  const isAsked = share.head !== undefined && (isWhole || isSame || dryRun);
  const there = over ?? (isAsked ? await readRefs(git, remote, share.share) : refsOf(share));
  if (over === undefined && there.head !== share.head) return lost(session, share, request, locked);
  const done = { remote, snapshots, left, unseen, plain, openers: recipients, madeKey };
  const leave = () => locked(async (held) => becomeAway(held, { remote }, now));
  if (isSame && there.parts === refsOf(share).parts) {
    // The remote may have a new name, or be back.
    const seen = withCopy(readShares(session), { ...share, failed: undefined });
    if (!dryRun) writeShares(session, seen, { durable: false });
    // A push that was killed has given it away.
    return { ...done, record: release && !dryRun ? await leave() : record, size: undefined };
  }
  if (over === undefined && !again) requireWhole(record, snapshots, share, remote);
  const send = async (scratch: ScratchObjects): Promise<number | undefined> => {
    const known = await branchesOf(repository, remote);
    const kept = isWhole || isSame ? [] : partsToKeep(share.parts);
    const plainAt = share.plain && remote;
    const sending = { refs, plain, allowSecrets, known, kept, plainAt };
    const { before, refs: sent } = await contentOf(session, scratch, sending);
    if (dryRun) return 0;
    const tips = [...new Set(Object.values(sent))];
    const { parts, size } = await addPart({ scratch, recipients, chain: share.parts, before, tips, known });
    const holder = release ? undefined : (share.holder ?? holderHere(session, now));
    const next = { plain, number: share.number + 1, pushed_at: now.toISOString(), failed: undefined };
    const has = { refs, parts, said, state: record.state, holder, sealedFor: recipients, snapshots };
    reportProgress('pushing');
    requirePresent(session, request);
    const moving = { from: there, to: { ...share, ...next, ...has }, record, refs: sent, recipients };
    let moved: Share | undefined;
    // Killed between the two, a session that is here and free on the remote would have two owners.
    if (release) await leave();
    try {
      moved = await moveShare(session, scratch, { ...moving, step: 'push' });
    } finally {
      if (release && moved === undefined) await locked(async (held) => held.write(record));
    }
    return moved && size;
  };
  reportProgress('packing');
  const size = await withScratchObjects(repository, send);
  if (size === undefined) return lost(session, share, request, locked);
  return { ...done, record: release && !dryRun ? await leave() : record, size };
}

/** Nobody has taken it since: who had it last sends again what the remote has lost, or ends a push that was killed. */
function isFree(session: Session, { again, release }: PushRequest): boolean {
  const { away } = session.record;
  return (again || release) && away !== undefined && away.holder === undefined && !away.sealed;
}

async function capture(session: LockedSession, request: Push) {
  const { now, dryRun, asItIs } = request;
  if (!isFree(session, request)) refuseAway(session.record);
  const { intent } = requirePresent(session, request);
  if (intent !== undefined) throw unfinishedError(session.id, intent.operation);
  const look = dryRun ? previewCapture : captureSession;
  const captured = isActive(session.record) && !asItIs ? await look(session, { now }) : undefined;
  const { failed = [], skipped = [], changes = [] } = captured ?? {};
  const unseen = dryRun ? changes.length : 0;
  const record = session.read() ?? session.record;
  const refs = await existingRefs(session);
  if (!dryRun && [undefined, record.from_commit].includes(refs['tip']))
    throw new AgtError(`session "${session.id}" has no snapshot to send`);
  return { record, refs, left: [...failed, ...skipped], unseen };
}

/** @throws AgtError if somebody has removed it meanwhile, or the copy for which nobody has asked again */
function requirePresent(session: Session, { remote, asItIs }: Push): SessionRecord {
  const record = readRecord(session.repository, session.id);
  if (record !== undefined && !(asItIs && copyOn(session, remote).isDeleted)) return record;
  throw new AgtError(`somebody has removed session "${session.id}" meanwhile`);
}

/** Without the times that a look at the session changes. */
function digestOf(record: SessionRecord, refs: object, plain: Share['plain'], release: boolean): string {
  const { last_activity_at: _, owner: __, ...rest } = record;
  return openHash('sha1')
    .update(JSON.stringify([rest, refs, plain, release]))
    .digest();
}

/** Another repository has the session, or the remote has lost it. */
async function lost(session: Session, share: Share, request: Push, locked: Locked): Promise<Done> {
  const { repository } = session;
  const [there] = await listShares(repository, share.remote, await readKeys(request.env), share.share);
  const { holder, number = share.number } = there?.head ?? {};
  const isOld = number < share.number && (holder === undefined || isHere(session, holder));
  const isBroken = there === undefined ? share.head !== undefined : there.refs.head === share.head || isOld;
  const over = there?.refs ?? {};
  if (isBroken && request.over === undefined) return pushWith(session, { ...request, over }, locked);
  if (isBroken || there === undefined || there.problem !== undefined)
    throw new AgtError(`"${share.remote}" has another state of session "${session.id}" than agt has pushed`, {
      hints: [`see: agt session list --remote ${share.remote}`],
    });
  const away = {
    remote: share.remote,
    ...(holder && { holder }),
    ...(!there.head && { sealed: true as const }),
  };
  if (request.dryRun) throw awayError({ ...session.record, away });
  const seen = withCopy(readShares(session), { ...share, failed: undefined });
  writeShares(session, { ...seen, pushing: undefined });
  const record = await locked(async (held) => becomeAway(held, away, request.now));
  const { tip, isOurs } = await newestHere(session, share.refs);
  const unsent = isOurs ? await snapshotsSince(session, share.refs['tip'], tip) : 0;
  const [are, them] = unsent === 1 ? ['is', 'it'] : ['are', 'them'];
  const yours = `${plural(unsent, 'snapshot')} of this repository ${are} not on ${share.remote}; a pull makes a fork of ${them}`;
  const ended = isEnded(record) ? [`here it stays ${record.state}`] : [];
  throw awayError(record, [...ended, ...(unsent === 0 ? [] : [yours])]);
}

interface LaterRequest {
  /** With the settings that it has at the call. */
  readonly open: () => Promise<Repository>;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => Date;
}

/**
 * The process that `agt.push` starts (session/push-later.ts): without a word, also if the remote cannot be reached. Until
 * the remote has every snapshot, or the session or the setting is gone. A process that waits already does it.
 */
export async function pushInBackground({ repository, id }: Session, request: LaterRequest): Promise<void> {
  const lock = pushLocks(repository.agtDir, id).waiting;
  const wanted = async () => {
    const opened = await request.open();
    const record = await recordToPush(opened, id);
    return record && new Session(opened, record);
  };
  const push = async () => {
    for (let before = await wanted(); before !== undefined; before = await wanted()) {
      const every = 1000 * before.repository.settings.pushEvery;
      const last = Date.parse(readShares(before).copies[0]?.pushed_at ?? '') || 0;
      await sleep(Math.max(0, Math.min(every, last + every - request.now().getTime())));
      const session = await wanted();
      if (session === undefined || !(await tryPush(session, request))) return;
    }
  };
  await unlessBusy(() => withLock(lock, `the push of session "${id}"`, push));
}

/** Whether there may be more to send. A failure is for `agt status`. The next snapshot tries again. */
async function tryPush(session: Session, { env, now }: LaterRequest): Promise<boolean> {
  const time = now();
  const remote = session.repository.settings.push;
  try {
    const { copy } = copyOn(session, remote);
    if (copy?.plain === undefined && (await readKeys(env)) === undefined)
      throw new AgtError('you have no key yet: agt key new');
    const words = { release: false, again: false, dryRun: false, asItIs: true };
    const { size } = await pushSession(session, { env, remote, now: time, ...words });
    return size !== undefined;
  } catch (error) {
    if (isBusy(error)) return true;
    const reason = error instanceof Error ? error.message : String(error);
    if (!(await recordToPush(session.repository, session.id))) return false;
    await holdingShares(session, async () => {
      const shares = readShares(session);
      const share = shares.copies[0] ?? newShare(remote);
      writeShares(session, withCopy(shares, { ...share, failed: { at: time.toISOString(), reason } }));
    });
    return false;
  }
}
