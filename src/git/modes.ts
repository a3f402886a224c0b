/** The modes that git knows: in a tree, and in what git prints. */
export const FILE = '100644';
export const PROGRAM = '100755';
export const LINK = '120000';
export const SUBMODULE = '160000';
export const DIRECTORY = '040000';

/** As an index has them. Only a sparse one has directories. */
export const IN_INDEX = { submodule: 0o160000, directory: 0o040000 } as const;

/** The mode of a file or link with this st_mode. */
export function treeMode(mode: number): string {
  if ((mode & 0o170000) === 0o120000) return LINK;
  return mode & 0o100 ? PROGRAM : FILE;
}
