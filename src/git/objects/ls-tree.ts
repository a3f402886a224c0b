/** Reads the output of `git ls-tree`. */
import { fieldsOf, type Git, gitBytes } from '../run/git.ts';

export interface LsTreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly oid: string;
  /** Relative to the root of the tree, with the names that the tree has; one byte per character. */
  readonly path: string;
}

/** `files`: every file in every directory; `directories`: every directory. */
const RECURSION = { files: ['-r'], directories: ['-r', '-d'], both: ['-r', '-t'] };

/** Without `recurse` the top level alone. @throws AgtError if there is no such tree. */
export async function listTree(
  git: Git,
  tree: string,
  recurse?: keyof typeof RECURSION,
): Promise<LsTreeEntry[]> {
  const options = recurse === undefined ? [] : RECURSION[recurse];
  const output = await gitBytes(git, ['ls-tree', ...options, '-z', '--full-tree', tree]);
  return fieldsOf(output).map((line) => {
    const tab = line.indexOf('\t');
    const [mode = '', type = '', oid = ''] = line.slice(0, tab).split(' ');
    return { mode, type, oid, path: line.slice(tab + 1) };
  });
}
