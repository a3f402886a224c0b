/** Lists the objects that are reachable from refs or commits, and measures them on disk. */
import { type Git, gitBytes } from '../run/git.ts';

/** In a partial clone git neither lists nor fetches objects that a promisor has. Elsewhere that option has no effect. */
const LIST_OBJECTS = ['rev-list', '--objects', '--no-object-names', '--exclude-promisor-objects'];

/**
 * Objects that are reachable from `roots` (names of objects or refs, also of trees) and not from `others`. git compares
 * with the trees and files of `others` only where the two histories meet. The list may therefore hold a file that only an
 * old commit of `others` has, too. Names that another process has just deleted do not count.
 */
export async function reachableObjects(
  git: Git,
  roots: readonly string[],
  others: readonly string[] = [],
): Promise<string[]> {
  if (roots.length === 0) return [];
  const input = [...roots, ...others.map((name) => `^${name}`)].map((name) => `${name}\n`).join('');
  const listed = await gitBytes(git, [...LIST_OBJECTS, '--ignore-missing', '--stdin'], { input });
  return splitLines(listed);
}

/** Bytes that each object takes on disk: compressed, and as a delta if git stores it so. */
export async function sizesOnDisk(git: Git, oids: readonly string[]): Promise<number[]> {
  if (oids.length === 0) return [];
  const input = oids.map((oid) => `${oid}\n`).join('');
  const answers = await gitBytes(git, ['cat-file', '--batch-check=%(objectsize:disk)', '--buffer'], {
    input,
  });
  return splitLines(answers).map((answer) => Number(answer) || 0);
}

function splitLines(output: Buffer): string[] {
  const text = output.toString('latin1');
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** The roots from which `git prune` keeps objects: refs, reflogs, indexes and the HEADs of all worktrees. */
const EVERYTHING = ['--all', '--reflog', '--indexed-objects'];

/** Calls `visit` with the binary name of every object that git would keep. It does not hold the list in memory. */
export async function visitReachable(git: Git, visit: (name: Buffer) => void): Promise<void> {
  let incomplete = '';
  const onOutput = (chunk: Buffer) => {
    const lines = (incomplete + chunk.toString('latin1')).split('\n');
    incomplete = lines.pop() ?? '';
    for (const line of lines) visit(Buffer.from(line, 'hex'));
  };
  await gitBytes(git, [...LIST_OBJECTS, ...EVERYTHING], { onOutput });
}
