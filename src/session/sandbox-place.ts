/**
 * Where the sandbox of a session is, as the links between a worktree and its repository say: the `.git` file of the
 * worktree names the registration in the repository, and the registration's `gitdir` names the worktree. One of them is
 * wrong after a move; after a copy, the copy's links still lead to the original.
 */
import { existsSync, lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readSmallFile } from '../disk/read-file.ts';
import { isSameDirectory } from '../disk/real-path.ts';
import { AgtError } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { gitDirOf, registeredWorktree, worktreeGitDir } from '../git/files/discover-repository.ts';
import { ensureMounted } from '../providers/overlay/layers.ts';
import { parseToken } from '../providers/token.ts';
import { folderOfNamespace, type Repository } from '../repository/repository.ts';
import { isAttached, type SessionRecord } from './record.ts';

export type SandboxPlace =
  /** A worktree of this repository. */
  | 'here'
  /** There is nothing. */
  | 'missing'
  /** There is a link or a file instead of a directory. */
  | 'not a directory'
  /** Its `.git` is missing, or is not a file that names a registration. */
  | 'no link'
  /** Its `.git` file names a registration that does not exist. */
  | 'broken link'
  /** Its `.git` file names the registration of another worktree: git has given the name to that one. */
  | 'taken'
  /** It is a worktree of another repository, of which this one is a copy. */
  | 'elsewhere'
  /** Its folder is a mount, which is not there since a restart of the system. */
  | 'unmounted';

type Place = Pick<SessionRecord, 'sandbox' | 'checkout' | 'working_copy' | 'token' | 'state'>;

export function sandboxPlace(
  { commonDir }: Pick<Repository, 'commonDir'>,
  { sandbox, checkout, working_copy, token, state }: Place,
): SandboxPlace {
  if (isAttached({ working_copy })) return attachedPlace(checkout ?? sandbox);
  if (isActive({ state }) && mountProblem(token, dirname(sandbox)) !== undefined) return 'unmounted';
  const stat = lstatSync(sandbox, { throwIfNoEntry: false });
  if (stat === undefined) return 'missing';
  if (checkout !== undefined) return checkoutPlace(commonDir, sandbox, checkout);
  if (!stat.isDirectory()) return 'not a directory';
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) return 'no link';
  if (!existsSync(join(gitDir, 'HEAD'))) return 'broken link';
  if (isOfAnother(gitDir, sandbox)) return 'taken';
  return isRegisteredIn(commonDir, gitDir) ? 'here' : 'elsewhere';
}

/** A `git worktree add` that was killed may have left no file that says so. */
function isRegisteredIn(commonDir: string, gitDir: string): boolean {
  const hasLink = existsSync(join(gitDir, 'commondir'));
  return isSameDirectory(hasLink ? commonDirOf(gitDir) : dirname(dirname(gitDir)), commonDir);
}

/** Mounts the folder of a session again, if its provider mounts folders. Why that is not possible; undefined if it is done. */
export function mountProblem(token: string | undefined, folder: string): AgtError | undefined {
  const made = parseToken(token);
  if (made?.kind !== 'overlay') return undefined;
  try {
    ensureMounted(made, folder);
    return undefined;
  } catch (error) {
    if (error instanceof AgtError) return error;
    throw error;
  }
}

function attachedPlace(folder: string): SandboxPlace {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return 'missing';
  return stat.isDirectory() ? 'here' : 'not a directory';
}

function checkoutPlace(commonDir: string, sandbox: string, checkout: string): SandboxPlace {
  if (!isSameDirectory(sandbox, checkout)) return 'not a directory';
  const gitDir = gitDirOf(checkout);
  if (gitDir === undefined) return 'no link';
  return isSameDirectory(commonDirOf(gitDir), commonDir) ? 'here' : 'elsewhere';
}

/** Whether the registration leads to another worktree, and that one back to it. */
function isOfAnother(gitDir: string, sandbox: string): boolean {
  const worktree = registeredWorktree(gitDir);
  if (worktree === undefined || isSameDirectory(worktree, sandbox)) return false;
  const other = worktreeGitDir(worktree);
  return other !== undefined && isSameDirectory(other, gitDir);
}

/** A power cut may have emptied the file of a linked worktree. */
function commonDirOf(gitDir: string): string {
  return resolve(gitDir, (readSmallFile(join(gitDir, 'commondir')) ?? '.') || '../..');
}

/** For a command that runs at the user's own path, the links of other sandboxes lead nowhere. */
export function isOutOfSight({ commonDir }: Pick<Repository, 'commonDir'>, place: SandboxPlace): boolean {
  return place === 'broken link' && folderOfNamespace(commonDir) !== undefined;
}
