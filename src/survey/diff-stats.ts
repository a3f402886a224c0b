/** Counts of many diffs, by one git. */
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';

export interface DiffStat {
  readonly files: number;
  /** Lines; a binary file has none. */
  readonly insertions: number;
  readonly deletions: number;
  /** There are more or larger uncommitted files than are read. */
  readonly in_part: boolean;
}

const NUMSTAT = ['--numstat', '-z', '-r', '-M', '--no-ext-diff', '--no-textconv'];

/** `pairs`: lines for git diff-tree. `inPart`: of the first ones. */
export function countDiffs(git: Git, pairs: readonly string[], inPart: readonly boolean[]): DiffStat[] {
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
