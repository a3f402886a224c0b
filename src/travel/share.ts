/** What a remote stores of one session. */
import { hostname, userInfo } from 'node:os';
import { deflateSync, inflateSync } from 'node:zlib';
import { AgtError, attempt } from '../errors.ts';
import { attributionRef, landedRef, reviewRef, takenRef, tipRef } from '../filter/agent-refs.ts';
import type { SessionId } from '../session/id.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import type { Holder, Share } from '../session/share-file.ts';
import type { Keys } from './keys.ts';
import { openBytes, type Seal, sealBytes } from './seal.ts';

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
  return requireHead(attempt(() => JSON.parse(inflateSync(plain).toString()) as unknown));
}

/** @throws AgtError if it is none */
export function requireHead(content: unknown): Head {
  const head = content as Head | null | undefined;
  if (typeof head?.record?.session_id === 'string' && typeof head.parts === 'string') return head;
  throw new AgtError('it is damaged, or of a newer agt');
}

export function idOf({ record }: Head): SessionId {
  return record.session_id;
}
