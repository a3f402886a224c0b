/** What a shadow commit holds, and how two of them differ. Paths hold one byte per character, as on disk. */

import { pathFromJson } from '../disk/path-bytes.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import { parseRawDiff } from '../git/objects/raw-diff.ts';
import { type Git, gitBytes, gitText, runGit } from '../git/run/git.ts';
import { TOP_FOLDERS } from './folders.ts';
import { type CapturedManifest, readModes } from './manifest.ts';
import { readShadowTree, type TreeEntry } from './tree.ts';
import { decodePath } from './tree-names.ts';

export interface SnapshotContent {
  readonly commit: string;
  readonly manifest: CapturedManifest;
  readonly modes: ReturnType<typeof readModes>;
  readonly emptyDirectories: readonly string[];
  /** What was there and could not be captured, or was not to be. */
  readonly skipped: readonly string[];
}

export async function readSnapshot(git: Git, commit: string): Promise<SnapshotContent> {
  const text = await gitText(git, ['cat-file', 'blob', `${commit}:_/manifest.json`]);
  const manifest = JSON.parse(text) as CapturedManifest;
  return {
    commit,
    manifest,
    modes: readModes(manifest),
    emptyDirectories: manifest.empty_directories.map(pathFromJson),
    skipped: manifest.skipped.map(({ path }) => pathFromJson(path)),
  };
}

/** Whether two snapshots hold the same index, byte for byte. */
export async function haveSameIndex(git: Git, a: string, b: string): Promise<boolean> {
  return (await runGit(git, ['diff-tree', '-r', '--quiet', a, b, '--', '_/index'])).exitCode === 0;
}

/** A file or link that one snapshot has and the other has not, or has otherwise. */
export interface Difference {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

/** Without `from` everything is new. */
export async function listDifferences(git: Git, from: string | undefined, to: string): Promise<Difference[]> {
  if (from === undefined) {
    const { files } = await readShadowTree(git, to);
    return [...files].map(([path, after]) => ({ path, before: undefined, after }));
  }
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--full-index', '--raw', from, to];
  const output = await gitBytes(git, [...args, '--', ...TOP_FOLDERS]);
  return parseRawDiff(output.toString('latin1'), decodePath).get('') ?? [];
}

/** Every directory that a snapshot has: where something stands in it, and the empty ones. */
export async function listDirectories(git: Git, content: SnapshotContent): Promise<Set<string>> {
  const listed = await listTree(git, content.commit, { recurse: 'directories' });
  const directories = new Set(
    listed.filter(({ path }) => !/^_(\/|$)/.test(path)).map(({ path }) => decodePath(path)),
  );
  for (const path of content.emptyDirectories)
    for (const part of [path, ...ancestors(path)]) directories.add(part);
  return directories;
}

/** The directories above a path, nearest first. */
export function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    found.push(path.slice(0, end));
  return found;
}
