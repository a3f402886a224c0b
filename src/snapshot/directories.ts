/** The directories of a snapshot. A git tree has no empty ones; the manifest lists those. */
import { listTree } from '../git/objects/ls-tree.ts';
import type { Git } from '../git/run/git.ts';
import type { SnapshotMetadata } from './metadata.ts';
import { decodePath } from './tree-names.ts';

/** Every directory of a snapshot, empty or not; paths relative to the session folder. */
export async function listDirectories(git: Git, snapshot: SnapshotMetadata): Promise<Set<string>> {
  const listed = await listTree(git, snapshot.commit, { recurse: 'directories' });
  const directories = new Set(
    listed.filter(({ path }) => !/^_(\/|$)/.test(path)).map(({ path }) => decodePath(path)),
  );
  for (const path of snapshot.emptyDirectories)
    for (const directory of [path, ...parentDirectories(path)]) directories.add(directory);
  return directories;
}

/** The directories above a path, nearest first. */
export function parentDirectories(path: string): string[] {
  const found: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    found.push(path.slice(0, end));
  return found;
}
