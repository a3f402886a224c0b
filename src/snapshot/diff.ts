/** Compares two snapshots. Paths hold one byte per character, as on disk. */

import { parseRawDiff } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { Git } from '../git/run/git.ts';
import { gitBytes } from '../git/run/git.ts';
import { TOP_FOLDERS } from './folders.ts';
import { readSnapshotTree, type TreeEntry } from './tree.ts';
import { decodePath } from './tree-names.ts';

/** A file or link that differs between two snapshots. Undefined: that snapshot does not have it. */
export interface ChangedFile {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

/** Without `from` every file is new. */
export async function diffSnapshots(git: Git, from: string | undefined, to: string): Promise<ChangedFile[]> {
  if (from === undefined) {
    const { files } = await readSnapshotTree(git, to);
    return [...files].map(([path, after]) => ({ path, before: undefined, after }));
  }
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--full-index', '--raw', from, to];
  const output = await gitBytes(withoutIndex(git), [...args, '--', ...TOP_FOLDERS]);
  return parseRawDiff(output.toString('latin1'), decodePath).get('') ?? [];
}
