/**
 * The name of a resource that agt has made: `kind:1:nonce:path`. agt writes the nonce at the resource. So it never removes
 * what somebody else has put in its place, however the path came about.
 *
 * A lease is one file for each resource, outside of the repository, in `$XDG_STATE_HOME/agt/leases`. agt writes it before
 * it makes the resource and deletes it after it has removed the resource. So agt finds clones of a repository that
 * somebody has deleted.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { jsonNamesIn } from '../disk/folder-entries.ts';
import { readJson } from '../disk/read-file.ts';
import { attempt } from '../errors.ts';
import { FROZEN, leaseFile, leasesDirectory } from '../layout.ts';

/** The providers that there are, in the order in which `auto` prefers them if they are equally good. */
export const PROVIDER_KINDS = ['zfs', 'btrfs', 'overlay', 'git', 'agentfs'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export interface Token {
  readonly kind: ProviderKind;
  readonly nonce: string;
  /** Absolute. */
  readonly path: string;
}

const VERSION = '1';
const FORM = new RegExp(`^(${PROVIDER_KINDS.join('|')}):${VERSION}:([0-9a-f]{16}):(/.*)$`, 's');

export function newToken(kind: ProviderKind, path: string): Token {
  return { kind, nonce: randomBytes(8).toString('hex'), path };
}

/** Of a folder that agt is about to freeze: its nonce is the end of its name. */
export function newFrozenToken(kind: ProviderKind, start: string): Token {
  const token = newToken(kind, start);
  return { ...token, path: `${start}-${token.nonce}` };
}

export function tokenText({ kind, nonce, path }: Token): string {
  return `${kind}:${VERSION}:${nonce}:${path}`;
}

/** Undefined for text that is no token of this version of agt. */
export function parseToken(text: string | undefined): Token | undefined {
  const [, kind, nonce, path] = FORM.exec(text ?? '') ?? [];
  if (nonce === undefined || path === undefined) return undefined;
  return { kind: kind as ProviderKind, nonce, path };
}

/** In the folder; a snapshot leaves out names that begin so. */
export const MARK = '.agt-token';

/** The folder is made under this name, and gets its own when it is complete. */
export function makingPath({ path, nonce }: Token): string {
  return join(dirname(path), `.agt-making-${nonce}`);
}

export function markFolder(folder: string, token: Token): void {
  writeFileSync(join(folder, MARK), `${tokenText(token)}\n`);
}

/** The token at a folder; undefined if agt has made no such folder. */
export function tokenAt(folder: string): Token | undefined {
  return attempt(() => parseToken(readFileSync(join(folder, MARK), 'utf8').trimEnd()));
}

/** Whether agt has made what is at a path: the nonce is in the folder, or in its name. */
export function carriesNonce(folder: string, { nonce }: Token): boolean {
  return basename(folder).endsWith(`-${nonce}`) || tokenAt(folder)?.nonce === nonce;
}

/** What the path of a frozen folder says; undefined for another path. */
export function frozenName(path: string) {
  const [, kind, nonce] = /^(template|moment)-(?:.*-)?([0-9a-f]{16})$/.exec(basename(path)) ?? [];
  if (nonce === undefined || basename(dirname(path)) !== FROZEN) return undefined;
  const isMoment = kind === 'moment';
  return { isMoment, what: isMoment ? 'frozen moment' : 'template', nonce };
}

/**
 * The folders in a directory that a provider has made, without those that `isWanted` refuses. A frozen folder has the mark
 * of the session that it was made of; its own nonce is in the name.
 */
export function tokensIn(
  kind: ProviderKind,
  directory: string,
  isWanted: (path: string) => boolean,
): Token[] {
  if (!existsSync(directory)) return [];
  const paths = readdirSync(directory).map((name) => join(directory, name));
  return paths.filter(isWanted).flatMap((path) => {
    const token = tokenAt(path);
    return token?.kind === kind ? [{ kind, path, nonce: frozenName(path)?.nonce ?? token.nonce }] : [];
  });
}

export interface Lease {
  readonly token: Token;
  /** The common git directory of the repository; absolute. */
  readonly repository: string;
  /** The session that the folder belongs to, or was made of. */
  readonly session: string | undefined;
  readonly made: string;
}

/** `state`: XDG_STATE_HOME. */
export function takeLease(state: string, { token, ...lease }: Lease): void {
  const text = JSON.stringify({ token: tokenText(token), ...lease });
  writeFileAtomic(leaseFile(state, token.nonce), `${text}\n`, { durable: true });
  failurePoint('lease: taken');
}

export function endLease(state: string, { nonce }: Token): void {
  rmSync(leaseFile(state, nonce), { force: true });
}

/** Those that can be read. */
export function listLeases(state: string): Lease[] {
  return jsonNamesIn(leasesDirectory(state)).flatMap((nonce) => readLease(state, nonce) ?? []);
}

function readLease(state: string, nonce: string): Lease | undefined {
  const found = readJson(leaseFile(state, nonce)) as Partial<Record<string, string>> | undefined;
  const token = parseToken(found?.['token']);
  const { repository, session, made } = found ?? {};
  if (token === undefined || repository === undefined || made === undefined) return undefined;
  return token.nonce === nonce ? { token, repository, session, made } : undefined;
}
