/**
 * Ends a move of a branch during which agt was killed. If the branch has not moved, agt brings the worktree back to the
 * branch: a git that was killed may have written some of the files, and the last one in part.
 */
import { existsSync, lstatSync, readFileSync, readlinkSync, rmdirSync, unlinkSync } from 'node:fs';
import { failurePoint } from '../disk/failure-point.ts';
import { withOpenDirectories } from '../disk/open-directories.ts';
import { displayPath, parentPath } from '../disk/path-bytes.ts';
import { AgtError, attempt, errorCode, succeeds } from '../errors.ts';
import { breakStaleLocks } from '../git/files/ref-locks.ts';
import { listWorktrees } from '../git/files/worktree-registrations.ts';
import { LINK, SUBMODULE } from '../git/modes.ts';
import { type DiffEntry, diffTrees, editsOf, entryOf } from '../git/objects/raw-diff.ts';
import { editIndex, type IndexEdit, readIndex } from '../git/objects/scratch-index.ts';
import {
  type Git,
  gitBytes,
  gitText,
  inDirectory,
  isAncestor,
  resolveObject,
  runGit,
} from '../git/run/git.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import type { Repository } from '../repository/repository.ts';
import type { BranchMove, Present } from '../session/state.ts';

/** Whether the branch has moved. If not, the worktree is as it was before, but for later changes by the user. */
export async function settleMove(repository: Repository, move: BranchMove): Promise<boolean> {
  const { git, commonDir } = repository;
  const { onto, from, to, worktree } = move;
  const places = [commonDir, git.cwd, ...(worktree === undefined ? [] : [worktree])];
  await breakStaleLocks([`${commonDir}/${onto}.lock`], async () => places);
  const tip = await resolveObject(git, onto);
  if (to !== undefined && tip !== undefined && (await isReached(git, move, tip))) return true;
  if (worktree !== undefined && tip === from && (await hasCheckedOut(git, worktree, onto)))
    await bringBack(withUsersPrograms(inDirectory(git, worktree)), move, places);
  return false;
}

/** The user may have committed on top of it since. A branch that moved back is below the tip that it had. */
async function isReached(git: Git, { from, to = '' }: BranchMove, tip: string): Promise<boolean> {
  if (tip === to) return true;
  const isForward = await isAncestor(git, from, to);
  return isForward && (await isAncestor(git, to, tip));
}

async function hasCheckedOut(git: Git, worktree: string, ref: string): Promise<boolean> {
  const entries = await listWorktrees(git);
  return existsSync(worktree) && entries.some(({ path, branch }) => path === worktree && branch === ref);
}

async function bringBack(git: Git, move: BranchMove, places: readonly string[]): Promise<void> {
  const { from, tree, base = from, present = [] } = move;
  const gitDir = await gitText(git, ['rev-parse', '--absolute-git-dir']);
  await breakStaleLocks([`${gitDir}/index.lock`], async () => [...places, gitDir]);
  const changes = await diffTrees(git, base, tree);
  // If git has written the index, it can go back as it went. It refuses if the user has changed such a file since.
  await runGit(git, ['read-tree', '-m', '-u', tree, base], { detached: true });
  await undoFiles(git, changes);
  await editIndex(git, indexEdits(present, 'was'), tree.length);
  failurePoint('landing: worktree brought back');
}

/** For an index: the files as they are to be in it, or as they were. */
export function indexEdits(present: readonly Present[], when: 'entry' | 'was'): IndexEdit[] {
  return present.map((one) => [one.path, one[when]]);
}

/** The index has the old files, and the disk some of the new ones. */
async function undoFiles(git: Git, changes: readonly DiffEntry[]): Promise<void> {
  const indexed = await readIndex(git);
  const touched: DiffEntry[] = [];
  const failed: string[] = [];
  // A new file may be where a directory of old ones was.
  const newFirst = [...changes].sort(
    (a, b) => Number(a.before !== undefined) - Number(b.before !== undefined),
  );
  for (const change of newFirst) {
    const entry = indexed.get(change.path);
    const isKnown = [change.before, change.after].some((version) => entryOf(version) === entry);
    if (!isKnown || change.before?.mode === SUBMODULE) continue;
    // git wrote the new content, or had begun to.
    if (!(await isBegun(git, change.path, change.after))) continue;
    touched.push(change);
    if (change.before === undefined && !succeeds(() => removeFile(git.cwd, change.path)))
      failed.push(displayPath(change.path));
  }
  const [{ before, after } = {}] = touched;
  await editIndex(git, editsOf(touched, 'before'), (before ?? after)?.oid.length ?? 0);
  const restored = touched.filter(({ before }) => before !== undefined);
  const paths = restored.map(({ path }) => path);
  if (!(await checkOutFiles(git, paths))) {
    // One filter that fails must not keep the others away.
    for (const path of paths) if (!(await checkOutFiles(git, [path]))) failed.push(displayPath(path));
  }
  if (failed.length > 0)
    throw new AgtError(`git could not write ${failed.join(', ')} in ${git.cwd} again`, {
      hints: ['a filter may have failed (see: git config --get-regexp filter); then run: agt doctor --fix'],
    });
  await runGit(git, ['update-index', '-q', '--refresh']);
}

async function checkOutFiles(git: Git, paths: readonly string[]): Promise<boolean> {
  if (paths.length === 0) return true;
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  return (await runGit(git, ['checkout-index', '--force', '-z', '--stdin'], { input })).exitCode === 0;
}

/** Whether the file on disk is missing, or the content of `version` or its beginning. */
async function isBegun(git: Git, path: string, version: DiffEntry['after']): Promise<boolean> {
  if (version?.mode === SUBMODULE) return false;
  const found = readIfThere(git.cwd, path);
  if (found === undefined) return true;
  if (version === undefined) return false;
  // An argument of git is UTF-8; for other names the attributes of no path apply.
  const whole =
    version.mode === LINK
      ? await gitBytes(git, ['cat-file', 'blob', version.oid])
      : await gitBytes(git, ['cat-file', '--filters', `--path=${displayPath(path)}`, version.oid]);
  return found !== 'no file' && whole.subarray(0, found.length).equals(found);
}

function readIfThere(worktree: string, path: string): Buffer | 'no file' | undefined {
  return withOpenDirectories(worktree, (disk) => {
    try {
      const entry = disk.entry(path);
      const stat = lstatSync(entry);
      if (stat.isSymbolicLink()) return readlinkSync(entry, { encoding: 'buffer' });
      return stat.isFile() ? readFileSync(entry) : 'no file';
    } catch (error) {
      return errorCode(error) === 'ENOENT' ? undefined : 'no file'; // such as a link on the way
    }
  });
}

/** And the directories that are empty then. Follows no link on the way. */
function removeFile(worktree: string, path: string): void {
  withOpenDirectories(worktree, (disk) => {
    if (disk.lstat(path) === undefined) return;
    unlinkSync(disk.entry(path));
    attempt(() => {
      for (let parent = parentPath(path); parent !== ''; parent = parentPath(parent)) {
        disk.forget(parent);
        rmdirSync(disk.entry(parent));
      }
    }); // it is not empty
  });
}
