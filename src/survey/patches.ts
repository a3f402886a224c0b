/** The changes of many commits as git-patch-id(1) names them: one process for all. */
import { openHash } from '../git/objects/hash.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';

export interface Patch {
  /** The same for two commits that change the same lines. */
  readonly id: string;
  /** A line for each file. */
  readonly files: ReadonlySet<string>;
}

/**
 * By pair: a commit and the one that it is compared with, as `git diff-tree --stdin` reads them. A commit that changes
 * nothing has no patch. Undefined if git failed.
 */
export function readPatches(git: Git, pairs: readonly string[]): Map<string, Patch> | undefined {
  const args = ['diff-tree', '--stdin', '--always', '-r', '-p', '--full-index', '--no-renames'];
  const options = ['--no-ext-diff', '--no-textconv', '--no-color'];
  const input = pairs.map((pair) => `${pair}\n`).join('');
  const output = askGitSync(withoutIndex(git), [...args, ...options], { input })?.toString('latin1');
  if (output === undefined) return undefined;
  const texts = output.split(/^(?=[0-9a-f]{40}(?:[0-9a-f]{24})?\n)/m);
  const patches = new Map<string, Patch>();
  for (const [i, pair] of pairs.entries()) {
    const patch = parsePatch(texts[i] ?? '');
    if (patch !== undefined) patches.set(pair, patch);
  }
  return patches;
}

/** `git diff-tree` compares the other way round. */
export function inverseOf(pair: string): string {
  return pair.split(' ').reverse().join(' ');
}

/** Without the names of blobs, the numbers of lines and spaces; undefined for a commit that changes nothing. */
function parsePatch(text: string): Patch | undefined {
  const lines = text
    .split('\n')
    .slice(1)
    .filter((line) => line !== '');
  if (lines.length === 0) return undefined;
  const hash = openHash('sha1');
  for (const line of lines) {
    // For a binary file the names of the blobs are all that there is.
    if (line.startsWith('index ') && !text.includes('\nBinary files ')) continue;
    if (line.startsWith('@@ ')) hash.update('@@\n');
    else hash.update(`${line.replace(/\s/g, '')}\n`);
  }
  return { id: hash.digest(), files: new Set(lines.filter((line) => line.startsWith('diff '))) };
}
