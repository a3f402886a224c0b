/** Commits that agt makes for git blame alone: with other parents, or with other files. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { commitOid, storeCommits } from '../../git/objects/commits.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { editIndex, readIndex, withIndex, writeTree } from '../../git/objects/scratch-index.ts';
import type { ScratchObjects } from '../../git/objects/scratch-objects.ts';
import { type Git, gitText } from '../../git/run/git.ts';
import { decodePath } from '../../snapshot/tree-names.ts';

/** The whole object. */
export function commitWith(tree: string, parents: readonly string[], seconds = 0, message = ''): Buffer {
  const identity = `agt <agt> ${seconds} +0000`;
  const lines = [`tree ${tree}`, ...parents.map((one) => `parent ${one}`), `author ${identity}`];
  return Buffer.from(`${lines.join('\n')}\ncommitter ${identity}\n\n${message}\n`);
}

export async function treesOf(git: Git, commits: readonly string[]): Promise<Map<string, string>> {
  const names = commits.map((commit) => `${commit}^{tree}`);
  const found = await findObjects(git, names);
  return new Map(commits.map((commit, i) => [commit, found[i]?.oid ?? '']));
}

/** Whether a file stands beside another one. One byte per character. */
export type IsBeside = (path: string) => boolean;

export async function filesBeside(git: Git, commit: string): Promise<IsBeside> {
  const paths = new Set((await listTree(git, commit, 'files')).map(({ path }) => path));
  return (path) => paths.has(path);
}

/**
 * A commit in which the file has this content. If a parent lacks it, git takes it for a file that is gone, under another
 * name: so the files beside it are there as well.
 */
export async function commitOnTop(
  { git, dir }: ScratchObjects,
  parents: readonly string[],
  name: string,
  content: Buffer,
  beside?: () => Promise<IsBeside>,
) {
  const blob = await gitText(git, ['hash-object', '-w', '--stdin'], { input: content });
  const names = parents.map((parent) => `${parent}:${name}`);
  const before = await findObjects(git, names);
  const same = parents[before.findIndex((file) => file?.oid === blob)];
  if (same !== undefined) return same;
  const index = withIndex(git, join(dir, randomUUID()));
  const [newest] = parents;
  if (newest !== undefined && beside !== undefined && before.includes(undefined)) {
    await gitText(index, ['read-tree', newest]);
    const isThere = await beside();
    const gone = [...(await readIndex(index)).keys()].filter((path) => !isThere(decodePath(path)));
    const removals = gone.map((path) => [path, undefined] as const);
    await editIndex(index, removals, blob.length);
  }
  await editIndex(index, [[name, `100644 ${blob}`]]);
  const commit = commitWith(await writeTree(index), parents);
  await storeCommits(git, [commit], blob);
  return commitOid(commit, blob);
}
