/** The commits between many tips, read by one git, so that any two of the tips can be compared without git. */
import { asLines, type Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';

export interface GraphCommit {
  readonly oid: string;
  readonly parents: readonly string[];
  /** Time and address of the author: a rebase and a cherry-pick keep them. */
  readonly author: string;
}

/** Of a head with a tip. */
export interface Comparison {
  readonly tip: string;
  /** Where the two part; undefined if they have nothing in common. */
  readonly base: string | undefined;
  /** Commits that only the head has, newest first. */
  readonly ahead: readonly GraphCommit[];
  /** Commits that only the tip has. */
  readonly behind: readonly GraphCommit[];
}

export class CommitGraph {
  /** Children before their parents. */
  private readonly commits: readonly GraphCommit[];
  private readonly position: ReadonlyMap<string, number>;
  private readonly reached = new Map<string, Uint8Array>();

  private readonly git: Git;

  constructor(git: Git, commits: readonly GraphCommit[]) {
    this.git = git;
    this.commits = commits;
    this.position = new Map(commits.map(({ oid }, i) => [oid, i]));
  }

  compare(head: string, tip: string): Comparison {
    const [ofHead, ofTip] = [this.reach(head), this.reach(tip)];
    const only = (mine: Uint8Array, other: Uint8Array) =>
      this.commits.filter((_, i) => mine[i] === 1 && other[i] === 0);
    const base = this.mergeBase([head, ofHead], [tip, ofTip]);
    return { tip, base, ahead: only(ofHead, ofTip), behind: only(ofTip, ofHead) };
  }

  /** Time and address: the commits that this author wrote then. */
  byAuthor(author: string): string[] {
    return this.commits.flatMap((commit) => (commit.author === author ? commit.oid : []));
  }

  /** Whether the tip is the commit, or stands on it. */
  has(tip: string, commit: string): boolean {
    const at = this.position.get(commit);
    return at === undefined || this.reach(tip)[at] === 1;
  }

  /** Whether the tip has, in another form, all that it lacks of the commit: after a rebase. */
  hasCopy(tip: string, commit: string): boolean {
    const words = ['rev-list', '--max-count=1', '--cherry-pick', '--right-only', `${tip}...${commit}`, '--'];
    return askGitSync(this.git, words)?.length === 0;
  }

  parents(commit: string): readonly string[] {
    return this.commits[this.position.get(commit) ?? -1]?.parents ?? [];
  }

  /** 1 for each commit that the tip reaches. A tip outside of the graph is an ancestor of all others. */
  private reach(tip: string): Uint8Array {
    const known = this.reached.get(tip);
    if (known !== undefined) return known;
    const reached = new Uint8Array(this.commits.length);
    const start = this.position.get(tip);
    if (start !== undefined) reached[start] = 1;
    for (let i = start ?? this.commits.length; i < this.commits.length; i++) {
      if (reached[i] === 0) continue;
      for (const parent of this.commits[i]?.parents ?? []) {
        const at = this.position.get(parent);
        if (at !== undefined) reached[at] = 1;
      }
    }
    this.reached.set(tip, reached);
    return reached;
  }

  private mergeBase(
    [head, ofHead]: readonly [string, Uint8Array],
    [base, ofBase]: readonly [string, Uint8Array],
  ): string | undefined {
    if (!this.position.has(head)) return head;
    if (!this.position.has(base)) return base;
    const shared = this.commits.find((_, i) => ofHead[i] === 1 && ofBase[i] === 1);
    if (shared !== undefined) return shared.oid;
    const outside = this.outside(ofHead);
    return [...this.outside(ofBase)].find((oid) => outside.has(oid));
  }

  /** Parents that are not in the graph: all tips have them. */
  private outside(reached: Uint8Array): Set<string> {
    const parents = this.commits.flatMap((commit, i) => (reached[i] === 1 ? commit.parents : []));
    return new Set(parents.filter((oid) => !this.position.has(oid)));
  }
}

/** Two processes, however many tips there are. All tips are commits that exist. */
export function readCommitGraph(git: Git, tips: readonly string[]): CommitGraph {
  const distinct = [...new Set(tips)];
  if (distinct.length < 2) return new CommitGraph(git, []);
  const shared = askGitSync(git, ['merge-base', '--octopus', ...distinct])
    ?.toString()
    .trim();
  const input = asLines([...distinct, ...(shared === undefined ? [] : [`^${shared}`])]);
  const options = ['--topo-order', '--no-show-signature', '--no-mailmap', '--stdin'];
  const args = ['log', ...options, '--format=%H%x09%P%x09%at %ae'];
  const listed = askGitSync(git, args, { input })?.toString('latin1') ?? '';
  const lines = listed.split('\n').filter((line) => line !== '');
  return new CommitGraph(
    git,
    lines.map((line) => {
      const [oid = '', parents = '', author = ''] = line.split('\t');
      return { oid, parents: parents.split(' ').filter((name) => name !== ''), author };
    }),
  );
}
