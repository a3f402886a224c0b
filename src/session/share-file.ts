/** `<common>/agt/shared/<id>.json`: what agt remembers of the copies of a session on remotes (travel/). */
import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { AgtError, attempt, unlessMissing } from '../errors.ts';
import { sharedFile } from '../layout.ts';
import type { Session } from './session.ts';
import type { SessionState } from './state.ts';

/** The repository in which the session goes on. */
export interface Holder {
  /** `user@host`. */
  readonly name: string;
  readonly repository: string;
  readonly since: string;
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
  /** The snapshot that the last pull has made of what it brought: no work. */
  readonly arrived?: string | undefined;
  /** The session comes from there, and is not complete here yet. */
  readonly pulling?: true | undefined;
}

type Held = Pick<Session, 'repository' | 'id'>;

/** @throws AgtError if the file is damaged */
export function readShare(session: Held): Share | undefined {
  const share = readFile(session);
  return share?.share === undefined ? undefined : (share as Share);
}

function readFile({ repository, id }: Held): Partial<Share> | undefined {
  const path = sharedFile(repository.agtDir, id);
  const text = unlessMissing(() => readFileSync(path, 'utf8'));
  if (text === undefined) return undefined;
  const share = attempt(() => JSON.parse(text) as Partial<Share>);
  if (typeof share?.share === 'string' ? Array.isArray(share.parts) : share?.deleted !== undefined)
    return share;
  throw new AgtError(`${path} is damaged`, {
    hints: [`move it away; the next push begins a new copy, and agt session pull ${id} finds the old one`],
  });
}

export function writeShare(
  { repository, id }: Held,
  share: Share | Pick<Share, 'deleted'>,
  { durable = true } = {},
): void {
  writeFileAtomic(sharedFile(repository.agtDir, id), `${JSON.stringify(share)}\n`, { durable });
}

/** The one of the last push first. */
export function allOf({ others = [], ...share }: Share): readonly Share[] {
  return [share, ...others];
}

/** Where its copy is, as agt knows it here; undefined: on no remote. */
export function lastPush(session: Held): { readonly remote: string; readonly at: string } | undefined {
  const { remote, head, pushed_at: at } = readShare(session) ?? {};
  return remote && head && at ? { remote, at } : undefined;
}

/** By its name on the remote. */
export function copyNamed(session: Held, name: string): Share | undefined {
  const share = readShare(session);
  return share && allOf(share).find((one) => one.share === name);
}

/** As agt knows it here. One that a person has deleted comes back if a person pushes it. */
export function copyOn(session: Held, remote: string) {
  const file = attempt(() => readFile(session));
  const all = file === undefined ? [] : allOf(file as Share);
  const copy = all.find((one) => one.remote === remote && one.head !== undefined);
  return { copy, isDeleted: copy === undefined && all.some(({ deleted }) => deleted?.includes(remote)) };
}
