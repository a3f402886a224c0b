/**
 * Whether a branch has the commits of another one as copies: each of them, as a rebase or a cherry-pick leaves them, or
 * all together as one, as a squash leaves them. Two commits are copies if they change the same lines (git-patch-id(1)).
 */
import { openHash } from '../git/objects/hash.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { Git } from '../git/run/git.ts';
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
    ...new Set(plans.flatMap(({ copies, squash, single }) => [...copies, ...squash, ...single])),
  ];
  if (pairs.length === 0) return questions.map(() => false);
  const ids = patchIds(git, pairs);
  if (ids === undefined) return undefined;
  return plans.map(({ copies, candidates, squash, single }) => {
    const has = (from: readonly string[], pair: string) => {
      const id = ids.get(pair);
      return id !== undefined && from.some((other) => ids.get(other) === id);
    };
    const isRebased = copies.length > 0 && copies.every((pair) => has(candidates, pair));
    return isRebased || single.some((pair) => has(squash, pair));
  });
}

/** Commits with the one that each is compared with, as `git diff-tree --stdin` reads them. */
function plan({ head, base, ahead, behind }: Question) {
  const pair = ({ oid, parents }: GraphCommit) => `${oid} ${parents[0] ?? ''}`;
  const ownBehind = behind.filter(({ parents }) => parents.length === 1);
  const own = ahead.filter(({ parents }) => parents.length === 1);
  // A copy has the author and the author's date of the original.
  const authors = new Set(own.map(({ author }) => author));
  const candidates = ownBehind.filter(({ author }) => authors.has(author));
  const mayBeRebased = own.every(({ author }) => candidates.some((other) => other.author === author));
  const squash = base === undefined ? [] : ownBehind.slice(0, SQUASHES);
  return {
    copies: mayBeRebased ? own.map(pair) : [],
    candidates: candidates.map(pair),
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
