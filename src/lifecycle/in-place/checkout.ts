/** The user's own checkout, in which a session works in place: its branch, its index, and what git says of it. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  futimesSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { AgtError, errorCode } from '../../errors.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { summarizeIndex } from '../../git/files/index-file.ts';
import { newestEntry } from '../../git/files/index-stat.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { breakStaleLocks } from '../../git/files/ref-locks.ts';
import { readStatus } from '../../git/objects/status.ts';
import { type Git, gitAnswer, gitText, inDirectory, runGit } from '../../git/run/git.ts';
import type { LockedSession } from '../../session/lock.ts';
import type { SessionRecord } from '../../session/record.ts';

/** A session in place, with the branch to return to. */
export interface InPlace {
  readonly session: LockedSession;
  readonly record: SessionRecord;
  readonly checkout: string;
  readonly userBranch: string;
  /** Runs in the checkout. */
  readonly git: Git;
}

export function inPlace(session: LockedSession): InPlace {
  const { checkout, user_branch: userBranch } = session.record;
  if (checkout === undefined || userBranch === undefined)
    throw new AgtError(`session "${session.id}" does not work in your own checkout`);
  return { session, record: session.record, checkout, userBranch, git: inDirectory(session.git, checkout) };
}

export interface DirtyPath {
  /** Relative to the checkout, one byte per character. */
  readonly path: string;
  readonly isUntracked: boolean;
}

/** Without ignored files, submodules and repositories of their own; a file in the place of a submodule is one. */
export async function dirtyPaths(git: Git): Promise<DirtyPath[]> {
  const { entries } = await readStatus(git, '--untracked-files=all', '--ignore-submodules=dirty');
  return entries
    .filter(({ path, isSubmodule }) => !(isSubmodule || path.endsWith('/')))
    .map(({ path, kind }) => ({ path, isUntracked: kind === 'untracked' }));
}

export function headBranch({ git }: InPlace): Promise<string | undefined> {
  return gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD']);
}

export function gitDir({ checkout }: Pick<InPlace, 'checkout'>): string {
  return gitDirOf(checkout) ?? join(checkout, '.git');
}

/** git refuses everything because of it. The last snapshot has the index before it. */
export async function dropDamagedIndex(place: InPlace): Promise<void> {
  const { exitCode } = await runGit(place.git, ['ls-files', '-z', '--', ':(top).git']);
  if (exitCode !== 0) rmSync(join(gitDir(place), 'index'), { recursive: true, force: true });
}

/** HEAD and the index are the last to change: HEAD tells that everything else is done. `replaced`: see replaceIndex. */
export async function putHead(place: InPlace, branch: string, index: Buffer | undefined, replaced?: Buffer) {
  await breakLock(place, 'index.lock');
  replaceIndex(place.checkout, index, place.record.from_commit.length / 2, replaced);
  failurePoint('in place: index replaced');
  await pointHead(place, branch);
}

/** The files have other times than their entries. Without it, the next git compares their content. */
export async function refreshTimes({ git }: InPlace): Promise<void> {
  await runGit(git, ['update-index', '-q', '--refresh']);
}

/** Whether the index has the entries of `wanted`, whatever their times are. */
export function isIndex(place: InPlace, wanted: Buffer | undefined): boolean {
  return isSameIndex(readIndex(place), wanted, place.record.from_commit.length / 2);
}

function isSameIndex(one: Buffer, other: Buffer | undefined, oidLength: number): boolean {
  const [a, b] = [one, other].map((index) => index?.length && summarizeIndex(index, oidLength).digest);
  return (a || undefined) === (b || undefined);
}

/** Files and index stay. */
export async function pointHead(place: InPlace, branch: string): Promise<void> {
  await breakLock(place, 'HEAD.lock');
  await gitText(place.git, ['symbolic-ref', '-m', `agt: to ${shortBranch(branch)}`, 'HEAD', branch]);
}

/** One that a killed git has left. */
function breakLock(place: Pick<InPlace, 'checkout'>, name: string): Promise<unknown> {
  const directory = gitDir(place);
  return breakStaleLocks([join(directory, name)], async () => [place.checkout, directory]);
}

/** @throws AgtError while another git works in the checkout */
export async function refuseOtherGit(place: Pick<InPlace, 'checkout'>): Promise<void> {
  await breakLock(place, 'index.lock');
  const lock = join(gitDir(place), 'index.lock');
  if (existsSync(lock)) throw otherGit(place.checkout, lock);
}

function otherGit(worktree: string, lock: string): AgtError {
  return new AgtError(`another git works in ${worktree}: ${lock} exists`, {
    hints: ['wait until it has ended, then run the same command again'],
  });
}

/** Empty if there is none. */
export function readIndex(place: Pick<InPlace, 'checkout'>): Buffer {
  const index = join(gitDir(place), 'index');
  return existsSync(index) ? readFileSync(index) : Buffer.alloc(0);
}

/** Under the lock, as git does it. Undefined: there was no index. @throws AgtError if it is not `replaced` any more */
export function replaceIndex(
  worktree: string,
  content: Buffer | undefined,
  oidLength: number,
  replaced?: Buffer,
): void {
  const directory = gitDir({ checkout: worktree });
  const index = join(directory, 'index');
  const lock = `${index}.lock`;
  let fd: number;
  try {
    fd = openSync(lock, 'wx');
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? otherGit(worktree, lock) : error;
  }
  try {
    if (replaced !== undefined && !isSameIndex(readIndex({ checkout: worktree }), replaced, oidLength)) {
      throw new AgtError(`another git has changed the index of ${worktree} meanwhile`, {
        hints: ['run the same command again'],
      });
    }
    if (content === undefined || content.length === 0) {
      rmSync(index, { force: true });
      rmSync(lock);
      return;
    }
    writeFileSync(fd, content);
    // Under a newer time git would trust files that changed in the last second of this index.
    const seconds = newestEntry(content, oidLength);
    futimesSync(fd, seconds, seconds);
    fsyncSync(fd);
    renameSync(lock, index);
  } catch (error) {
    rmSync(lock, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}
