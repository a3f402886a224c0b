/** Reads the output of `git ls-tree`. */
import type { Git } from '../run/git.ts';
import { fieldsOf, gitBytes } from '../run/git.ts';

export interface LsTreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly oid: string;
  /** Relative to the root of the tree, with the names that the tree has; one byte per character. */
  readonly path: string;
}

interface LsTreeOptions {
  /** `files`: every file in every directory; `directories`: every directory; `both`. Default: the top level alone. */
  readonly recurse?: 'files' | 'directories' | 'both';
}

const RECURSION = { files: ['-r'], directories: ['-r', '-d'], both: ['-r', '-t'] };

/** @throws AgtError if there is no such tree. */
export async function listTree(
  git: Git,
  tree: string,
  { recurse }: LsTreeOptions = {},
): Promise<LsTreeEntry[]> {
  const options = recurse === undefined ? [] : RECURSION[recurse];
  const output = await gitBytes(git, ['ls-tree', ...options, '-z', '--full-tree', tree]);
  return fieldsOf(output).map((line) => {
    const tab = line.indexOf('\t');
    const [mode = '', type = '', oid = ''] = line.slice(0, tab).split(' ');
    return { mode, type, oid, path: line.slice(tab + 1) };
  });
}
