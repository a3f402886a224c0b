/** Lists the worktrees that git has registered, and removes registrations that git did not finish. */
import { existsSync, lstatSync, renameSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { ageOf } from '../../disk/lock-owner.ts';
import { makeTemporaryDirectory } from '../../disk/make-directories.ts';
import { listProcesses, openFiles, type RunningProcess } from '../../disk/processes.ts';
import { readSmallFile } from '../../disk/read-file.ts';
import { isSameDirectory } from '../../disk/real-path.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError, EXIT } from '../../errors.ts';
import { agtDirectory, scratchDirectory } from '../../layout.ts';
import { type Git, type GitRun, gitFailed, type RunOptions, runGit } from '../run/git.ts';
import {
  discoverRepository,
  gitDirOf,
  listRegistrations,
  registeredWorktree,
  worktreeGitDir,
} from './discover-repository.ts';

export interface WorktreeEntry {
  readonly path: string;
  readonly bare: boolean;
  /** Full name of the branch; undefined if HEAD is detached. */
  readonly branch: string | undefined;
  /** Why `git worktree prune` would remove it; undefined if it would not. */
  readonly prunable: string | undefined;
}

/** @throws AgtError if git would wait for a named pipe. */
export async function listWorktrees(git: Git): Promise<WorktreeEntry[]> {
  const commonDir = discoverRepository(git.cwd, git.env)?.commonDir;
  if (commonDir !== undefined) refuseBlockedWorktrees(commonDir);
  return parseWorktrees(await worktreeText(git, ['worktree', 'list', '--porcelain', '-z']));
}

/** `output` is that of `git worktree list --porcelain -z`. */
export function parseWorktrees(output: string): WorktreeEntry[] {
  const records = output.split('\0\0').filter((record) => record !== '');
  return records.map((record) => {
    const fields = record.split('\0');
    const value = (name: string) =>
      fields.find((field) => field === name || field.startsWith(`${name} `))?.slice(name.length + 1);
    return {
      path: value('worktree') ?? '',
      bare: value('bare') !== undefined,
      branch: value('branch'),
      prunable: value('prunable'),
    };
  });
}

/** The git directory that is registered for a worktree, even a deleted one; undefined if there is none. */
export function registrationOf(commonDir: string, worktree: string): string | undefined {
  const named = worktreeGitDir(worktree);
  const isNamed = named !== undefined && dirname(named) === join(commonDir, 'worktrees');
  if (isNamed && isRegistrationOf(named, worktree)) return named;
  return listRegistrations(commonDir).find((gitDir) => isRegistrationOf(gitDir, worktree));
}

function isRegistrationOf(gitDir: string, worktree: string): boolean {
  return registeredWorktree(gitDir) === resolve(worktree);
}

/** Deletes what git left of a registration, unless another worktree has been registered under the same id since. */
export function dropRegistration(gitDir: string, worktree: string): void {
  const isReused = existsSync(join(gitDir, 'gitdir')) && !isRegistrationOf(gitDir, worktree);
  if (existsSync(gitDir) && !isReused) removeRegistration(gitDir);
}

/** In one step for git: it prunes or rejects a registration that lacks some of its files. */
function removeRegistration(gitDir: string): void {
  const scratch = scratchDirectory(agtDirectory(dirname(dirname(gitDir))));
  const doomed = makeTemporaryDirectory(join(scratch, 'worktree-'));
  renameSync(gitDir, doomed);
  failurePoint('registration: moved away');
  removeTree(doomed);
}

const BROKEN = {
  /** They lead nowhere, and `git worktree list` leaves them out. */
  unlinked: (gitDir: string) =>
    !existsSync(join(gitDir, 'gitdir')) && !isNew(gitDir) && !isUnfinished(gitDir),
  /**
   * git was killed before it wrote HEAD, or between creating `commondir` and writing it. `git fsck` complains about
   * the first kind. With the second kind git lists no worktrees and no branches, and neither fsck nor gc works. No
   * file has been checked out yet in either case.
   */
  unfinished: isUnfinished,
  /** A power cut left an empty `commondir`: git fails as with the others, but this one has work. */
  cutOff: isCutOff,
};

export function brokenRegistrations(commonDir: string, kind: keyof typeof BROKEN): string[] {
  const find = () => listRegistrations(commonDir).filter(BROKEN[kind]);
  if (find().length === 0 || gitMayBeCreating(commonDir)) return [];
  const open = openFiles();
  // Checked a second time: a process that had the file open may have finished it by now.
  return find().filter((path) => open?.has(join(path, 'commondir')) === false);
}

/** Registrations that lead to a worktree whose `.git` file names another one: git lists that worktree twice. */
export function doubleRegistrations(commonDir: string): string[] {
  return listRegistrations(commonDir).filter((gitDir) => {
    const worktree = registeredWorktree(gitDir);
    const named = worktree === undefined ? undefined : worktreeGitDir(worktree);
    if (worktree === undefined || named === undefined || isSameDirectory(named, gitDir)) return false;
    const isOwn = isSameDirectory(dirname(named), join(commonDir, 'worktrees'));
    return isOwn && registeredWorktree(named) === worktree;
  });
}

/** Names the worktree of a registration by its `.git` file. */
export function leadTo(gitDir: string, gitFile: string): void {
  writeFileAtomic(join(gitDir, 'gitdir'), `${gitFile}\n`);
}

/** Writes what `git worktree add` writes. */
export function reconnect(gitDir: string): void {
  writeFileAtomic(join(gitDir, 'commondir'), '../..\n');
}

/** Mends what a power cut has left, so that git can list the worktrees. */
export function reconnectWorktrees(commonDir: string): void {
  for (const path of brokenRegistrations(commonDir, 'cutOff')) reconnect(path);
}

export function reconnectIfCutOff(gitDir: string): void {
  if (isCutOff(gitDir)) reconnect(gitDir);
}

/** Registrations whose HEAD is a named pipe, for example: git opens it, and waits for ever. */
export function blockedWorktrees(commonDir: string): string[] {
  return listRegistrations(commonDir).filter((gitDir) => {
    const stat = lstatSync(join(gitDir, 'HEAD'), { throwIfNoEntry: false });
    return stat?.isFIFO() === true || stat?.isCharacterDevice() === true;
  });
}

/** @throws AgtError if git would wait for a named pipe as soon as it lists the worktrees or their HEADs. */
export function refuseBlockedWorktrees(commonDir: string): void {
  const [blocked] = blockedWorktrees(commonDir);
  if (blocked === undefined) return;
  throw new AgtError(`${join(blocked, 'HEAD')} is no regular file, and git would wait for ever to read it`, {
    hints: ['mend it: agt doctor --fix'],
  });
}

/** `content`: of a HEAD file. It replaces whatever is there. */
export function writeHead(gitDir: string, content: string): void {
  writeFileAtomic(join(gitDir, 'HEAD'), `${content}\n`);
}

/** Whether a `git worktree add` is running here, or may be. It may stand still for long: on a slow disk, or stopped. */
function gitMayBeCreating(commonDir: string): boolean {
  const isAdding = ({ words, cwd }: RunningProcess) =>
    words.includes('worktree') &&
    words.includes('add') &&
    (cwd === undefined || discoverRepository(cwd, {})?.commonDir === commonDir);
  return listProcesses()?.some(isAdding) !== false;
}

/** git may still be creating a registration that is younger than this. It needs only a fraction of that time. */
const MAKING_MS = 1000;

function isUnfinished(gitDir: string): boolean {
  if (isNew(gitDir) || hasIndex(gitDir)) return false;
  const hasBegun = existsSync(join(gitDir, 'gitdir')) || isInitializing(gitDir);
  return hasEmptyLink(gitDir) || (hasBegun && !hasValidHead(gitDir));
}

/** git locks a registration until it is whole, and prunes none that is locked. */
function isInitializing(gitDir: string): boolean {
  return readSmallFile(join(gitDir, 'locked')) === 'initializing';
}

function isNew(gitDir: string): boolean {
  return (ageOf(gitDir) ?? MAKING_MS + 1) <= MAKING_MS;
}

function isCutOff(gitDir: string): boolean {
  return hasEmptyLink(gitDir) && hasIndex(gitDir);
}

function hasEmptyLink(gitDir: string): boolean {
  return statSync(join(gitDir, 'commondir'), { throwIfNoEntry: false })?.size === 0;
}

function hasIndex(gitDir: string): boolean {
  return existsSync(join(gitDir, 'index'));
}

/** git first writes a HEAD of zeros. */
function hasValidHead(gitDir: string): boolean {
  return existsSync(join(gitDir, 'HEAD')) && !/^0+$/.test(readSmallFile(join(gitDir, 'HEAD')) ?? '');
}

/** git can add a worktree only after these have been deleted or mended. @throws AgtError if git would wait for a pipe. */
export function mendWorktrees(commonDir: string): void {
  refuseBlockedWorktrees(commonDir);
  reconnectWorktrees(commonDir);
  for (const path of brokenRegistrations(commonDir, 'unfinished')) removeTree(path);
}

export interface BranchUser {
  readonly use: 'checked out' | 'being rebased' | 'being bisected';
  readonly worktree: string;
}

/** So that nobody moves it: as git's own commands see it. `ref` is a full name. Undefined if only `except` uses it. */
export async function branchUser(
  git: Git,
  ref: string,
  except: string,
  worktrees?: readonly WorktreeEntry[],
): Promise<BranchUser | undefined> {
  const all = worktrees ?? (await listWorktrees(git));
  const other = all.find(({ branch, path }) => branch === ref && path !== except);
  if (other !== undefined) return { use: 'checked out', worktree: other.path };
  const commonDir = discoverRepository(git.cwd, git.env)?.commonDir;
  if (commonDir === undefined) throw new AgtError(`${git.cwd} is in no repository`);
  const own = gitDirOf(except);
  for (const gitDir of [commonDir, ...listRegistrations(commonDir)]) {
    const use = gitDir === own ? undefined : operationOn(gitDir, ref);
    if (use !== undefined) return { use, worktree: worktreeOf(gitDir) };
  }
  return undefined;
}

/** Meanwhile HEAD is detached. */
function operationOn(gitDir: string, ref: string): BranchUser['use'] | undefined {
  const read = (name: string) => readSmallFile(join(gitDir, name)) ?? '';
  const heads = [read('rebase-merge/head-name'), read('rebase-apply/head-name')];
  const updated = read('rebase-merge/update-refs').split('\n');
  if ([...heads, ...updated].includes(ref)) return 'being rebased';
  return `refs/heads/${read('BISECT_START')}` === ref ? 'being bisected' : undefined;
}

/** The worktree of a git directory: of a registration, or of a main worktree. */
export function worktreeOf(gitDir: string): string {
  return registeredWorktree(gitDir) ?? dirname(gitDir);
}

const HALF_MADE = /^fatal: failed to read .*commondir: (Success|No such file or directory)$/m;
const ATTEMPTS = 20;
/** The first pause; each one is longer by as much. */
const PAUSE_MS = 5;

/**
 * `git worktree`, when several run at once. Before it acts, git reads the registrations of all worktrees, and dies at
 * one whose file `commondir` another git has made and not yet filled, or just deletes.
 */
export async function runWorktree(
  git: Git,
  args: readonly string[],
  options: RunOptions = {},
): Promise<GitRun> {
  for (let attempt = 1; ; attempt++) {
    const run = await runGit(git, args, options);
    if (run.exitCode === 0 || !HALF_MADE.test(run.stderr) || attempt === ATTEMPTS) return run;
    await sleep(PAUSE_MS * attempt);
  }
}

/** Standard output of a call that must succeed. @throws AgtError with git's own message. */
export async function worktreeText(git: Git, args: readonly string[]): Promise<string> {
  const run = await runWorktree(git, args);
  if (run.exitCode !== 0) throw HALF_MADE.test(run.stderr) ? halfMade(run.stderr) : gitFailed(args, run);
  return run.stdout.toString();
}

function halfMade(stderr: string): AgtError {
  const [reason = ''] = HALF_MADE.exec(stderr) ?? [];
  return new AgtError(`git stops at half a worktree: ${reason.replace(/^fatal: /, '')}`, {
    hints: ['if a git that was killed has left it: agt doctor --fix'],
    exitCode: EXIT.git,
  });
}
