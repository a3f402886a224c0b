/**
 * The untracked files of a worktree that git does not ignore, found without git: one git for each sandbox would be too
 * slow for a listing. It follows gitignore(5): the deepest file that says something about a path decides.
 */

import { lstatSync, readFileSync } from 'node:fs';
import { entriesOf } from '../../disk/folder-entries.ts';
import { isIgnored, matcherOf, type Rules } from './ignore-rules.ts';

/** Patterns that hold for the whole worktree: of `info/exclude` and of `core.excludesFile`, in this order. */
export type GeneralPatterns = readonly string[];

interface Tracked {
  readonly files: ReadonlySet<string>;
  /** Those above the files. */
  readonly directories: ReadonlySet<string>;
}

/** So many untracked files are a directory that nobody has ignored yet. A listing counts no more. */
const MOST = 2000;

/** Paths relative to the worktree, one byte per character. */
export function untrackedFiles(worktree: string, tracked: Tracked, general: GeneralPatterns): string[] {
  const root = Buffer.from(worktree).toString('latin1');
  const top = general.map((text): Rules => ({ matcher: matcherOf(text), below: '' }));
  const found: string[] = [];
  const enter = (directory: string, outer: readonly Rules[]): void => {
    const entries = readDirectory(`${root}/${directory}`);
    const own = entries.some(({ name }) => name === '.gitignore') ? ownRules(root, directory) : undefined;
    const rules = own === undefined ? outer : [own, ...outer];
    for (const entry of entries) {
      if (found.length >= MOST) return;
      const path = directory + entry.name;
      if (/^\.git$/i.test(entry.name)) continue;
      if (entry.isDirectory()) {
        if (
          tracked.directories.has(path) ||
          !(isIgnored(path, true, rules) || isRepository(`${root}/${path}`))
        )
          enter(`${path}/`, rules);
      } else if (isFileOrLink(entry) && !tracked.files.has(path) && !isIgnored(path, false, rules))
        found.push(path);
    }
  };
  enter('', top);
  return found;
}

function readDirectory(path: string) {
  try {
    return entriesOf(path);
  } catch {
    return [];
  }
}

function isFileOrLink(entry: { isFile(): boolean; isSymbolicLink(): boolean }): boolean {
  return entry.isFile() || entry.isSymbolicLink();
}

function ownRules(root: string, below: string): Rules | undefined {
  const path = Buffer.from(`${root}/${below}.gitignore`, 'latin1');
  try {
    if (!lstatSync(path).isFile()) return undefined; // git follows no link here
    return { matcher: matcherOf(readFileSync(path, 'utf8')), below };
  } catch {
    return undefined;
  }
}

/** git lists a repository inside the worktree as one path, and adds it as one. */
function isRepository(directory: string): boolean {
  return lstatSync(Buffer.from(`${directory}/.git`, 'latin1'), { throwIfNoEntry: false }) !== undefined;
}
