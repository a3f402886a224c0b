/**
 * `agt session push`: a session goes to a remote, or what it has gained since. The remote's head of the session moves only
 * from the state that agt has seen last, so of two repositories that work on one session, one pushes and the other one
 * learns who has it.
 */
import type { NotCaptured } from '../autocommit/capture.ts';
import { withLock } from '../disk/lock.ts';
import { AgtError, plural } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { openHash } from '../git/objects/hash.ts';
import { type ScratchObjects, withScratchObjects } from '../git/objects/scratch-objects.ts';
import { pushLocks } from '../layout.ts';
import { once } from '../once.ts';
import { reportProgress } from '../process/progress.ts';
import { type LockedSession, USUAL_WAIT_MS, withSessionLock } from '../session/lock.ts';
import { awayError, inState, refuseAway, unfinishedError } from '../session/operation.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { type Part, readShares, type Share, withCopy, writeShares } from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { captureSession, previewCapture } from '../workspace/capture-session.ts';
import { contentOf, existingRefs, plainMode, recipientsFor, type Wish } from './content.ts';
import { newestHere, snapshotsSince } from './held.ts';
import { type Recipients, readKeys } from './keys.ts';
import { addPart, type Commits, partsToKeep } from './parts.ts';
import { branchesOf, chooseRemote, type Refs, readRefs } from './remote.ts';
import {
  findCopy,
  holderHere,
  isHere,
  listShares,
  moveShare,
  newShare,
  refsOf,
  requireRemote,
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

export interface Pushed {
  readonly record: SessionRecord;
  readonly remote: string;
  readonly snapshots: number;
  /** Bytes of the new part; undefined if the remote has all. */
  readonly size: number | undefined;
  /** Files that no snapshot has, and why: they stay here. */
  readonly left: readonly NotCaptured[];
  /** Of a dry run: changed files that no snapshot has yet, so that nobody has looked at them. */
  readonly unseen: number;
  /** The file of a key that agt has just made. */
  readonly madeKey: string | undefined;
  readonly plain: Share['plain'];
  /** The public keys of those who can open it; undefined if it is not encrypted. */
  readonly openers: Recipients;
}

export async function pushSession(session: Session, request: PushRequest): Promise<Pushed> {
  const mode = plainMode(session.record, request);
  const { copies } = readShares(session);
  const remote = await chooseRemote(session.repository, request.remote ?? copies[0]?.remote);
  const there = copies.find((share) => share.remote === remote);
  const plain = mode ?? there?.plain;
  const { env, dryRun, again } = request;
  const sealing = { share: there, kept: again ? [] : there?.sealedFor, dryRun };
  const sealed = once(() => recipientsFor(session.repository, env, plain, sealing));
  const given = { ...request, remote, sealed, mode: plain, plainAt: there?.plain && remote };
  const lock = pushLocks(session.repository.agtDir, session.id).running;
  const pushed = await withLock(
    lock,
    `the push of session "${session.id}"`,
    () => push(session, given),
    USUAL_WAIT_MS,
  ).catch(async (error: unknown) => {
    if (request.remote === undefined) await requireRemote(session, remote);
    throw error;
  });
  const { madeKey, recipients } = await sealed();
  return { ...pushed, madeKey, plain, openers: recipients };
}

interface Push extends PushRequest {
  readonly remote: string;
  readonly sealed: () => ReturnType<typeof recipientsFor>;
  readonly mode: Share['plain'];
  /** The remote, if it has a plain copy. */
  readonly plainAt: string | undefined;
  /** What the remote has of it is lost, or older: all is sent again in its place. */
  readonly over?: Refs;
}

type Done = Omit<Pushed, 'madeKey' | 'plain' | 'openers'>;

/** A session that goes away is locked meanwhile. Otherwise agents work on while the remote is slow. */
function push(session: Session, given: Push): Promise<Done> {
  // Anybody may pull one that has ended.
  const gives = given.release && !isEnded(session.record);
  const request = { ...given, release: gives || isFree(session.record, given) };
  if (!request.release)
    return pushWith(session, request, (action) => withSessionLock(session, action, { mount: !given.asItIs }));
  return withSessionLock(session, (held) => pushWith(session, request, (action) => action(held)));
}

type Locked = <T>(action: (session: LockedSession) => Promise<T>) => Promise<T>;

async function pushWith(session: Session, request: Push, locked: Locked): Promise<Done> {
  const { remote, release, again, over, mode, now, dryRun } = request;
  if (readShares(session).copies.some(({ pulling }) => pulling))
    throw new AgtError(`session "${session.id}" is not complete here yet`, {
      hints: [`go on with: agt session pull ${session.id}`],
    });
  const state = await locked((held) => capture(held, request));
  const { record, left, unseen, refs } = state;
  const share = (await findCopy(session, remote)) ?? { ...newShare(remote), plain: mode };
  const said = digestOf(record, refs, request);
  const { recipients } = await request.sealed();
  const isWhole = again || over !== undefined || mode !== share.plain || !isSealedFor(share, recipients);
  const isSame = !isWhole && said === share.said;
  const isAsked = isWhole || isSame || dryRun;
  const there = over ?? (isAsked ? await readRefs(session.git, remote, share.share) : refsOf(share));
  if (over === undefined && there.head !== share.head) return lost(session, share, request, locked);
  if (isSame && there.parts === refsOf(share).parts) {
    const snapshots = share.snapshots ?? (await session.history()).length;
    return { record, remote, snapshots, left, unseen, size: undefined };
  }
  reportProgress('packing');
  const kept = isWhole || isSame ? [] : partsToKeep(share.parts);
  const pushed = await withScratchObjects(session.repository, async (scratch) => {
    const preparing = { ...request, ...state, scratch, recipients, kept };
    const { to, sent, size } = await prepare(session, { ...share, plain: mode }, preparing);
    const moving = { from: there, to: { ...to, said }, record, refs: sent, recipients };
    if (!dryRun) reportProgress('pushing');
    const isDone = dryRun || (await moveShare(session, scratch, { ...moving, step: 'push' }));
    return isDone ? { snapshots: to.snapshots, size } : undefined;
  });
  if (pushed === undefined) return lost(session, share, request, locked);
  const goes = release && !dryRun;
  const after = goes ? await locked(async (held) => becomeAway(held, { remote }, now)) : record;
  return { ...pushed, record: after, remote, left, unseen };
}

interface Captured {
  readonly record: SessionRecord;
  readonly left: Pushed['left'];
  readonly unseen: number;
  readonly refs: Readonly<Record<string, string>>;
}

/** Nobody has taken it since: what the remote has lost, the last one that had it sends again. */
function isFree({ away }: SessionRecord, { again }: Push): boolean {
  return again && away !== undefined && away.holder === undefined && !away.sealed;
}

async function capture(session: LockedSession, request: Push): Promise<Captured> {
  const { now, dryRun, asItIs } = request;
  if (!isFree(session.record, request)) refuseAway(session.record);
  const { intent } = session.record;
  if (intent !== undefined) throw unfinishedError(session.id, intent.operation);
  const look = dryRun ? previewCapture : captureSession;
  const captured = isActive(session.record) && !asItIs ? await look(session, { now }) : undefined;
  const left = [...(captured?.failed ?? []), ...(captured?.skipped ?? [])];
  const record = session.read() ?? session.record;
  return {
    record,
    refs: await existingRefs(session),
    left,
    unseen: dryRun ? (captured?.changes.length ?? 0) : 0,
  };
}

const NOTHING = { parts: undefined, size: 0, commits: new Map() };

interface Preparing extends Push, Captured {
  readonly scratch: ScratchObjects;
  readonly recipients: Recipients;
  /** Parts on the remote that stay. */
  readonly kept: readonly Part[];
}

async function prepare(session: Session, share: Share, request: Preparing) {
  const { record, recipients, release, now, dryRun, refs, scratch, kept } = request;
  const { mode: plain, allowSecrets = false, plainAt } = request;
  const known = await branchesOf(session.repository, request.remote);
  const sending = { refs, plain, allowSecrets, known, kept, plainAt };
  const { before, refs: sent } = await contentOf(session, scratch, sending);
  const tips = [...new Set(Object.values(sent))];
  const adding = { scratch, recipients, chain: share.parts, before, tips, known };
  const { parts, size, commits } = dryRun ? NOTHING : await addPart(adding);
  const to = {
    ...share,
    refs,
    parts: parts ?? share.parts,
    state: record.state,
    holder: release ? undefined : (share.holder ?? holderHere(session, now)),
    number: share.number + 1,
    pushed_at: now.toISOString(),
    failed: undefined,
    sealedFor: recipients,
    snapshots: countSince(share, tips[0], commits) ?? (await session.history()).length,
  };
  return { to, sent, size };
}

/** Undefined if the session does not build on what the remote has, of which the last part names the newest one first. */
function countSince(
  { parts, snapshots }: Share,
  tip: string | undefined,
  commits: Commits,
): number | undefined {
  const sent = parts.at(-1)?.tips[0];
  let added = 0;
  let at = tip;
  for (; at !== undefined && at !== sent; at = commits.get(at)?.[0]) added++;
  return at === undefined || snapshots === undefined ? undefined : snapshots + added;
}

/** Somebody who is new among the recipients could not open the parts that are there. */
function isSealedFor({ sealedFor = [] }: Share, recipients: Recipients = []): boolean {
  return recipients.every((one) => sealedFor.includes(one));
}

/** Without the times that a look at the session changes. */
function digestOf(record: SessionRecord, refs: object, { release, mode }: Push): string {
  const { last_activity_at: _, owner: __, ...rest } = record;
  return openHash('sha1')
    .update(JSON.stringify([rest, refs, mode, release]))
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
  const sealed = there.head === undefined && { sealed: true as const };
  const away = { remote: share.remote, ...(sealed || (holder && { holder })) };
  if (request.dryRun) throw awayError({ ...session.record, away });
  writeShares(session, { ...withCopy(readShares(session), share), pushing: undefined });
  const record = await locked(async (held) => becomeAway(held, away, request.now));
  const { tip, isOurs } = await newestHere(session, share.refs);
  const unsent = isOurs ? await snapshotsSince(session, share.refs['tip'], tip) : 0;
  const [are, them] = unsent === 1 ? ['is', 'it'] : ['are', 'them'];
  const yours = `${plural(unsent, 'snapshot')} of this repository ${are} not on ${share.remote}; a pull makes a fork of ${them}`;
  const ended = isEnded(record) ? [`here it stays ${record.state}`] : [];
  throw awayError(record, [...ended, ...(unsent === 0 ? [] : [yours])]);
}

function becomeAway(
  session: LockedSession,
  away: NonNullable<SessionRecord['away']>,
  now: Date,
): SessionRecord {
  const { record } = session;
  const next = isEnded(record) ? record : inState(record, 'away', { now });
  session.write({ ...next, away });
  return session.read() ?? record;
}
