/** What a remote has of one session: the head that it stores, and what agt remembers about it here. */
import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { deflateSync, inflateSync } from 'node:zlib';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { AgtError, attempt, unlessMissing } from '../errors.ts';
import { attributionRef, landedRef, reviewRef, takenRef, tipRef } from '../filter/agent-refs.ts';
import { sharedFile } from '../layout.ts';
import type { SessionId } from '../session/id.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import type { SessionState } from '../session/state.ts';
import type { Keys } from './keys.ts';
import { openBytes, type Seal, sealBytes } from './seal.ts';

/** The repository in which the session goes on. */
export interface Holder {
  /** `user@host`. */
  readonly name: string;
  readonly repository: string;
  readonly since: string;
}

export interface Head {
  readonly version: 1;
  readonly record: SessionRecord;
  /** The refs of the session by what they are for. */
  readonly refs: Readonly<Record<string, string>>;
  /** The last commit of the chain of parts. */
  readonly parts: string;
  /** Grows with every change of the head. */
  readonly number: number;
  /** Undefined: the last one has given it away. */
  readonly holder?: Holder | undefined;
  /** Not encrypted; missing if it is. */
  readonly plain?: Share['plain'];
  /** The public keys for which the parts are encrypted. */
  readonly sealedFor?: Share['sealedFor'];
  /** Of a file: the commits without which nobody can open it. */
  readonly requires?: readonly string[];
  readonly pushed_at: string;
  readonly snapshots: number;
  /** Bytes of all parts. */
  readonly size: number;
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

/** `<common>/agt/shared/<id>.json`. */
export interface Share {
  /** A name of a remote, or an address. */
  readonly remote: string;
  /** The name on the remote: random. */
  readonly share: string;
  /** The blob of the head that was last seen there; undefined before the first push. */
  readonly head?: string | undefined;
  /** The same after a push that has begun. */
  readonly pushing?: Share | undefined;
  readonly refs: Readonly<Record<string, string>>;
  readonly parts: readonly Part[];
  readonly number: number;
  /** As many has what `refs` name. */
  readonly snapshots?: number | undefined;
  /** A digest of what the head says: without a change, nothing is pushed. */
  readonly said?: string | undefined;
  readonly holder?: Holder | undefined;
  /** The repository from which this one has taken it; it learns so from the remote. */
  readonly takenFrom?: Holder | undefined;
  readonly plain?: 'with ignored' | 'without ignored' | undefined;
  readonly pushed_at?: string | undefined;
  /** The last push in the background has failed. */
  readonly failed?: { readonly at: string; readonly reason: string } | undefined;
  /** The keys for which the parts are encrypted. */
  readonly sealedFor?: readonly string[] | undefined;
  /** The state of the session that the remote knows. */
  readonly state?: SessionState | undefined;
  /** Remotes on which a person has deleted the copy. */
  readonly deleted?: readonly string[] | undefined;
  /** Copies on other remotes. */
  readonly others?: readonly Share[] | undefined;
  /** The end of a chain on the remote that is not complete. */
  readonly lost?: string | undefined;
  /** The session comes from there, and is not complete here yet. */
  readonly pulling?: true | undefined;
}

export function readShare({ repository, id }: Pick<Session, 'repository' | 'id'>): Share | undefined {
  const path = sharedFile(repository.agtDir, id);
  const text = unlessMissing(() => readFileSync(path, 'utf8'));
  if (text === undefined) return undefined;
  const share = attempt(() => JSON.parse(text) as Share);
  if (typeof share?.share === 'string' && Array.isArray(share.parts)) return share;
  if (share?.deleted !== undefined) return undefined;
  throw new AgtError(`${path} is damaged`, {
    hints: [`move it away; the next push begins a new copy, and agt session pull ${id} finds the old one`],
  });
}

export function writeShare(
  { repository, id }: Pick<Session, 'repository' | 'id'>,
  share: Share | Pick<Share, 'deleted'>,
  { durable = true } = {},
): void {
  writeFileAtomic(sharedFile(repository.agtDir, id), `${JSON.stringify(share)}\n`, { durable });
}

export function holderHere({ repository }: Pick<Session, 'repository'>, now: Date): Holder {
  const user = attempt(() => userInfo().username) ?? 'somebody';
  return {
    name: `${user}@${hostname()}`,
    repository: repository.area ?? repository.git.cwd,
    since: now.toISOString(),
  };
}

export function isHere(session: Pick<Session, 'repository'>, holder: Holder | undefined): boolean {
  const { name, repository } = holderHere(session, new Date());
  return holder?.name === name && holder.repository === repository;
}

/** The refs that are the session. `branch` and `work_branch` have prefixes that are settings of each repository. */
export function refNames({
  session_id: id,
  branch,
  work_branch,
}: SessionRecord): Readonly<Record<string, string>> {
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

export async function sealHead(seal: Seal, head: Head): Promise<Uint8Array> {
  return sealBytes(seal, deflateSync(JSON.stringify(head)));
}

/** Undefined if it is for other keys. @throws AgtError if it is no head. */
export async function openHead(keys: Keys | undefined, sealed: Uint8Array): Promise<Head | undefined> {
  const plain = await openBytes(keys, sealed).catch(() => new Uint8Array());
  if (plain === undefined) return undefined;
  const head = attempt(() => JSON.parse(inflateSync(plain).toString()) as Head | null);
  if (typeof head?.record?.session_id === 'string' && typeof head.parts === 'string') return head;
  throw new AgtError('it is damaged, or of a newer agt');
}

export function idOf({ record }: Head): SessionId {
  return record.session_id;
}
