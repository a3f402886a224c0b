/**
 * Folders that agt does not attach: a home directory, a disk, a folder with the store in it, a git directory, and one with
 * too many files. agt writes the reason down, so that a hook tells of it once.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { sep } from 'node:path';
import { realPath } from '../disk/real-path.ts';
import { stateHome } from '../disk/state-home.ts';
import { AgtError, attempt, errorCode } from '../errors.ts';
import { storeName } from '../filter/store-name.ts';
import { foldersDirectory, refusalFile } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import { type FolderAccess, makeFoldersDirectory } from './store.ts';

/** The folder is none to attach. */
export class FolderRefused extends AgtError {
  /** agt has refused it before, and has told so. */
  readonly isKnown: boolean;

  constructor(message: string, hints: readonly string[], isKnown: boolean) {
    super(message, { hints: [...hints] });
    this.isKnown = isKnown;
  }
}

/** @throws FolderRefused */
export function refuseFolder(access: FolderAccess, folder: string, user: Repository | undefined): void {
  const problem = whyRefused(access, folder, user);
  if (problem === undefined) return;
  const [reason, hint] = problem;
  throw noteRefusal(access, folder, new AgtError(reason, { hints: [hint] }));
}

/** Why agt does not attach the folder, and the next step; undefined if it may. */
export function whyRefused(
  { env }: FolderAccess,
  folder: string,
  user: Repository | undefined,
): readonly [reason: string, hint: string] | undefined {
  const smaller = 'change to the folder that the agent works on';
  const state = stateHome(env);
  if (folder === sep) return [`agt does not snapshot the root directory`, smaller];
  if (env['HOME'] && folder === realPath(env['HOME']))
    return [`agt does not snapshot your home directory ("${folder}")`, smaller];
  if (state !== undefined && `${realPath(foldersDirectory(state))}${sep}`.startsWith(`${folder}${sep}`))
    return [`agt does not snapshot "${folder}", because the snapshots themselves are kept in it`, smaller];
  if (user !== undefined && user.worktree === undefined)
    return [
      `agt does not snapshot "${folder}", because it belongs to a repository and is no worktree`,
      'change to a worktree',
    ];
  return undefined;
}

/** Remembers why agt does not attach the folder. Returns the error to throw. */
export function noteRefusal({ env }: FolderAccess, folder: string, error: AgtError): FolderRefused {
  const state = stateHome(env);
  const file = state === undefined ? undefined : refusalFile(state, storeName(folder));
  const isKnown = file !== undefined && state !== undefined && !writeOnce(state, file, `${error.message}\n`);
  return new FolderRefused(error.message, error.hints, isKnown);
}

/** Several hooks may come at once: one of them is the first. False for every other one. */
function writeOnce(state: string, file: string, text: string): boolean {
  try {
    makeFoldersDirectory(state);
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (problem) {
    return errorCode(problem) !== 'EEXIST'; // on a disk that cannot be written, agt tells it each time
  }
}

/** Why agt has refused the folder before; undefined if it has not. */
export function knownRefusal({ env }: FolderAccess, folder: string): string | undefined {
  const state = stateHome(env);
  if (state === undefined) return undefined;
  return attempt(() => readFileSync(refusalFile(state, storeName(folder)), 'utf8').trimEnd());
}

/** The folder has been captured after all. */
export function forgetRefusal({ env }: FolderAccess, folder: string): void {
  const state = stateHome(env);
  if (state !== undefined) rmSync(refusalFile(state, storeName(folder)), { force: true });
}
