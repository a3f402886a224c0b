/**
 * Writes a tree that looks as the agent sees its session: the sandbox's files at the top, the other folders beside them,
 * all names as on disk. Such a tree may hold names that no repository may hold, so it is written as scratch objects only.
 */

import { pathFromJson } from '../../disk/path-bytes.ts';
import { type LsTreeEntry, listTree } from '../../git/objects/ls-tree.ts';
import { type Git, gitText, resolveObject } from '../../git/run/git.ts';
import { parentDirectories } from '../../snapshot/tree.ts';
import { decodeName, encodePath } from '../../snapshot/tree-names.ts';
import { type AmbiguousFolders, FOLDERS_BESIDE_SANDBOX } from '../session-paths.ts';
import type { ComparedTree } from './compared-tree.ts';

/** `git` writes scratch objects. The tree holds only those of the session's folders that are in `tops`. */
export async function agentTree(
  git: Git,
  { tree, manifest }: ComparedTree,
  ambiguous: AmbiguousFolders,
  tops: readonly string[],
): Promise<string> {
  const encoded = (manifest?.encoded ?? []).map((path) => encodePath(pathFromJson(path)));
  const withEncodedNames = new Set(encoded.flatMap(parentDirectories));
  const decodedFolder = async (name: string) => {
    const oid = await resolveObject(git, `${tree}:${name}`);
    return oid === undefined || !tops.includes(name)
      ? undefined
      : decodeTree(git, oid, name, withEncodedNames);
  };
  const sandbox = await decodedFolder('sandbox');
  const top = sandbox === undefined ? [] : (await listTree(git, sandbox)).map(mktreeLine);
  const parent: string[] = [];
  for (const name of FOLDERS_BESIDE_SANDBOX) {
    const oid = await decodedFolder(name);
    if (oid !== undefined) (ambiguous.has(name) ? parent : top).push(`040000 tree ${oid}\t${name}`);
  }
  if (parent.length > 0) top.push(`040000 tree ${await makeTree(git, parent)}\t..`);
  return makeTree(git, top);
}

/** The same tree with names as on disk. Only the directories in `withEncodedNames` have others. */
async function decodeTree(
  git: Git,
  tree: string,
  path: string,
  withEncodedNames: ReadonlySet<string>,
): Promise<string> {
  if (!withEncodedNames.has(path)) return tree;
  const lines: string[] = [];
  for (const entry of await listTree(git, tree)) {
    const { type, oid, path: name } = entry;
    const child = type === 'tree' ? await decodeTree(git, oid, `${path}/${name}`, withEncodedNames) : oid;
    lines.push(mktreeLine({ ...entry, oid: child, path: decodeName(name) }));
  }
  return makeTree(git, lines);
}

function mktreeLine({ mode, type, oid, path }: LsTreeEntry): string {
  return `${mode} ${type} ${oid}\t${path}`;
}

function makeTree(git: Git, lines: readonly string[]): Promise<string> {
  const input = Buffer.from(lines.map((line) => `${line}\0`).join(''), 'latin1');
  return gitText(git, ['mktree', '-z', '--missing'], { input });
}
