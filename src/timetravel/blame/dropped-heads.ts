/** Commits that a rebase, an amend or a reset has left: lines of their steps may come back with it. */
import { type Git, gitAnswer } from '../../git/run/git.ts';
import type { AuthoredHistory } from '../turns.ts';

/** The first step at each of the commits that this HEAD no longer has below it; counted from 0. */
export type DroppedBy = (head: string | undefined) => readonly number[];

/** `head`: one that no step may know yet. `start`: the commit that the session began at. */
export async function droppedHeads(
  git: Git,
  { steps }: AuthoredHistory,
  { head, start }: { readonly head: string | undefined; readonly start: string },
): Promise<DroppedBy> {
  const first = new Map<string, number>();
  for (const [i, { snapshot }] of steps.entries())
    if (snapshot.head !== undefined && !first.has(snapshot.head)) first.set(snapshot.head, i);
  first.delete(start);
  const heads = new Set([...first.keys(), ...(head === undefined ? [] : [head])]);
  if (heads.size < 2) return () => [];
  const listed = await gitAnswer(git, ['rev-list', '--parents', ...heads, `^${start}`]);
  const parents = new Map(
    listed?.split('\n').map((line) => {
      const [commit = '', ...rest] = line.split(' ');
      return [commit, rest];
    }),
  );
  return (head) => {
    const below = new Set(head === undefined ? [] : [head]);
    for (const commit of below) for (const parent of parents.get(commit) ?? []) below.add(parent);
    return [...first].filter(([one]) => !below.has(one)).map(([, step]) => step);
  };
}
