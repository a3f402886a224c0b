/** The changes of many commits, as git-patch-id(1) names them, and their counts: one process for all. */
import { openHash } from '../git/objects/hash.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import { asLines, type Git } from '../git/run/git.ts';
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
  const input = asLines(pairs);
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

/**
 * Whether a branch that had changes has gone on with them, or has taken some back. Commits: the changes from `base` to
 * `files`, and the branch at `tip`. No line that they took away is back, and each one
 * that they brought is there, or another one is in its place. False in doubt, as for binary files.
 */
export function isStillThere(
  git: Git,
  { base, files, tip }: Record<'base' | 'files' | 'tip', string>,
): boolean {
  const [own, since] = [readDiff(git, base, files), readDiff(git, tip, files)];
  if (own === undefined || since === undefined) return false;
  return [...own].every(([name, change]) => {
    const other = since.get(name);
    if (other === undefined) return true;
    const lines = new Set(change.hunks.flat());
    const isFine = (hunk: readonly string[]) => {
      const [branch, session] = ['-', '+'].map((sign) => hunk.filter((line) => line.startsWith(sign)));
      if (branch?.some((line) => lines.has(line))) return false;
      return (branch?.length ?? 0) >= (session?.length ?? 0) || !session?.some((line) => lines.has(line));
    };
    return other.isText && other.hunks.every(isFine);
  });
}

/** By the first line of each file. `isText`: only lines differ. */
function readDiff(git: Git, from: string, to: string) {
  const options = ['--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];
  const words = ['diff-tree', '-r', '-p', '--unified=0', ...options, from, to];
  const parts = askGitSync(withoutIndex(git), words)
    ?.toString('latin1')
    .split(/^(?=diff )/m);
  return (
    parts &&
    new Map(
      parts.filter(Boolean).map((part) => {
        const [head = '', ...hunks] = part.split(/^@@ .*\n/m);
        const isText = hunks.length > 0 && !/^(old|new|deleted) /m.test(head);
        return [head.split('\n')[0] ?? '', { isText, hunks: hunks.map((hunk) => hunk.split('\n')) }];
      }),
    )
  );
}

export interface DiffStat {
  readonly files: number;
  /** Lines; a binary file has none. */
  readonly insertions: number;
  readonly deletions: number;
  /** There are more or larger uncommitted files than are read. */
  readonly in_part: boolean;
}

export const NO_DIFF: DiffStat = { files: 0, insertions: 0, deletions: 0, in_part: false };

const NUMSTAT = ['--numstat', '-z', '-r', '-M', '--no-ext-diff', '--no-textconv'];

/** `pairs`: lines for git diff-tree. `inPart`: of the first ones. */
export function countDiffs(git: Git, pairs: readonly string[], inPart: readonly boolean[] = []): DiffStat[] {
  const args = ['diff-tree', '--stdin', '--always', ...NUMSTAT];
  const output = askGitSync(withoutIndex(git), args, { input: pairs.join('') })?.toString('latin1') ?? '';
  const stats: { -readonly [N in keyof DiffStat]: DiffStat[N] }[] = [];
  const fields = output.split('\0').values();
  for (const field of fields) {
    const counts = /^(\d+|-)\t(\d+|-)\t/.exec(field);
    const current = stats.at(-1);
    if (counts === null) {
      const in_part = inPart[stats.length] === true;
      if (field !== '') stats.push({ files: 0, insertions: 0, deletions: 0, in_part });
    } else if (current !== undefined) {
      current.files++;
      current.insertions += Number(counts[1]) || 0;
      current.deletions += Number(counts[2]) || 0;
      if (counts[0] !== field) continue;
      fields.next(); // of a rename: the old name is a field of its own, as the new one
      fields.next();
    }
  }
  return stats;
}
