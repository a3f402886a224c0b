/** The provider of a session, and the life of the folder that it makes for the session. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { stateHome } from '../disk/state-home.ts';
import { worktreeGitDir } from '../git/files/discover-repository.ts';
import { departingFolder } from '../layout.ts';
import { choose, providerOf } from '../providers/choose.ts';
import { readPlace } from '../providers/provider.ts';
import {
  endLease,
  makingPath,
  newToken,
  parseToken,
  type Token,
  takeLease,
  tokenText,
} from '../providers/token.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from './record.ts';
import type { Session } from './session.ts';

/** The fields of the metadata that say how agt makes the folder of a session. */
export type WorkspaceFields = Pick<SessionRecord, 'provider' | 'token' | 'captures'>;

/** `wanted`: a value of fs.snapshots; undefined for git. @throws AgtError if that provider cannot work there */
export function chooseWorkspace(
  { git }: Repository,
  folder: string,
  wanted: string | undefined,
): WorkspaceFields {
  const captures = wanted === 'disable' ? ({ captures: 'by command' } as const) : {};
  if (wanted === undefined) return { provider: 'git' };
  const provider = choose(readPlace(dirname(folder), git.env), wanted);
  // Without a home there is no room for leases.
  if (provider.kind === 'git' || stateHome(git.env) === undefined) return { provider: 'git', ...captures };
  return { provider: provider.kind, token: tokenText(newToken(provider.kind, folder)), ...captures };
}

export function tokenOf({ token }: Pick<SessionRecord, 'token'>): Token | undefined {
  return parseToken(token);
}

/** Takes the lease of what agt is about to make, and makes room for it. Without a home there is no room for leases. */
export function own({ commonDir, git }: Repository, token: Token, session: string): void {
  const state = stateHome(git.env);
  if (state !== undefined)
    takeLease(state, { token, repository: commonDir, session, made: new Date().toISOString() });
  mkdirSync(dirname(token.path), { recursive: true });
}

/** Removes what a token names, which may have been moved to `at`, and ends its lease. False if agt has not made what is there. */
export async function release({ git }: Repository, token: Token, at?: string): Promise<boolean> {
  if (!(await providerOf(token.kind).remove(token, at))) return false;
  endLeaseOf(git.env, token);
  return true;
}

/** Once nothing of it is left. */
function endLeaseOf(env: NodeJS.ProcessEnv, token: Token | undefined): void {
  const state = stateHome(env);
  if (token === undefined || state === undefined) return;
  if (!existsSync(token.path) && !existsSync(makingPath(token))) endLease(state, token);
}

/**
 * Makes the folder of a session under a temporary name (makingPath), until `settleWorkspace`: empty, or with the content of
 * `from`. Undefined if git's way is the session's.
 */
export async function makeWorkspace({ repository, record }: Session, from?: string) {
  const token = tokenOf(record);
  if (token === undefined) return undefined;
  own(repository, token, record.session_id);
  await providerOf(token.kind).prepare(token, from);
  failurePoint('workspace: made');
  return token;
}

/** Gives the folder its own name. */
export async function settleWorkspace(token: Token): Promise<void> {
  const { settle } = providerOf(token.kind);
  if (settle === undefined) renameSync(makingPath(token), token.path);
  else await settle(token);
  failurePoint('workspace: in place');
}

/** @throws AgtError if programs are in a folder that is a mount; system errors */
export async function moveWorkspace(token: Token | undefined, from: string, to: string): Promise<void> {
  const move = token && providerOf(token.kind).move;
  if (token === undefined || move === undefined) renameSync(from, to);
  else await move(token, from, to);
}

/** Mounts the folder again after a restart of the machine. True if it was not mounted; with `dryRun` it stays so. */
export function ensureWorkspace({ sandbox, token: text }: Mounted, dryRun?: boolean): boolean {
  const token = parseToken(text);
  const ensure = token && providerOf(token.kind).ensure;
  if (token === undefined || ensure === undefined) return false;
  const folder = join(sandbox, '..');
  const found = [folder, departingFolder(folder)].map((path) => ensure(token, path, dryRun));
  return found.includes(true);
}

type Mounted = { readonly sandbox: string; readonly token?: string };

/** Whether the folder of a session is a mount point that agt has made. */
export function isOwnMount(record: Pick<SessionRecord, 'token'>): boolean {
  const token = tokenOf(record);
  return token !== undefined && providerOf(token.kind).mounts === true;
}

/** A restart of the system ends such a mount until agt mounts it again, and `git worktree prune` would forget its index. */
export function keepRegistered({ token, sandbox }: Pick<SessionRecord, 'token' | 'sandbox'>): void {
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir !== undefined && ['overlay', 'agentfs'].includes(parseToken(token)?.kind ?? ''))
    writeFileSync(join(gitDir, 'locked'), 'agt mounts it when it is needed\n');
}

/** Removes the folder, which may have been moved to `at`. False if it is not one of a provider. */
export async function dropWorkspace(
  repository: Repository,
  record: Pick<SessionRecord, 'token'>,
  at?: string,
): Promise<boolean> {
  const token = tokenOf(record);
  return token !== undefined && release(repository, token, at);
}

/** Removes the folder of a session, whatever made it. */
export async function removeWorkspace(session: Session, folder = session.folder): Promise<void> {
  const { repository, record } = session;
  if (!(await dropWorkspace(repository, record, folder))) {
    removeTree(folder);
    await dropWorkspace(repository, record, folder); // what else the provider has of it
  }
  endLeaseOf(repository.git.env, tokenOf(record));
}
