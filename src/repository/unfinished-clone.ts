/**
 * A note beside the directories of a clone says that they are not complete. If agt is killed, the next `agt clone` to the
 * same place goes on, or begins again, and `agt doctor` names the clone.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { hintsToWait, identify, ownerHasEnded } from '../disk/lock-owner.ts';
import { readSmallFile } from '../disk/read-file.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { AgtError, EXIT } from '../errors.ts';
import { mendWorktrees, registrationOf } from '../git/files/worktree-registrations.ts';

/** Until git has cloned, nothing is worth keeping. The steps after that can be done again. */
type ClonePhase = 'git clones' | 'agt arranges';

interface CloneNote {
  readonly phase: ClonePhase;
  readonly url: string;
  /** The area, as git found it: somebody may put another directory in its place. */
  readonly area: string;
}

export function noteClone(bare: string, note: CloneNote): void {
  writeFileAtomic(noteFile(bare), `${JSON.stringify({ ...identify(process.pid), ...note })}\n`);
}

export function forgetClone(bare: string): void {
  rmSync(noteFile(bare), { force: true });
}

/** The note beside a repository. Undefined if agt did not clone it, or its clone is complete. */
export async function unfinishedClone(bare: string): Promise<(CloneNote & { running: boolean }) | undefined> {
  const file = noteFile(bare);
  if (!existsSync(file)) return undefined;
  const note = JSON.parse(readFileSync(file, 'utf8')) as CloneNote;
  return { ...note, running: !(await ownerHasEnded(file)) };
}

/** @throws AgtError with exit code 75 if a process is still at work. */
export async function cloneToFinish(bare: string): Promise<CloneNote | undefined> {
  const note = await unfinishedClone(bare);
  if (note?.running !== true) return note;
  throw new AgtError(`another agt is cloning into "${bare}"`, {
    exitCode: EXIT.busy,
    hints: hintsToWait(noteFile(bare)),
  });
}

/** Makes the directory that git is to fill, and says which one it is. git makes the bare repository itself. */
export function makeArea(area: string): CloneNote['area'] {
  mkdirSync(area, { recursive: true });
  return identityOf(area);
}

/** Deletes what a killed git has filled. It leaves what somebody has put in its place. */
export function dropHalfClone(note: CloneNote, bare: string, area: string): void {
  if (!existsSync(area) || identityOf(area) !== note.area || isBare(bare)) return;
  removeTree(bare);
  removeTree(area);
}

/** agt makes it so only after git has cloned. */
function isBare(repository: string): boolean {
  return /^\s*bare = true$/m.test(readSmallFile(join(repository, 'config')) ?? '');
}

/** Inode numbers come again, with a later time of birth. */
function identityOf(directory: string): string {
  const { dev, ino, birthtimeNs } = statSync(directory, { bigint: true });
  return `${dev} ${ino} ${birthtimeNs}`;
}

/** Deletes what a killed `git worktree add` has checked out. git locks a worktree until it is complete. */
export function dropHalfWorktree(bare: string, worktree: string): void {
  mendWorktrees(bare);
  const gitDir = registrationOf(bare, worktree);
  if (gitDir === undefined || !existsSync(join(gitDir, 'locked'))) return;
  removeTree(worktree);
  removeTree(gitDir);
}

export function noteFile(bare: string): string {
  return join(dirname(bare), `.${basename(bare, '.git')}.agt-clone`);
}
