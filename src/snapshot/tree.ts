/** Reads the files of a tree, by their paths in the session folder. */
import { SUBMODULE } from '../git/modes.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import { type Git, gitText, resolveObject } from '../git/run/git.ts';
import { TOP_FOLDERS } from './folders.ts';
import { isOwn } from './format.ts';
import type { SnapshotMetadata } from './manifest.ts';
import { decodePath, encodePath } from './tree-names.ts';

export interface TreeEntry {
  readonly mode: string;
  readonly oid: string;
}

/** The files of a snapshot, by path on disk: relative to the session folder, one byte per character. */
export async function readSnapshotTree(git: Git, tree: string): Promise<Map<string, TreeEntry>> {
  const listed = await listTree(git, tree, 'files');
  const files = listed.filter(({ path }) => !isOwn(path));
  return new Map(files.map(({ path, mode, oid }) => [decodePath(path), { mode, oid }]));
}

/** The start commit's tree as `sandbox/`. `unstorable`: submodules, and names that no snapshot can have. */
export async function readStartTree(git: Git, tree: string) {
  const files = new Map<string, TreeEntry>();
  const unstorable: string[] = [];
  for (const entry of await listTree(git, tree, 'files')) {
    const path = `sandbox/${entry.path}`;
    if (entry.mode === SUBMODULE || encodePath(path) !== path) unstorable.push(path);
    else files.set(path, { mode: entry.mode, oid: entry.oid });
  }
  return { files, unstorable };
}

/** The sandbox of a snapshot. git stores no directory without files, so one without any is the empty tree. */
export async function sandboxTree(git: Git, commit: string): Promise<string> {
  return (await resolveObject(git, `${commit}:sandbox`)) ?? emptyTree(git);
}

/** Its name; git knows its content. */
export function emptyTree(git: Git): Promise<string> {
  return gitText(git, ['hash-object', '-t', 'tree', '--stdin'], { input: '' });
}

/** A file or link that differs between two snapshots. Undefined: that snapshot does not have it. */
export type ChangedFile = Pick<DiffEntry, 'path' | 'before' | 'after'>;

/** Without `from` every file is new. */
export async function diffSnapshots(git: Git, from: string | undefined, to: string): Promise<ChangedFile[]> {
  if (from === undefined) {
    const files = await readSnapshotTree(git, to);
    return [...files].map(([path, after]) => ({ path, before: undefined, after }));
  }
  return diffTrees(withoutIndex(git), from, to, { paths: TOP_FOLDERS, countLines: false, decodePath });
}

/** Also empty ones, by the manifest. `among`: the paths that the caller asks about, if it needs not all. */
export async function listDirectories(
  git: Git,
  snapshot: SnapshotMetadata,
  among?: ReadonlySet<string>,
): Promise<Set<string>> {
  const directories = await directoriesWithFiles(git, snapshot.commit, among);
  for (const path of snapshot.emptyDirectories)
    for (const directory of [path, ...parentDirectories(path)]) directories.add(directory);
  return directories;
}

/** For more paths than these a list of all directories comes sooner. */
const FEW = 1000;

async function directoriesWithFiles(
  git: Git,
  commit: string,
  among: ReadonlySet<string> | undefined,
): Promise<Set<string>> {
  if (among === undefined || among.size > FEW || [...among].some((path) => path.includes('\n'))) {
    const listed = await listTree(git, commit, 'directories');
    return new Set(listed.filter(({ path }) => !isOwn(path)).map(({ path }) => decodePath(path)));
  }
  const paths = [...among];
  const found = await findObjects(
    git,
    paths.map((path) => `${commit}:${encodePath(path)}`),
  );
  return new Set(paths.filter((_, i) => found[i]?.type === 'tree'));
}

/** The directories above a path, nearest first. */
export function parentDirectories(path: string): string[] {
  const found: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    found.push(path.slice(0, end));
  return found;
}
