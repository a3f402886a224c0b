/** The files that a commit's tree holds under the session folder's names: what a capture is compared against. */
import { listTree } from '../git/objects/ls-tree.ts';
import type { Git } from '../git/run/git.ts';
import { decodePath, encodePath } from './tree-names.ts';

export interface TreeEntry {
  readonly mode: string;
  readonly oid: string;
}

export interface TreeFiles {
  /** By path on disk, relative to the session folder, one byte per character. */
  readonly files: Map<string, TreeEntry>;
  /** Paths of the tree that have no place in a shadow commit, as they stand in the tree. */
  readonly foreign: string[];
}

/** The state in a shadow commit. */
export async function readShadowTree(git: Git, tree: string): Promise<TreeFiles> {
  const files = new Map<string, TreeEntry>();
  for (const { path, mode, oid } of await listTree(git, tree, { recurse: 'files' })) {
    if (!path.startsWith('_/')) files.set(decodePath(path), { mode, oid });
  }
  return { files, foreign: [] };
}

/** The state that a sandbox starts with: a tree of the user's, set under `sandbox/`. Submodules are no files. */
export async function readStartTree(git: Git, tree: string): Promise<TreeFiles> {
  const files = new Map<string, TreeEntry>();
  const foreign: string[] = [];
  for (const entry of await listTree(git, tree, { recurse: 'files' })) {
    const path = `sandbox/${entry.path}`;
    if (entry.mode === '160000' || encodePath(path) !== path) foreign.push(path);
    else files.set(path, { mode: entry.mode, oid: entry.oid });
  }
  return { files, foreign };
}
