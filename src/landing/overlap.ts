/** Finds uncommitted work in the way of a change of the branch. git itself would overwrite ignored files. */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { entriesOf } from '../disk/folder-entries.ts';
import { systemPath } from '../disk/long-path.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, errorCode, plural, someLines } from '../errors.ts';
import { SUBMODULE } from '../git/modes.ts';
import { type DiffEntry, entryOf } from '../git/objects/raw-diff.ts';
import { editIndex, readIndex, withIndex } from '../git/objects/scratch-index.ts';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import { readStatus } from '../git/objects/status.ts';
import { fieldsOf, type Git, gitAnswer, gitBytes, runGit } from '../git/run/git.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import type { Repository } from '../repository/repository.ts';
import type { Present } from '../session/state.ts';
import { parentDirectories } from '../snapshot/tree.ts';
import { indexEdits } from './recover.ts';

/** A merge of git, but no fast-forward, refuses any staged file. @throws AgtError that names them and the way out */
export async function refuseStaged(
  git: Git,
  wayOut: (paths: readonly string[]) => Promise<string>,
): Promise<void> {
  const staged = (await uncommitted(git)).flatMap(([path, kind]) => (kind === STAGED ? path : []));
  if (staged.length === 0) return;
  const files = `${plural(staged.length, 'file')} in ${realpathSync(git.cwd)} ${staged.length === 1 ? 'is' : 'are'}`;
  throw new AgtError(`${files} staged; git merges only if nothing is, and nothing has changed`, {
    hints: [...someLines(staged.map(displayPath)), await wayOut(staged)],
  });
}

/** @throws AgtError that names the files and the way out. `git` runs in the user's worktree. */
export async function refuseOverlap(
  git: Git,
  changes: readonly DiffEntry[],
  wayOut: (paths: readonly string[]) => string | Promise<string>,
): Promise<void> {
  const overlap = await overlapOf(git, changes);
  if (overlap.size > 0) refuse(git, overlap, await wayOut([...overlap.keys()]));
}

/**
 * As `refuseOverlap`, but agt returns files that are not in the way: those that are already as they are to be, and those
 * that are still as the session took them along. `taken`: these.
 */
export async function refuseOtherContent(
  repository: Repository,
  git: Git,
  changes: readonly DiffEntry[],
  taken: readonly DiffEntry[] = [],
): Promise<Present[]> {
  const overlap = await overlapOf(git, changes);
  const known = new Map(taken.map(({ path, after }) => [path, after]));
  const asTaken = changes
    .filter(({ path }) => known.has(path))
    .map((change) => ({ ...change, after: known.get(change.path) }));
  const found: Present[] = [];
  for (const versions of [changes, asTaken]) {
    const candidates = versions.filter(({ path }) =>
      [UNTRACKED, UNSTAGED, STAGED].includes(overlap.get(path) ?? ''),
    );
    if (candidates.length === 0) continue;
    const present = await findPresent(repository, withUsersPrograms(git), candidates);
    for (const { path } of present) overlap.delete(path);
    found.push(...present);
  }
  refuse(git, overlap, [...overlap.keys()].some((path) => known.has(path)) ? MERGED_FROM_TAKEN : undefined);
  return found;
}

/** An index that has only the new versions shows which files differ from them, as the user's filters and settings say. */
async function findPresent(
  repository: Repository,
  git: Git,
  changes: readonly DiffEntry[],
): Promise<Present[]> {
  const indexed = await readIndex(git);
  const candidates = changes.flatMap(({ path, before, after }): Present[] => {
    const [entry, was] = [entryOf(after), indexed.get(path)];
    // With another version in the index, that one would be lost.
    const isKnown = was === undefined || was === entry || was === entryOf(before);
    return isKnown && after?.mode !== SUBMODULE ? [{ path, entry, was }] : [];
  });
  const isThere = ({ path }: Present) => statIn(git.cwd, path)?.isDirectory() === false;
  const written = candidates.filter(({ entry }) => entry !== undefined);
  const gone = candidates.filter((one) => one.entry === undefined && !isThere(one));
  if (written.length === 0) return gone;
  return withScratchObjects(repository, async ({ dir }) => {
    const index = withIndex(git, join(dir, 'index'));
    await editIndex(index, indexEdits(written, 'entry'));
    await runGit(index, ['update-index', '-q', '--refresh']);
    const different = new Set(fieldsOf(await gitBytes(index, ['diff-files', '--name-only', '-z'])));
    return [...gone, ...written.filter(({ path }) => !different.has(path))];
  });
}

/** Kinds by path. */
async function overlapOf(git: Git, changes: readonly DiffEntry[]): Promise<Map<string, string>> {
  const changed = new Map(changes.map((change) => [change.path, change]));
  const isOverlap = ([path, kind]: readonly [path: string, kind: string]) => {
    const { before, after } = changed.get(path) ?? {};
    // git leaves the folder of a submodule as it is, and what differs there still differs afterwards.
    const isMoved = before?.mode === SUBMODULE && after?.mode === SUBMODULE;
    return changed.has(path) && !(kind === UNSTAGED && isMoved);
  };
  const overlap = new Map((await uncommitted(git)).filter(isOverlap));
  for (const [path, flag] of await hiddenChanges(git, changes))
    overlap.set(path, `changed, but ${flag} hides it from git; see: git update-index --no-${flag}`);
  for (const [path, kind] of inTheWay(git, changes)) if (!overlap.has(path)) overlap.set(path, kind);
  return overlap;
}

/** For a worktree whose uncommitted files are part of the change: looks for the others alone. @throws AgtError */
export function refuseInTheWay(git: Git, changes: readonly DiffEntry[]): void {
  refuse(git, inTheWay(git, changes));
}

const UNTRACKED = 'not tracked';
const UNSTAGED = 'not committed';
const STAGED = 'staged';

const MERGED_FROM_TAKEN =
  'commit all of them first, staged or not: agt merges both from the files that the session began with';

/** `overlap`: kinds by path. */
function refuse(
  git: Git,
  overlap: ReadonlyMap<string, string>,
  wayOut = 'commit, stash or move them away first',
): void {
  if (overlap.size === 0) return;
  const files = plural(overlap.size, 'file');
  const hasUntracked = [...overlap.values()].includes(UNTRACKED);
  const lines = [...overlap].map(([path, kind]) => `${displayPath(path)}: ${kind}`);
  // The sandbox of a session in place is a link.
  throw new AgtError(`${files} in ${realpathSync(git.cwd)} would be overwritten, and nothing has changed`, {
    hints: [
      ...someLines(lines),
      hasUntracked ? wayOut.replace('stash', 'stash (git stash -u, but not what git ignores)') : wayOut,
    ],
  });
}

/** Files and links on disk that git does not track, in the place of new files; kinds by path. */
function inTheWay(git: Git, changes: readonly DiffEntry[]): Map<string, string> {
  const goes = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path));
  const added = changes.filter(({ before }) => before === undefined);
  const untracked = added.flatMap(({ path }) => untrackedAt(git.cwd, path, goes));
  const submodules = replacedSubmodules(changes).filter(
    (path) => statIn(git.cwd, path)?.isDirectory() === true && filesBelow(git.cwd, path).length > 0,
  );
  const found = new Map(untracked.map((path) => [path, UNTRACKED]));
  for (const path of submodules)
    found.set(path, `the folder of a submodule; empty it: git submodule deinit ${displayPath(path)}`);
  return found;
}

/** Files take their place. git would delete the folder with all that is in it: a `.git` with commits, ignored files. */
function replacedSubmodules(changes: readonly DiffEntry[]): string[] {
  const present = changes.filter(({ after }) => after !== undefined);
  const parents = new Set(present.flatMap(({ path }) => parentDirectories(path)));
  return changes
    .filter(({ before, after }) => before?.mode === SUBMODULE && after?.mode !== SUBMODULE)
    .filter(({ path, after }) => after !== undefined || parents.has(path))
    .map(({ path }) => path);
}

/** Tracked files with staged or unstaged changes. */
async function uncommitted(git: Git): Promise<[path: string, kind: string][]> {
  const { entries } = await readStatus(git, '--untracked-files=no');
  return entries.map(({ path, staged }) => [path, staged === '.' ? UNSTAGED : STAGED]);
}

/** Changed files that the user told git not to look at, with the flag: git would refuse without a word on why. */
async function hiddenChanges(git: Git, changes: readonly DiffEntry[]) {
  const before = new Map(changes.map((change) => [change.path, change.before]));
  const listed = fieldsOf(await gitBytes(git, ['ls-files', '-v', '-z']));
  const flagged = listed.filter((entry) => /^[a-zS] /.test(entry) && before.has(entry.slice(2)));
  const found: [string, string][] = [];
  for (const entry of flagged) {
    const path = entry.slice(2);
    const stat = statIn(git.cwd, path);
    if (stat === undefined) continue; // a sparse checkout leaves it out
    const oid = stat.isFile() ? await gitAnswer(git, ['hash-object', '--', displayPath(path)]) : undefined;
    const flag = entry.startsWith('S') ? 'skip-worktree' : 'assume-unchanged';
    if (oid !== before.get(path)?.oid) found.push([path, flag]);
  }
  return found;
}

function statIn(worktree: string, path: string): Stats | undefined {
  const absolute = `${Buffer.from(worktree).toString('latin1')}/${path}`;
  try {
    return lstatSync(systemPath(absolute));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    throw error;
  }
}

/** Files and links on disk that a new file would replace. `goes`: tracked files that the same change deletes. */
function untrackedAt(worktree: string, path: string, goes: ReadonlySet<string>): string[] {
  for (const parent of parentDirectories(path).reverse()) {
    const found = statIn(worktree, parent);
    if (found === undefined) return [];
    if (!found.isDirectory()) return goes.has(parent) ? [] : [parent];
  }
  const found = statIn(worktree, path);
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return filesBelow(worktree, path).filter((file) => !goes.has(file));
}

function filesBelow(worktree: string, directory: string): string[] {
  return entriesOf(`${Buffer.from(worktree).toString('latin1')}/${directory}`).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(worktree, path) : [path];
  });
}
