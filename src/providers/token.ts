/**
 * The name of a resource that agt has made: `kind:1:nonce:path`. agt writes the nonce at the resource. So it never removes
 * what somebody else has put in its place, however the path came about.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt } from '../errors.ts';
import { PROVIDER_KINDS, type ProviderKind } from './kind.ts';

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
