/**
 * A session folder's tree as the agent knows it: the sandbox's files at the top, the other folders beside them, names as
 * they are on disk. Such a tree may hold what no repository may, and is therefore only ever made of scratch objects.
 */

import { pathFromJson } from '../../disk/path-bytes.ts';
import { type LsTreeEntry, listTree } from '../../git/objects/ls-tree.ts';
import { type Git, gitText, resolveObject } from '../../git/run/git.ts';
import { parentDirectories } from '../../snapshot/directories.ts';
import { decodeName, encodePath } from '../../snapshot/tree-names.ts';
import { type Namesakes, OTHER_FOLDERS } from '../agent-paths.ts';
import type { Side } from './sides.ts';

/** `git` writes scratch objects; `tops` are the folders that are wanted. */
export async function agentTree(
  git: Git,
  side: Side,
  namesakes: Namesakes,
  tops: readonly string[],
): Promise<string> {
  const encoded = (side.manifest?.encoded ?? []).map((path) => encodePath(pathFromJson(path)));
  const touched = new Set(encoded.flatMap(parentDirectories));
  const folder = async (name: string) => {
    const tree = await resolveObject(git, `${side.tree}:${name}`);
    return tree === undefined || !tops.includes(name) ? undefined : decoded(git, tree, name, touched);
  };
  const sandbox = await folder('sandbox');
  const lines = sandbox === undefined ? [] : (await listTree(git, sandbox)).map(lineOf);
  const hidden: string[] = []; // beside a namesake
  for (const name of OTHER_FOLDERS) {
    const tree = await folder(name);
    if (tree !== undefined) (namesakes.has(name) ? hidden : lines).push(`040000 tree ${tree}\t${name}`);
  }
  if (hidden.length > 0) lines.push(`040000 tree ${await makeTree(git, hidden)}\t..`);
  return makeTree(git, lines);
}

async function decoded(git: Git, tree: string, path: string, touched: ReadonlySet<string>): Promise<string> {
  if (!touched.has(path)) return tree;
  const lines: string[] = [];
  for (const entry of await listTree(git, tree)) {
    const { type, oid, path: name } = entry;
    const child = type === 'tree' ? await decoded(git, oid, `${path}/${name}`, touched) : oid;
    lines.push(lineOf({ ...entry, oid: child, path: decodeName(name) }));
  }
  return makeTree(git, lines);
}

/** As `git mktree` reads it. */
function lineOf({ mode, type, oid, path }: LsTreeEntry): string {
  return `${mode} ${type} ${oid}\t${path}`;
}

function makeTree(git: Git, lines: readonly string[]): Promise<string> {
  const input = Buffer.from(lines.map((line) => `${line}\0`).join(''), 'latin1');
  return gitText(git, ['mktree', '-z', '--missing'], { input });
}
