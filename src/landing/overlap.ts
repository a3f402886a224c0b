/**
 * Finds uncommitted work of the user in the way of a change of the branch. git itself protects tracked and untracked
 * files, but overwrites ignored ones.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { systemPath } from '../disk/long-path.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import { type Git, gitBytes } from '../git/run/git.ts';
import { parentDirectories } from '../snapshot/directories.ts';

/** Paths that a message lists. */
const LISTED = 10;

/** @throws AgtError that names the files. `git` runs in the user's worktree. */
export async function refuseOverlap(git: Git, changes: readonly DiffEntry[]): Promise<void> {
  const overlap = await findOverlap(git, changes);
  if (overlap.length === 0) return;
  const files = overlap.length === 1 ? '1 file' : `${overlap.length} files`;
  const more = overlap.length > LISTED ? [`and ${overlap.length - LISTED} more`] : [];
  throw new AgtError(`${files} in ${git.cwd} would be overwritten, and nothing has changed`, {
    hints: [
      ...overlap.slice(0, LISTED).map(({ path, kind }) => `${displayPath(path)}: ${kind}`),
      ...more,
      'commit, stash or move them away first',
    ],
  });
}

interface Overlap {
  readonly path: string;
  readonly kind: string;
}

async function findOverlap(git: Git, changes: readonly DiffEntry[]): Promise<Overlap[]> {
  const found = new Map<string, string>();
  const changed = new Set(changes.map(({ path }) => path));
  for (const [path, kind] of await uncommitted(git)) if (changed.has(path)) found.set(path, kind);
  const goes = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path));
  for (const { path } of changes.filter(({ before }) => before === undefined)) {
    for (const other of inTheWay(git.cwd, path, goes)) {
      if (!found.has(other)) found.set(other, 'not tracked');
    }
  }
  return [...found].map(([path, kind]) => ({ path, kind }));
}

/** Tracked files with staged or unstaged changes. */
async function uncommitted(git: Git): Promise<[path: string, kind: string][]> {
  const args = ['status', '--porcelain=v1', '-z', '--untracked-files=no', '--no-renames'];
  const output = (await gitBytes(git, args)).toString('latin1');
  const entries = output.split('\0').filter((entry) => entry !== '');
  return entries.map((entry) => [entry.slice(3), entry[0] === ' ' ? 'not committed' : 'staged']);
}

/** Files and links on disk that a new file would replace. `goes`: tracked files that the same change deletes. */
function inTheWay(worktree: string, path: string, goes: ReadonlySet<string>): string[] {
  const stat = (name: string) =>
    lstatSync(systemPath(`${Buffer.from(worktree).toString('latin1')}/${name}`), { throwIfNoEntry: false });
  for (const parent of parentDirectories(path).reverse()) {
    const found = stat(parent);
    if (found === undefined) return [];
    if (!found.isDirectory()) return goes.has(parent) ? [] : [parent];
  }
  const found = stat(path);
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return filesBelow(worktree, path).filter((file) => !goes.has(file));
}

function filesBelow(worktree: string, directory: string): string[] {
  const absolute = systemPath(`${Buffer.from(worktree).toString('latin1')}/${directory}`);
  return readdirSync(absolute, { encoding: 'latin1', withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(worktree, path) : [path];
  });
}
