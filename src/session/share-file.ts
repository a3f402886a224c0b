/** `<common>/agt/shared/<id>.json`: what agt remembers of the copies of a session on remotes (travel/). */
import { readFileSync, rmSync } from 'node:fs';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { AgtError, attempt, unlessMissing } from '../errors.ts';
import { forOwnerAlone } from '../git/run/environment.ts';
import { knownSharesFile, sharedFile } from '../layout.ts';
import type { SessionRecord } from './record.ts';
import type { Session } from './session.ts';
import type { SessionState } from './state.ts';

/** The repository in which the session goes on. */
export interface Holder {
  /** `user@host`. */
  readonly name: string;
  readonly repository: string;
  readonly since: string;
}

/** For messages. */
export function placeOf({ name, repository }: Pick<Holder, 'name' | 'repository'>): string {
  return `${name}, in ${repository}`;
}

/** One commit of the chain of parts. */
export interface Part {
  readonly commit: string;
  /** The raw commit, one byte per character: the next part has it as its parent. */
  readonly text: string;
  readonly size: number;
  /** The commits of the session with whose objects the chain is complete, up to this part. */
  readonly tips: readonly string[];
}

/** What a head says beside the session. */
export interface Lease {
  /** Grows with every change of the head. */
  readonly number: number;
  /** Undefined: the last one has given it away. */
  readonly holder?: Holder | undefined;
  /** Not encrypted; missing if it is. */
  readonly plain?: 'with ignored' | 'without ignored' | undefined;
  /** The public keys for which the parts are encrypted. */
  readonly sealedFor?: readonly string[] | undefined;
  readonly pushed_at?: string | undefined;
  readonly snapshots?: number | undefined;
}

/** A copy of the session. */
export interface Share extends Lease {
  /** A name of a remote, or an address. */
  readonly remote: string;
  /** The name on the remote: random. */
  readonly share: string;
  /** The blob of the head that was last seen there; undefined before the first push. */
  readonly head?: string | undefined;
  readonly refs: Readonly<Record<string, string>>;
  readonly parts: readonly Part[];
  /** A digest of what the head says: without a change, nothing is pushed. */
  readonly said?: string | undefined;
  /** The repository from which this one has taken it; it learns so from the remote. */
  readonly takenFrom?: Holder | undefined;
  /** The last push in the background has failed. */
  readonly failed?: { readonly at: string; readonly reason: string } | undefined;
  /** The state of the session that the remote knows. */
  readonly state?: SessionState | undefined;
  /** The snapshot that the last pull has made of what it brought: no work. */
  readonly arrived?: string | undefined;
  /** The session comes from there, and is not complete here yet. */
  readonly pulling?: true | undefined;
}

export interface Shares {
  /** The one of the last push first. */
  readonly copies: readonly Share[];
  /** A copy as it is after a push that has begun. */
  readonly pushing?: Share | undefined;
  /** Remotes on which a person has deleted the copy. */
  readonly deleted: readonly string[];
}

/** The fields of the first copy are beside `others`. */
type Stored = Partial<Share> & Partial<Omit<Shares, 'copies'>> & { readonly others?: readonly Share[] };

export type Held = Pick<Session, 'repository' | 'id'>;

/** @throws AgtError if the file is damaged */
export function readShares({ repository, id }: Held): Shares {
  const path = sharedFile(repository.agtDir, id);
  const text = unlessMissing(() => readFileSync(path, 'utf8'));
  if (text === undefined) return { copies: [], deleted: [] };
  const { others = [], pushing, deleted, ...first } = attempt(() => JSON.parse(text) as Stored) ?? {};
  if (Array.isArray(first.parts))
    return { copies: [first as Share, ...others], pushing, deleted: deleted ?? [] };
  if (deleted !== undefined) return { copies: [], pushing, deleted };
  throw new AgtError(`${path} is damaged`, {
    hints: [`move it away; the next push begins a new copy, and agt session pull ${id} finds the old one`],
  });
}

export function writeShares(
  { repository, id }: Held,
  { copies: [first, ...others], pushing, deleted }: Shares,
  { durable = true } = {},
): void {
  const path = sharedFile(repository.agtDir, id);
  const stored: Stored = { ...first, others, pushing, deleted };
  if (first === undefined && pushing === undefined && deleted.length === 0) rmSync(path, { force: true });
  else writeFileAtomic(path, `${JSON.stringify(stored)}\n`, { durable });
}

/** Also the one that a first push was to make, if that was killed. */
export function knownCopies({ copies, pushing }: Shares): readonly Share[] {
  return pushing && !copies.some(({ share }) => share === pushing.share) ? [...copies, pushing] : copies;
}

/** A session has one copy on a remote. */
export function withCopy({ copies, ...rest }: Shares, copy: Share): Shares {
  const isOther = ({ share, remote }: Share) => share !== copy.share && remote !== copy.remote;
  return { ...rest, copies: [copy, ...copies.filter(isOther)] };
}

/** Where its copy is, as agt knows it here; undefined: on no remote. */
export function lastPush(session: Held): { readonly remote: string; readonly at: string } | undefined {
  const { remote, head, pushed_at: at } = readShares(session).copies[0] ?? {};
  return remote && head && at ? { remote, at } : undefined;
}

/** As agt knows it here. One that a person has deleted comes back if a person pushes it. */
export function copyOn(session: Held, remote: string) {
  const { copies, deleted } = attempt(() => readShares(session)) ?? { copies: [], deleted: [] };
  const copy = copies.find((one) => one.remote === remote && one.head !== undefined);
  return { copy, isDeleted: copy === undefined && deleted.includes(remote) };
}

/** What remotes have said of their sessions when agt asked them last: a cache. */
interface KnownShare {
  readonly head: { readonly record: Pick<SessionRecord, 'session_id'> } | undefined;
}

export interface KnownShares<T extends KnownShare> {
  /** Of the keys that have opened them. */
  readonly recipient: string | undefined;
  /** By the object names of their heads. */
  readonly heads: readonly (readonly [string, T])[];
}

export function readKnownShares<T extends KnownShare>(agtDir: string): KnownShares<T> | undefined {
  return attempt(() => JSON.parse(readFileSync(knownSharesFile(agtDir), 'utf8')) as KnownShares<T>);
}

export function writeKnownShares<T extends KnownShare>(agtDir: string, known: KnownShares<T>): void {
  const text = JSON.stringify(known);
  forOwnerAlone(() => writeFileAtomic(knownSharesFile(agtDir), text, { cache: true }));
}

export function isOnRemote(agtDir: string, id: string): boolean {
  return readKnownShares(agtDir)?.heads?.some(([, { head }]) => head?.record.session_id === id) === true;
}
