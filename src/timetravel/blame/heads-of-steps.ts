/** Commits that HEAD left and got in the steps of a session. */
import { type Git, gitAnswer } from '../../git/run/git.ts';
import type { AuthoredHistory } from '../turns.ts';

export interface HeadsOfSteps {
  /**
   * The first step, counted from 0, at each of the commits that this HEAD no longer has below it: lines of their steps may
   * come back with it.
   */
  readonly dropped: (head: string | undefined) => readonly number[];
  /** The newest commits of the user branch that each step brought, as an agent's own merge or rebase does. */
  readonly arrived: readonly (readonly string[])[];
}

/** `head`: one that no step may know yet. `start`: the commit that the session began at. */
export async function readHeads(
  git: Git,
  { steps }: AuthoredHistory,
  { head, start }: { readonly head: string | undefined; readonly start: string },
): Promise<HeadsOfSteps> {
  const first = new Map<string, number>();
  for (const [i, { snapshot }] of steps.entries())
    if (snapshot.head !== undefined && !first.has(snapshot.head)) first.set(snapshot.head, i);
  first.delete(start);
  const heads = new Set([...first.keys(), ...(head === undefined ? [] : [head])]);
  if (heads.size === 0) return { dropped: () => [], arrived: [] };
  const branches = new Set(steps.flatMap(({ snapshot }) => snapshot.parents[1] ?? []));
  const ends = [...heads, ...branches, `^${start}`];
  const listed = await gitAnswer(git, ['rev-list', '--parents', '--ignore-missing', ...ends]);
  const parentsOf = new Map(
    listed?.split('\n').map((line) => {
      const [commit = '', ...parents] = line.split(' ');
      return [commit, parents];
    }),
  );
  const belowOf = (tip: string | undefined) => {
    const below = new Set(tip === undefined ? [] : [tip]);
    for (const commit of below) for (const parent of parentsOf.get(commit) ?? []) below.add(parent);
    return below;
  };
  const known = new Set<string>();
  const arrived = steps.map(({ snapshot }, i) => {
    if (snapshot.head === steps[i - 1]?.snapshot.head) return [];
    const added = [...belowOf(snapshot.head)].filter((one) => parentsOf.has(one) && !known.has(one));
    for (const commit of added) known.add(commit);
    const onBranch = added.length === 0 ? known : belowOf(snapshot.parents[1]);
    const others = added.filter((one) => onBranch.has(one));
    const inOthers = new Set(others.flatMap((commit) => parentsOf.get(commit) ?? []));
    return others.filter((commit) => !inOthers.has(commit));
  });
  const dropped = (head: string | undefined) => {
    const below = belowOf(head);
    return [...first].filter(([one]) => !below.has(one)).map(([, step]) => step);
  };
  return { dropped, arrived };
}
