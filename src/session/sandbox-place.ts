/**
 * Where the sandbox of a session is, as the links between a worktree and its repository say: the `.git` file of the
 * worktree names the registration in the repository, and the registration's `gitdir` names the worktree. One of them is
 * wrong after a move; after a copy, the copy's links still lead to the original.
 */
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readSmallFile } from '../disk/read-file.ts';
import { isSameDirectory } from '../disk/real-path.ts';
import { AgtError } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { gitDirOf, worktreeGitDir } from '../git/files/discover-repository.ts';
import { summarizeIndex } from '../git/files/index-file.ts';
import { registrationOf } from '../git/files/worktree-registrations.ts';
import { ensureMounted } from '../providers/overlay/layers.ts';
import { parseToken } from '../providers/token.ts';
import { folderOfNamespace } from '../repository/namespace-files.ts';
import type { Repository } from '../repository/repository.ts';
import { bringBack } from './advised-commands.ts';
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
  const gitFile = readSmallFile(join(gitDir, 'gitdir'));
  if (gitFile === undefined) return false;
  const worktree = dirname(resolve(gitDir, gitFile));
  if (isSameDirectory(worktree, sandbox)) return false;
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

/** Whether the sandbox is a worktree of this repository. */
export function sandboxExists(repository: Repository, record: SessionRecord): boolean {
  return sandboxPlace(repository, record) === 'here';
}

/**
 * The registration of a sandbox whose `.git` file was deleted, or has become a repository of somebody else. Its files are
 * captured all the same.
 */
export function lostGitDir({ commonDir }: Repository, record: SessionRecord): string | undefined {
  const { checkout, sandbox } = record;
  if (checkout !== undefined || sandboxPlace({ commonDir }, record) !== 'no link') return undefined;
  const registration = registrationOf(commonDir, sandbox);
  return registration !== undefined && existsSync(join(registration, 'HEAD')) ? registration : undefined;
}

/** @throws AgtError unless the sandbox is a worktree of this repository. */
export function requireSandbox(repository: Repository, record: SessionRecord): void {
  const place = sandboxPlace(repository, record);
  if (isAttached(record) && place !== 'here') throw missingFolder(record, place);
  refuseForeign(record, place);
  if (place === 'here') return;
  if (isOutOfSight(repository, place)) throw outOfSight(repository, record);
  throw new AgtError(
    `the sandbox of "${record.session_id}" ${PROBLEMS[place] ?? 'is gone'}: ${record.sandbox}`,
    {
      hints: ['its snapshots are kept on its shadow branch; see: agt doctor'],
    },
  );
}

function outOfSight({ commonDir }: Repository, { session_id }: SessionRecord): AgtError {
  const own = basename(folderOfNamespace(commonDir) ?? '');
  return new AgtError(`agt cannot look into the sandbox of "${session_id}" from inside of "${own}"`, {
    hints: [`a command of "${own}" runs at the user's own path; call agt outside of it`],
  });
}

/**
 * For a command that lets git read the index of the sandbox: git would wait for ever for somebody to write into a pipe.
 * @throws AgtError unless the sandbox is a worktree of this repository whose HEAD and index are files that git can read.
 */
export function requireReadableSandbox(repository: Repository, record: SessionRecord): void {
  requireSandbox(repository, record);
  const gitDir = gitDirOf(record.sandbox);
  if (gitDir === undefined) return;
  const oidLength = record.from_commit.length / 2;
  const faults = [
    { path: join(gitDir, 'HEAD'), fault: specialFile(join(gitDir, 'HEAD')) },
    { path: join(gitDir, 'index'), fault: indexFault(join(gitDir, 'index'), oidLength) },
  ];
  for (const { path, fault } of faults) {
    if (fault === undefined) continue;
    const id = record.session_id;
    throw new AgtError(`the ${basename(path)} of the sandbox of "${id}" is ${fault}: ${path}`, {
      hints: [
        `an autocommit and a restore make it anew: agt autocommit ${id} && agt session restore ${id} --to @`,
      ],
    });
  }
}

function specialFile(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === false ? 'no regular file' : undefined;
}

function indexFault(path: string, oidLength: number): string | undefined {
  const special = specialFile(path);
  if (special !== undefined || !existsSync(path)) return special;
  try {
    const bytes = readFileSync(path);
    if (bytes.length === 0) return 'damaged';
    summarizeIndex(bytes, oidLength);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return 'damaged';
    throw error;
  }
}

function missingFolder({ checkout = '' }: SessionRecord, place: SandboxPlace): AgtError {
  const way = `to bring it back: ${bringBack(checkout)}`;
  return place === 'missing'
    ? new AgtError(`the folder ${checkout} is gone`, { hints: [way] })
    : new AgtError(`the folder ${checkout} is a link or a file now`, { hints: ['move that away', way] });
}

const PROBLEMS: Partial<Record<SandboxPlace, string>> = {
  'no link': 'has lost its .git file',
  'broken link': 'has a .git file that leads nowhere',
  taken: "has another worktree's .git file",
};

/** @throws AgtError if something is at the sandbox's place that agt must not touch. */
export function refuseForeign(record: SessionRecord, place: SandboxPlace): void {
  const { session_id, sandbox, checkout } = record;
  if (place === 'unmounted') throw mountProblem(record.token, dirname(sandbox)) ?? new AgtError('try again');
  if (checkout !== undefined && !isAttached(record)) refuseOtherCheckout(session_id, checkout, place);
  else if (place === 'elsewhere') {
    throw new AgtError(`the sandbox of "${session_id}" belongs to another repository: ${sandbox}`, {
      hints: [
        'this repository is a copy of that one; give the session a folder of its own: agt doctor --fix',
      ],
    });
  } else if (place === 'not a directory') {
    throw new AgtError(`the sandbox of "${session_id}" is no directory, but a link or a file: ${sandbox}`, {
      hints: ['agt captures only what is in the directory itself: move it back to its place'],
    });
  }
}

function refuseOtherCheckout(id: string, checkout: string, place: SandboxPlace): void {
  if (place === 'here') return;
  if (place === 'elsewhere') {
    throw new AgtError(`the checkout of "${id}" belongs to another repository: ${checkout}`, {
      hints: ['this repository is a copy of that one; see: agt doctor'],
    });
  }
  throw new AgtError(`the checkout of "${id}" is gone or has moved: ${checkout}`, {
    hints: ['its snapshots are kept on its shadow branch; see: agt doctor'],
  });
}
