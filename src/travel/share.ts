/**
 * A copy of a session on a remote: what its head says, what agt remembers of it, and how agt moves it from the state that
 * it has seen last.
 */
import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { deflateSync, inflateSync } from 'node:zlib';
import { failurePoint } from '../disk/failure-point.ts';
import { withLock } from '../disk/lock.ts';
import { attempt } from '../errors.ts';
import {
  attributionRef,
  landedRef,
  reviewRef,
  sharedHeadRef,
  takenRef,
  tipRef,
} from '../filter/agent-refs.ts';
import { readObjects } from '../git/objects/object-reader.ts';
import { type ScratchObjects, storeInScratch } from '../git/objects/scratch-objects.ts';
import { pushLocks } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { USUAL_WAIT_MS } from '../session/lock.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import {
  type Held,
  type Holder,
  knownCopies,
  type Lease,
  readKnownShares,
  readShares,
  type Share,
  withCopy,
  writeKnownShares,
  writeShares,
} from '../session/share-file.ts';
import {
  bytesOf,
  isForOthers,
  isSealed,
  type Keys,
  openStream,
  type Recipients,
  sealStream,
} from './keys.ts';
import { fetchRefs, listRefs, moveRefs, type Refs, readRefs, withoutTracking } from './remote.ts';

export interface Head extends Lease {
  readonly version: 1;
  readonly record: SessionRecord;
  /** The refs of the session by what they are for. */
  readonly refs: Readonly<Record<string, string>>;
  /** The last commit of the chain of parts. */
  readonly parts: string;
  /** Of a file: the commits without which nobody can open it. */
  readonly requires?: readonly string[];
  readonly pushed_at: string;
  readonly snapshots: number;
  /** Bytes of all parts. */
  readonly size: number;
}

export function holderHere({ repository }: Pick<Session, 'repository'>, now: Date): Holder {
  const name = `${attempt(() => userInfo().username) ?? 'somebody'}@${hostname()}`;
  return { name, repository: repository.area ?? repository.git.cwd, since: now.toISOString() };
}

export function isHere(session: Pick<Session, 'repository'>, holder: Holder | undefined): boolean {
  const { name, repository } = holderHere(session, new Date());
  return holder?.name === name && holder.repository === repository;
}

/** The refs that are the session. `branch` and `work_branch` have prefixes that are settings of each repository. */
export function refNames(record: SessionRecord): Head['refs'] {
  const { session_id: id, branch, work_branch } = record;
  return {
    tip: tipRef(id),
    shadow: branch,
    work: work_branch,
    taken: takenRef(id),
    landed: landedRef(id),
    lines: attributionRef(id),
    review: reviewRef(id),
  };
}

export async function sealHead(recipients: Recipients, head: Head): Promise<Uint8Array> {
  return bytesOf(await sealStream(recipients, ReadableStream.from([deflateSync(JSON.stringify(head))])));
}

/** @throws an error if it is none */
export function requireHead(content: unknown): Head {
  const head = content as Head | null;
  if (typeof head?.record?.session_id === 'string' && typeof head.parts === 'string') return head;
  throw new Error('it is no head');
}

export function idOf({ record }: Head): SessionId {
  return record.session_id;
}

/** A session as a remote has it. */
export interface RemoteShare {
  readonly share: string;
  readonly refs: Refs;
  /** Undefined: it is encrypted for other keys. */
  readonly head: Head | undefined;
  /** Undefined, or why it cannot be read. */
  readonly problem: string | undefined;
  /** No earlier list of the remote had this state of it. */
  readonly isNew: boolean;
}

const MOST_LOOKS = 5;

/** All of a remote, or the one with this name. */
export async function listShares(
  { git, agtDir }: Repository,
  remote: string,
  keys: Keys | undefined,
  share?: string,
): Promise<RemoteShare[]> {
  const { recipient, heads: earlier = [] } = readKnownShares<Opened>(agtDir) ?? {};
  // What was opened with the keys of then: each takes a millisecond.
  const known = new Map(recipient === keys?.recipient ? earlier.filter(isOpen) : []);
  const seen = new Set(earlier.map(([oid]) => oid));
  for (let looks = 1; ; looks++) {
    const there = [...(await listRefs(git, remote, share))].flatMap(([name, refs]) =>
      refs.head === undefined ? [] : { share: name, refs, oid: refs.head },
    );
    const unknown = there.filter(({ oid }) => !known.has(oid));
    const refs = unknown.map((one) => sharedHeadRef(one.share));
    await fetchRefs(git, remote, refs, { isApart: true });
    const oids = unknown.map(({ oid }) => oid);
    const contents = await readObjects(git, oids);
    // Somebody has pushed between the two questions.
    if (looks < MOST_LOOKS && contents.includes(undefined)) continue;
    for (const [i, oid] of oids.entries()) known.set(oid, await opened(keys, contents[i]?.content));
    const heads = there.map(({ oid }) => [oid, known.get(oid) as Opened] as const);
    if (unknown.length > 0 && share === undefined)
      writeKnownShares(agtDir, { recipient: keys?.recipient, heads });
    return there.map((one, i) => ({ ...one, ...(heads[i]?.[1] as Opened), isNew: !seen.has(one.oid) }));
  }
}

type Opened = Pick<RemoteShare, 'head' | 'problem'>;
const isOpen = ([, { head }]: readonly [string, Opened]) => head !== undefined;

async function opened(keys: Keys | undefined, content: Buffer | undefined): Promise<Opened> {
  if (content === undefined) return { head: undefined, problem: 'the remote did not send it' };
  const isPlain = !isSealed(content);
  try {
    const identities = isPlain ? undefined : (keys?.identities ?? []);
    const bytes = await bytesOf(await openStream(identities, ReadableStream.from([content])));
    const head = requireHead(JSON.parse(inflateSync(bytes).toString()));
    const plain = isPlain ? (head.plain ?? 'without ignored') : undefined;
    return { head: { ...head, plain }, problem: undefined };
  } catch (error) {
    return { head: undefined, problem: isForOthers(error) ? undefined : 'it is damaged, or of a newer agt' };
  }
}

/** For whatever writes down what remotes have of the session: one process at a time. */
export function holdingShares<T>({ repository, id }: Held, action: () => Promise<T>): Promise<T> {
  const what = `the copies of session "${id}" on remotes`;
  return withLock(pushLocks(repository.agtDir, id).running, what, action, USUAL_WAIT_MS);
}

export function newShare(remote: string): Share {
  return { remote, share: randomBytes(10).toString('hex'), refs: {}, parts: [], number: 0 };
}

/** The copy on this remote, which may have had another name. A push that was killed may have come through. */
export async function findCopy({ repository, id }: Held, remote: string): Promise<Share | undefined> {
  const shares = readShares({ repository, id });
  const { pushing } = shares;
  const copies = knownCopies(shares);
  const headOf = async ({ share }: Share) => (await readRefs(repository.git, remote, share)).head;
  const there = pushing?.remote === remote ? await headOf(pushing) : undefined;
  if (there !== undefined && there === pushing?.head) return pushing;
  const named = copies.find((share) => share.remote === remote);
  // A first push that did not come through has made none.
  if (named !== undefined && (named !== pushing || there !== undefined)) return named;
  for (const share of copies) if ((await headOf(share)) !== undefined) return { ...share, remote };
  return undefined;
}

/** As agt has seen it last. */
export function refsOf({ head, parts }: Share): Refs {
  return { head, parts: parts.at(-1)?.commit };
}

interface Moving {
  /** For the names of failure points. */
  readonly step: 'push' | 'pull';
  readonly from: Refs;
  readonly to: Share;
  /** As the remote is to have them. */
  readonly record: SessionRecord;
  readonly refs: Head['refs'];
  readonly recipients: Recipients;
}

/** Writes down what it does before and after. Undefined: the remote has another state. */
export async function moveShare(
  session: Held,
  scratch: ScratchObjects,
  { step, from, to, record, refs, recipients }: Moving,
): Promise<Share | undefined> {
  const { parts, number, holder, plain, sealedFor, pushed_at = '', snapshots = 0 } = to;
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  const lease = { number, holder, plain, sealedFor, pushed_at, snapshots, size };
  const head: Head = { version: 1, record, refs, parts: parts.at(-1)?.commit ?? '', ...lease };
  const content = Buffer.from(await sealHead(recipients, head));
  const next = { ...to, head: storeInScratch(scratch, { type: 'blob', content }, record.from_commit) };
  const known = readShares(session);
  writeShares(session, { ...known, pushing: next });
  failurePoint(`${step}: written down`);
  const moved = await moveRefs(withoutTracking(scratch), to.remote, to.share, from, refsOf(next));
  failurePoint(`${step}: moved`);
  if (!moved) return undefined;
  // After a power cut the next push asks the remote.
  writeShares(session, withCopy({ ...known, pushing: undefined }, next), { durable: false });
  return next;
}
