/** The files that a commit's tree holds under the session folder's names: what a capture is compared against. */
import { type Git, gitBytes } from '../git/run/git.ts';
import { decodePath, encodePath } from './tree-names.ts';

export interface TreeEntry {
  readonly mode: string;
  readonly oid: string;
}

export interface TreeFiles {
  /** By path on disk, relative to the session folder, one byte per character. */
  readonly files: Map<string, TreeEntry>;
  /** Paths of the tree that have no place in a shadow commit, as they stand in the tree. */
  readonly unstorable: string[];
}

/** The state in a shadow commit. */
export async function readShadowTree(git: Git, tree: string): Promise<TreeFiles> {
  const files = new Map<string, TreeEntry>();
  for (const { path, mode, oid } of await listTree(git, tree)) {
    if (!path.startsWith('_/')) files.set(decodePath(path), { mode, oid });
  }
  return { files, unstorable: [] };
}

/** The state that a sandbox starts with: a tree of the user's, set under `sandbox/`. Submodules are no files. */
export async function readStartTree(git: Git, tree: string): Promise<TreeFiles> {
  const files = new Map<string, TreeEntry>();
  const unstorable: string[] = [];
  for (const entry of await listTree(git, tree)) {
    const path = `sandbox/${entry.path}`;
    if (entry.mode === '160000' || encodePath(path) !== path) unstorable.push(path);
    else files.set(path, { mode: entry.mode, oid: entry.oid });
  }
  return { files, unstorable };
}

async function listTree(git: Git, tree: string): Promise<{ path: string; mode: string; oid: string }[]> {
  const output = (await gitBytes(git, ['ls-tree', '-r', '-z', '--full-tree', tree])).toString('latin1');
  return output
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const tab = line.indexOf('\t');
      const [mode = '', , oid = ''] = line.slice(0, tab).split(' ');
      return { mode, oid, path: line.slice(tab + 1) };
    });
}
