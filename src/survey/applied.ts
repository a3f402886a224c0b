/**
 * Whether a branch has the commits of another one as copies: each of them, as a rebase or a cherry-pick leaves them, or
 * all together as one, as a squash leaves them. Two commits are copies if they change the same lines (git-patch-id(1)).
 */
import { diffTrees } from '../git/objects/raw-diff.ts';
import { type Git, gitText } from '../git/run/git.ts';
import type { Comparison, GraphCommit } from './commit-graph.ts';
import { inverseOf, isStillThere, readPatches } from './patches.ts';
import { ENTRIES, findReverts, parseEntries } from './reverts.ts';

type Question = Comparison & { readonly head: string };

/** How many commits of the branch agt compares with a squash, the newest ones: each needs a diff. */
const SQUASHES = 100;

/** One process for all. Undefined if git failed. `joined`: by merge, the tree that git makes of its sides. */
export function findApplied(
  git: Git,
  questions: readonly Question[],
  joined: ReadonlyMap<string, string> = new Map(),
): boolean[] | undefined {
  const plans = questions.map(plan);
  const pairs = [
    ...new Set(
      plans.flatMap(({ copies, candidates, squash, single }) => [
        ...[...copies, ...single].flatMap((pair) => [pair, inverseOf(pair)]),
        ...candidates,
        ...squash,
      ]),
    ),
  ];
  if (pairs.length === 0) return questions.map(() => false);
  const ids = readPatches(git, pairs);
  if (ids === undefined) return undefined;
  return plans.map(({ tip, ahead, copies, candidates, squash, single }) => {
    const copyOf = (from: readonly string[], pair: string) => {
      const [id, inverse] = [ids.get(pair)?.id, ids.get(inverseOf(pair))?.id];
      const isIt = (other: string | undefined) => other !== undefined && (other === id || other === inverse);
      const newest = from.find((other) => isIt(ids.get(other)?.id));
      return id !== undefined && newest && ids.get(newest)?.id === id ? newest.split(' ')[0] : undefined;
    };
    const stand = (found: readonly (string | undefined)[]) => {
      const commits = found.filter((one) => one !== undefined);
      if (commits.length < Math.max(found.length, 1)) return false;
      const revertedBy = findReverts(git, tip, commits);
      return commits.every((commit) => revertedBy(commit) === undefined);
    };
    // A merge may have more than its sides, which no copy has.
    const isThere = ({ oid }: GraphCommit) =>
      isStillThere(git, { base: joined.get(oid) ?? oid, files: oid, tip });
    return (
      stand(single.map((pair) => copyOf(squash, pair))) ||
      (stand(copies.map((pair) => copyOf(candidates, pair))) && ahead.filter(isMerge).every(isThere))
    );
  });
}

/** Whether a branch has taken a commit of its own back: by `git revert`, or by a commit that is its inverse. */
export async function isTakenBack(git: Git, commit: string, tip: string): Promise<boolean> {
  const [change] = commit === tip ? [] : await diffTrees(git, `${commit}^`, commit);
  if (change === undefined) return false;
  // A commit that takes it back changes each of its paths.
  const path = `:(literal)${Buffer.from(change.path, 'latin1')}`;
  const options = ['--no-show-signature', '--no-mailmap', '--reverse', '--topo-order', '--full-history'];
  // A sync joins it with commits of the session that came before.
  const args = [
    'log',
    ...options,
    `--ancestry-path=${commit}`,
    ...ENTRIES,
    tip,
    '--not',
    `${commit}^@`,
    '--',
    path,
  ];
  const [own, ...others] = parseEntries(git, await gitText(git, args)).map(({ parents, ...entry }) => {
    const pair = [entry.oid, ...parents.slice(0, 1)].join(' ');
    return { ...entry, pair, isMerge: parents.length > 1 };
  });
  const later = others.filter(({ isMerge }) => !isMerge);
  if (own === undefined || own.oid !== commit) return false;
  const inverse = inverseOf(own.pair);
  const ids = readPatches(git, [inverse, own.pair, ...later.map(({ pair }) => pair)]);
  const back = new Set<string | undefined>();
  let isBack = false;
  for (const { pair, oid, reverts } of later) {
    const id = ids?.get(pair)?.id;
    if (reverts.includes(commit) || (id !== undefined && id === ids?.get(inverse)?.id)) back.add(oid);
    else if (!reverts.some((other) => back.has(other)) && id !== ids?.get(own.pair)?.id) continue;
    isBack = back.has(oid);
  }
  return isBack;
}

export const isMerge = ({ parents }: GraphCommit) => parents.length > 1;

/** Commits with the one that each is compared with, as `git diff-tree --stdin` reads them. */
function plan({ head, tip, base, ahead, behind }: Question) {
  const pair = ({ oid, parents }: GraphCommit) => `${oid} ${parents[0] ?? ''}`;
  const ownBehind = behind.filter(({ parents }) => parents.length === 1);
  const own = ahead.filter(({ parents }) => parents.length === 1);
  // A copy has the author and the author's date of the original.
  const authors = new Set(own.map(({ author }) => author));
  const mayBeRebased = own.every(({ author }) => ownBehind.some((other) => other.author === author));
  // The newest ones may take a copy back.
  const candidates = ownBehind.filter(({ author }, i) => authors.has(author) || i < SQUASHES);
  const squash = base === undefined ? [] : ownBehind.slice(0, SQUASHES);
  return {
    tip,
    ahead,
    copies: mayBeRebased ? own.map(pair) : [],
    candidates: mayBeRebased ? candidates.map(pair) : [],
    squash: squash.map(pair),
    single: squash.length === 0 ? [] : [`${head} ${base}`],
  };
}
