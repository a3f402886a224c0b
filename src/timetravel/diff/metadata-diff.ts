/** What two states differ in that their trees do not say: permission bits, and directories that hold nothing. */

import { pathFromJson } from '../../disk/path-bytes.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import type { Git } from '../../git/run/git.ts';
import { parentDirectories } from '../../snapshot/directories.ts';
import { readModes } from '../../snapshot/manifest.ts';
import { decodePath } from '../../snapshot/tree-names.ts';
import type { Side } from './sides.ts';

export interface MetadataDiff {
  /** Relative to the session folder, one byte per character; a directory ends in a slash. */
  readonly path: string;
  readonly status: 'A' | 'D' | 'M';
  /** Octal; undefined where the directory itself came or went. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export async function metadataDiff(git: Git, a: Side, b: Side): Promise<MetadataDiff[]> {
  if (a.manifest === undefined || b.manifest === undefined) return []; // of the start nothing else is known
  const [modesA, modesB] = [readModes(a.manifest), readModes(b.manifest)];
  const [emptyA, emptyB] = [a, b].map((side) =>
    (side.manifest?.empty_directories ?? []).map(pathFromJson),
  ) as [string[], string[]];
  const listed = new Set([...modesA.others.keys(), ...modesB.others.keys()]);
  const others = [...listed].filter((path) => modesA.others.get(path) !== modesB.others.get(path));
  const came = emptyB.filter((path) => !emptyA.includes(path));
  const went = emptyA.filter((path) => !emptyB.includes(path));
  if (others.length + came.length + went.length === 0) return [];

  const [kindsA, kindsB] = [await readKinds(git, a.tree, emptyA), await readKinds(git, b.tree, emptyB)];
  const appeared = came.filter((path) => !kindsA.has(path));
  const vanished = went.filter((path) => !kindsB.has(path));
  const directory = (path: string, status: 'A' | 'D') => ({
    path: `${path}/`,
    status,
    before: undefined,
    after: undefined,
  });
  const changed = others.flatMap((path) => {
    const [kindA, kindB] = [kindsA.get(path), kindsB.get(path)];
    if (kindA === undefined || kindB === undefined) return []; // its coming or going is told
    const before = modesA.others.get(path) ?? modesA.usual[kindA];
    const after = modesB.others.get(path) ?? modesB.usual[kindB];
    if (before === after) return [];
    const shown = kindB === 'directory' ? `${path}/` : path;
    return [{ path: shown, status: 'M' as const, before: before.toString(8), after: after.toString(8) }];
  });
  return [
    ...appeared.map((path) => directory(path, 'A')),
    ...vanished.map((path) => directory(path, 'D')),
    ...changed,
  ].sort((one, other) => (one.path < other.path ? -1 : 1));
}

type Kind = 'file' | 'program' | 'directory';

/** Everything that a side holds, directories included. */
async function readKinds(git: Git, tree: string, empty: readonly string[]): Promise<Map<string, Kind>> {
  const kinds = new Map<string, Kind>();
  for (const { path, mode } of await listTree(git, tree, { recurse: 'both' })) {
    const kind = mode === '040000' ? 'directory' : mode === '100755' ? 'program' : 'file';
    kinds.set(decodePath(path), kind);
  }
  for (const path of empty)
    for (const part of [path, ...parentDirectories(path)]) kinds.set(part, 'directory');
  return kinds;
}
