/**
 * Stores of attached folders: one bare repository for each folder, outside of the folder and of the user's repositories.
 * Its name comes from the real path of the folder, so every command finds it from there. Only its owner may read it.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { localConfigPath } from '../config/local-config.ts';
import type { Settings } from '../config/settings.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { type RefusedWrite, refusedWrite, tryToMakeDirectories } from '../disk/make-directories.ts';
import { realPath } from '../disk/real-path.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { stateHome } from '../disk/state-home.ts';
import { AgtError, errorCode, systemReason } from '../errors.ts';
import { plainName, storeName } from '../filter/store-name.ts';
import { discoverRepository } from '../git/files/discover-repository.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import { attachedSessions, folderStore, foldersDirectory, newStorePrefix } from '../layout.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { openRepository, type Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { withSessionLock } from '../session/lock.ts';
import { isAttached, listRecords, type SessionRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { giveBackMoved, takeOverMoved } from './moved.ts';

/** How agt reaches attached folders. */
export interface FolderAccess {
  readonly git: Git;
  readonly env: NodeJS.ProcessEnv;
  /** `local`: settings file of the user's repository, if the folder is in one. */
  readonly readSettings: (local: string | undefined) => Settings;
}

export function folderId(folder: string): SessionId {
  return plainName(folder) as SessionId;
}

/** For messages: an attached folder may have another name than when its store was made. */
export function shownId(record: SessionRecord): string {
  const { session_id: id, checkout } = record;
  return isAttached(record) && checkout !== undefined ? folderId(checkout) : id;
}

/** For messages: a path of a snapshot, relative to the session folder. An attached folder has nothing beside its files. */
export function shownPath(record: SessionRecord, path: string): string {
  return isAttached(record) ? path.replace(/^sandbox\//, '') : path;
}

/** The folder that a command in `cwd` means: the worktree, or the nearest attached folder, or the directory itself. */
export function folderAt(access: FolderAccess, worktree: string | undefined, cwd: string): string {
  const directory = realPath(cwd);
  if (worktree !== undefined) return realPath(worktree);
  for (let folder = directory; ; folder = dirname(folder)) {
    if (hasStore(access, folder)) return folder;
    if (folder === dirname(folder)) return directory;
  }
}

export function hasStore({ env }: Pick<FolderAccess, 'env'>, folder: string): boolean {
  const state = stateHome(env);
  return state !== undefined && existsSync(folderStore(state, storeName(folder)));
}

/** The attached folder that `path` was in, if somebody has deleted it. */
export function deletedFolder(access: Pick<FolderAccess, 'env'>, path: string): string | undefined {
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) {
    const real = join(realPath(dirname(folder)), basename(folder));
    if (hasStore(access, real)) return real;
  }
  return undefined;
}

/** Undefined if the folder is not attached. `local`: the settings file of the user's repository. */
export function findAttached(access: FolderAccess, folder: string, local: string | undefined) {
  const state = stateHome(access.env);
  if (state === undefined) return undefined;
  const storeOf = (path: string) => folderStore(state, storeName(path));
  const store = storeOf(folder);
  if (existsSync(store)) giveBackMoved(store, folder, storeOf);
  if (!existsSync(store)) takeOverMoved(listStores(access), folder, store);
  return openStore(access, store, local);
}

/** Undefined if there is no such store. */
export function openStore(access: FolderAccess, store: string, local: string | undefined) {
  if (!existsSync(store)) return undefined;
  const repository = storeRepository(access, store, local);
  const record = listRecords(repository).records[0];
  if (record === undefined) return undefined;
  linkSandbox(record);
  return new Session(repository, record);
}

/** One of `listStores`, with the settings of the repository that its folder is in. */
export function openListedStore(access: FolderAccess, store: string): Session | undefined {
  const session = openStore(access, store, undefined);
  const folder = session?.record.checkout;
  const user = folder === undefined ? undefined : discoverRepository(folder, {});
  return user === undefined ? session : openStore(access, store, localConfigPath(user.commonDir));
}

export function storeRepository(
  { git, readSettings }: FolderAccess,
  store: string,
  local: string | undefined,
): Repository {
  const found = { commonDir: store, worktree: undefined };
  const opened = openRepository(inDirectory(git, store), found, (own) => readSettings(local ?? own));
  return { ...opened, sessionsDir: async () => attachedSessions(opened.agtDir) };
}

/** The settings file of the user's repository, if there is one. */
export function settingsFile(user: Repository | undefined): string | undefined {
  return user === undefined ? undefined : localConfigPath(user.commonDir);
}

/** The sandbox of the session folder is a link to the attached folder. */
export function linkSandbox({ sandbox, checkout = '' }: Pick<SessionRecord, 'sandbox' | 'checkout'>): void {
  if (lstatSync(sandbox, { throwIfNoEntry: false }) !== undefined) {
    if (readlinkSync(sandbox) === checkout) return;
    rmSync(sandbox);
  }
  mkdirSync(dirname(sandbox), { recursive: true });
  try {
    symlinkSync(checkout, sandbox);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error; // another agt was faster
  }
}

/** The directory of all stores, which only its owner may read. @throws AgtError */
export function makeFoldersDirectory(state: string): void {
  const directory = foldersDirectory(state);
  const refused = refusedWrite(directory);
  if (refused !== undefined) throw refusedStores(refused);
  try {
    tryToMakeDirectories(directory);
  } catch (error) {
    throw refusedStores({ path: directory, reason: systemReason(error) });
  }
  if ((statSync(directory).mode & 0o077) !== 0) chmodSync(directory, 0o700);
}

function refusedStores({ path, reason }: RefusedWrite): AgtError {
  return new AgtError(`agt cannot write in "${path}", where it keeps the snapshots of folders: ${reason}`, {
    hints: [`see: ls -ld ${shellQuote(path)}`, 'XDG_STATE_HOME may name another directory'],
  });
}

/** Paths of all stores. @throws AgtError */
export function listStores({ env }: FolderAccess): string[] {
  const state = stateHome(env);
  if (state === undefined) return [];
  const directory = foldersDirectory(state);
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.git') && !name.startsWith('.'))
      .map((name) => join(directory, name))
      .sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    const refused = refusedWrite(directory);
    throw refused === undefined ? error : refusedStores(refused);
  }
}

/** First the store gets a name that no folder leads to. If agt is killed then, the next new store deletes the rest. */
export async function forgetFolder({ env }: FolderAccess, { repository, record }: Session): Promise<void> {
  const gone = await withSessionLock({ repository, id: record.session_id }, async () => {
    const directory = mkdtempSync(newStorePrefix(stateHome(env) ?? ''));
    renameSync(repository.commonDir, join(directory, 'store'));
    failurePoint('snapshot: store renamed');
    return directory;
  });
  removeTree(gone);
}
