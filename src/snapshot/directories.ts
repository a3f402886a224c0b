/** The directories of a snapshot. A git tree has no empty ones; the manifest lists those. */
import { listTree } from '../git/objects/ls-tree.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import type { Git } from '../git/run/git.ts';
import type { SnapshotMetadata } from './manifest.ts';
import { decodePath, encodePath } from './tree-names.ts';

/**
 * The directories of a snapshot, empty or not; paths relative to the session folder. `among`: the paths that the caller
 * asks about, if it does not need all directories.
 */
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
    const listed = await listTree(git, commit, { recurse: 'directories' });
    return new Set(listed.filter(({ path }) => !/^_(\/|$)/.test(path)).map(({ path }) => decodePath(path)));
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
