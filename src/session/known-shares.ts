/** A cache: what remotes have said of their sessions when agt asked them last (travel/remote.ts). */
import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { attempt } from '../errors.ts';
import { forOwnerAlone } from '../git/run/environment.ts';
import { knownSharesFile } from '../layout.ts';
import type { SessionRecord } from './record.ts';

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
