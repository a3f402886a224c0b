/**
 * Whether a branch has the commits of another one as copies: each of them, as a rebase or a cherry-pick leaves them, or
 * all together as one, as a squash leaves them. Two commits are copies if they change the same lines (git-patch-id(1)).
 */
import { openHash } from '../git/objects/hash.ts';
import { diffTrees } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import { type Git, gitText } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { GraphCommit } from './commit-graph.ts';

interface Question {
  readonly head: string;
  /** The commit at which the two part. */
  readonly base: string | undefined;
  readonly ahead: readonly GraphCommit[];
  readonly behind: readonly GraphCommit[];
}

/** How many commits of the branch agt compares with a squash, the newest ones: each needs a diff. */
const SQUASHES = 100;

/** One process for all. Undefined if git failed. */
export function findApplied(git: Git, questions: readonly Question[]): boolean[] | undefined {
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
  const ids = patchIds(git, pairs);
  if (ids === undefined) return undefined;
  return plans.map(({ copies, candidates, squash, single }) => {
    const has = (from: readonly string[], pair: string) => {
      const [id, inverse] = [ids.get(pair), ids.get(inverseOf(pair))];
      const newest = from.map((other) => ids.get(other)).find((other) => other === id || other === inverse);
      return id !== undefined && newest === id;
    };
    const isRebased = copies.length > 0 && copies.every((pair) => has(candidates, pair));
    return isRebased || single.some((pair) => has(squash, pair));
  });
}

/** Whether a branch has taken a commit of its own back: by `git revert`, or by a commit that is its inverse. */
export async function isTakenBack(git: Git, commit: string, tip: string): Promise<boolean> {
  const [change] = commit === tip ? [] : await diffTrees(git, `${commit}^`, commit);
  if (change === undefined) return false;
  // A commit that takes it back changes each of its paths.
  const path = `:(literal)${Buffer.from(change.path, 'latin1')}`;
  const options = ['--no-show-signature', '--reverse', '--full-history', '-z'];
  const args = ['log', ...options, '--format=%H %P%n%B', tip, '--not', `${commit}^@`, '--', path];
  const [own, ...others] = (await gitText(git, args)).split('\0').map((entry) => {
    const [line = '', ...message] = entry.split('\n');
    const [oid, ...parents] = line.split(' ');
    const reverts = [...message.join('\n').matchAll(/^This reverts commit ([0-9a-f]+)/gm)];
    const pair = [oid, ...parents.slice(0, 1)].join(' ');
    return { pair, oid, isMerge: parents.length > 1, reverts: reverts.map((match) => match[1]) };
  });
  const later = others.filter(({ isMerge }) => !isMerge);
  if (own === undefined || own.oid !== commit) return false;
  const inverse = inverseOf(own.pair);
  const ids = patchIds(git, [inverse, own.pair, ...later.map(({ pair }) => pair)]);
  const back = new Set<string | undefined>();
  let isBack = false;
  for (const { pair, oid, reverts } of later) {
    const id = ids?.get(pair);
    if (reverts.includes(commit) || (id !== undefined && id === ids?.get(inverse))) back.add(oid);
    else if (!reverts.some((other) => back.has(other)) && id !== ids?.get(own.pair)) continue;
    isBack = back.has(oid);
  }
  return isBack;
}

/** `git diff-tree` compares the other way round. */
function inverseOf(pair: string): string {
  return pair.split(' ').reverse().join(' ');
}

/** Commits with the one that each is compared with, as `git diff-tree --stdin` reads them. */
function plan({ head, base, ahead, behind }: Question) {
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
    copies: mayBeRebased ? own.map(pair) : [],
    candidates: mayBeRebased ? candidates.map(pair) : [],
    squash: squash.map(pair),
    single: squash.length === 0 ? [] : [`${head} ${base}`],
  };
}

function patchIds(git: Git, pairs: readonly string[]): Map<string, string> | undefined {
  const args = ['diff-tree', '--stdin', '--always', '-r', '-p', '--full-index', '--no-renames'];
  const options = ['--no-ext-diff', '--no-textconv', '--no-color'];
  const input = pairs.map((pair) => `${pair}\n`).join('');
  const output = askGitSync(withoutIndex(git), [...args, ...options], { input })?.toString('latin1');
  if (output === undefined) return undefined;
  const patches = output.split(/^(?=[0-9a-f]{40}(?:[0-9a-f]{24})?\n)/m);
  const ids = new Map<string, string>();
  for (const [i, pair] of pairs.entries()) {
    const id = patchId(patches[i] ?? '');
    if (id !== undefined) ids.set(pair, id);
  }
  return ids;
}

/** Without the names of blobs, the numbers of lines and spaces; undefined for a commit that changes nothing. */
function patchId(patch: string): string | undefined {
  const lines = patch
    .split('\n')
    .slice(1)
    .filter((line) => line !== '');
  if (lines.length === 0) return undefined;
  const hash = openHash('sha1');
  for (const line of lines) {
    // For a binary file the names of the blobs are all that there is.
    if (line.startsWith('index ') && !patch.includes('\nBinary files ')) continue;
    if (line.startsWith('@@ ')) hash.update('@@\n');
    else hash.update(`${line.replace(/\s/g, '')}\n`);
  }
  return hash.digest();
}
