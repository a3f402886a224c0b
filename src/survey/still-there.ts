/** Whether a branch that had the changes of a session has gone on with them, or has taken some of them back. */
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';

/**
 * Commits: the changes from `base` to `files`, and the branch at `tip`. No line that they took away is back, and each one
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

interface FileDiff {
  /** Only lines differ. */
  readonly isText: boolean;
  readonly hunks: readonly (readonly string[])[];
}

/** By the first line of each file. */
function readDiff(git: Git, from: string, to: string): Map<string, FileDiff> | undefined {
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
