/**
 * Leases: one file for each resource of a provider, outside of the repository, in `$XDG_STATE_HOME/agt/leases`. agt writes
 * the lease before it makes the resource and deletes it after it has removed the resource. So agt finds clones of a
 * repository that somebody has deleted.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { errorCode } from '../errors.ts';
import { leaseFile, leasesDirectory } from '../layout.ts';
import { parseToken, type Token, tokenText } from './token.ts';

export interface Lease {
  readonly token: Token;
  /** The common git directory of the repository; absolute. */
  readonly repository: string;
  /** The session that the folder belongs to, or was made of. */
  readonly session: string | undefined;
  readonly made: string;
}

/** `state`: XDG_STATE_HOME. */
export function takeLease(state: string, { token, repository, session, made }: Lease): void {
  const text = { token: tokenText(token), repository, ...(session === undefined ? {} : { session }), made };
  writeFileAtomic(leaseFile(state, token.nonce), `${JSON.stringify(text)}\n`, { durable: true });
  failurePoint('lease: taken');
}

export function endLease(state: string, { nonce }: Token): void {
  rmSync(leaseFile(state, nonce), { force: true });
}

/** Those that can be read. */
export function listLeases(state: string): Lease[] {
  const directory = leasesDirectory(state);
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
    return names.flatMap((name) => readLease(join(directory, name)) ?? []);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function readLease(path: string): Lease | undefined {
  try {
    const found = JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<string, string>>;
    const token = parseToken(found['token']);
    const { repository, session, made } = found;
    if (token === undefined || repository === undefined || made === undefined) return undefined;
    return token.nonce === basename(path, '.json') ? { token, repository, session, made } : undefined;
  } catch {
    return undefined;
  }
}
