/** Compares the metadata that trees do not record: permission bits and empty directories. */

import { DIRECTORY, PROGRAM } from '../../git/modes.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import type { Git } from '../../git/run/git.ts';
import { parentDirectories } from '../../snapshot/tree.ts';
import { decodePath } from '../../snapshot/tree-names.ts';
import type { ComparedTree } from './compared-tree.ts';

export interface MetadataDiff {
  /** Relative to the session folder, one byte per character. A directory ends in a slash. */
  readonly path: string;
  readonly status: 'A' | 'D' | 'M';
  /** Permission bits, octal; undefined for an empty directory that was added or deleted. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export async function metadataDiff(git: Git, a: ComparedTree, b: ComparedTree): Promise<MetadataDiff[]> {
  const { metadata: before } = a;
  const { metadata: after } = b;
  if (before === undefined || after === undefined) return [];
  const listed = new Set([...before.modes.others.keys(), ...after.modes.others.keys()]);
  const otherBits = [...listed].filter(
    (path) => before.modes.others.get(path) !== after.modes.others.get(path),
  );
  const newlyEmpty = after.emptyDirectories.filter((path) => !before.emptyDirectories.includes(path));
  const onceEmpty = before.emptyDirectories.filter((path) => !after.emptyDirectories.includes(path));
  if (otherBits.length + newlyEmpty.length + onceEmpty.length === 0) return [];

  const kindsBefore = await readKinds(git, a.tree, before.emptyDirectories);
  const kindsAfter = await readKinds(git, b.tree, after.emptyDirectories);
  const added = newlyEmpty.filter((path) => !kindsBefore.has(path));
  const deleted = onceEmpty.filter((path) => !kindsAfter.has(path));
  const changed = otherBits.flatMap((path): MetadataDiff[] => {
    const [kindBefore, kindAfter] = [kindsBefore.get(path), kindsAfter.get(path)];
    if (kindBefore === undefined || kindAfter === undefined) return []; // added or deleted: reported as such
    const oldBits = before.modes.others.get(path) ?? before.modes.usual[kindBefore];
    const newBits = after.modes.others.get(path) ?? after.modes.usual[kindAfter];
    if (oldBits === newBits) return [];
    const shown = kindAfter === 'directory' ? `${path}/` : path;
    return [{ path: shown, status: 'M', before: oldBits.toString(8), after: newBits.toString(8) }];
  });
  return [
    ...added.map((path) => directoryDiff(path, 'A')),
    ...deleted.map((path) => directoryDiff(path, 'D')),
    ...changed,
  ].sort((one, other) => (one.path < other.path ? -1 : 1));
}

function directoryDiff(path: string, status: 'A' | 'D'): MetadataDiff {
  return { path: `${path}/`, status, before: undefined, after: undefined };
}

type Kind = 'file' | 'program' | 'directory';

/** Every file and directory, with the empty directories and those above them. */
async function readKinds(
  git: Git,
  tree: string,
  emptyDirectories: readonly string[],
): Promise<Map<string, Kind>> {
  const kinds = new Map<string, Kind>();
  for (const { path, mode } of await listTree(git, tree, 'both')) {
    const kind = mode === DIRECTORY ? 'directory' : mode === PROGRAM ? 'program' : 'file';
    kinds.set(decodePath(path), kind);
  }
  for (const path of emptyDirectories)
    for (const part of [path, ...parentDirectories(path)]) kinds.set(part, 'directory');
  return kinds;
}
