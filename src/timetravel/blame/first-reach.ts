/** Which of several commits, in their order, is the first to have a commit below it. */
import { asLines, type Git, gitText } from '../../git/run/git.ts';

/** By commit. `ends`: as rev-list takes them. */
export async function readParents(git: Git, ends: readonly string[]): Promise<Map<string, string[]>> {
  const words = ['rev-list', '--parents', '--ignore-missing', '--stdin'];
  const listed = await gitText(git, words, { input: asLines(ends) });
  const rows = listed.split('\n').map((line) => line.split(' '));
  return new Map(rows.map(([commit = '', ...parents]) => [commit, parents]));
}

/** By commit: the number of that one, counted from 0. Without those that `not` has. */
export async function firstReach(
  git: Git,
  tips: readonly (string | undefined)[],
  not: string | undefined,
): Promise<ReadonlyMap<string, number>> {
  const known = new Set(tips.filter((tip) => tip !== undefined));
  const parents = await readParents(git, [...known, ...(not === undefined ? [] : [`^${not}`])]);
  const reached = new Map<string, number>();
  for (const [i, tip] of tips.entries()) {
    const open = tip === undefined ? [] : [tip];
    for (let commit = open.pop(); commit !== undefined; commit = open.pop()) {
      if (reached.has(commit) || !parents.has(commit)) continue;
      reached.set(commit, i);
      open.push(...(parents.get(commit) ?? []));
    }
  }
  return reached;
}
