/** Finds uncommitted work in the way of a change of the branch. git itself would overwrite ignored files. */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { entriesOf } from '../disk/folder-entries.ts';
import { systemPath } from '../disk/long-path.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, plural, someLines } from '../errors.ts';
import { SUBMODULE } from '../git/modes.ts';
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import { parseStatus, STATUS } from '../git/objects/status.ts';
import { fieldsOf, type Git, gitAnswer, gitBytes } from '../git/run/git.ts';
import { parentDirectories } from '../snapshot/tree.ts';

/** Paths that a message lists. */
const LISTED = 10;

/** @throws AgtError that names the files. `git` runs in the user's worktree. */
export async function refuseOverlap(git: Git, changes: readonly DiffEntry[]): Promise<void> {
  const changed = new Map(changes.map((change) => [change.path, change]));
  const isOverlap = ([path, kind]: readonly [path: string, kind: string]) =>
    changed.has(path) && !(kind === UNSTAGED && onlyMovesSubmodule(changed.get(path)));
  const overlap = new Map((await uncommitted(git)).filter(isOverlap));
  for (const [path, flag] of await hiddenChanges(git, changes))
    overlap.set(path, `changed, but ${flag} hides it from git; see: git update-index --no-${flag}`);
  for (const [path, kind] of inTheWay(git, changes)) if (!overlap.has(path)) overlap.set(path, kind);
  refuse(git, overlap);
}

/** git leaves the folder of a submodule as it is, and what differs there still differs afterwards. */
function onlyMovesSubmodule(change: DiffEntry | undefined): boolean {
  return change?.before?.mode === SUBMODULE && change.after?.mode === SUBMODULE;
}

/** For a worktree whose uncommitted files are part of the change: looks for the others alone. @throws AgtError */
export function refuseInTheWay(git: Git, changes: readonly DiffEntry[]): void {
  refuse(git, inTheWay(git, changes));
}

const UNTRACKED = 'not tracked';
const UNSTAGED = 'not committed';

/** `overlap`: kinds by path. */
function refuse(git: Git, overlap: ReadonlyMap<string, string>): void {
  if (overlap.size === 0) return;
  const files = plural(overlap.size, 'file');
  const lines = [...overlap].map(([path, kind]) => `${displayPath(path)}: ${kind}`);
  // The sandbox of a session in place is a link.
  throw new AgtError(`${files} in ${realpathSync(git.cwd)} would be overwritten, and nothing has changed`, {
    hints: [...someLines(lines, LISTED), 'commit, stash or move them away first'],
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
  const { entries } = parseStatus(await gitBytes(git, [...STATUS, '--untracked-files=no']));
  return entries.map(({ path, staged }) => [path, staged === '.' ? UNSTAGED : 'staged']);
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
    const name = Buffer.from(path, 'latin1').toString();
    const oid = stat.isFile() ? await gitAnswer(git, ['hash-object', '--', name]) : undefined;
    const flag = entry.startsWith('S') ? 'skip-worktree' : 'assume-unchanged';
    if (oid !== before.get(path)?.oid) found.push([path, flag]);
  }
  return found;
}

function statIn(worktree: string, path: string): Stats | undefined {
  const absolute = `${Buffer.from(worktree).toString('latin1')}/${path}`;
  return lstatSync(systemPath(absolute), { throwIfNoEntry: false });
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
