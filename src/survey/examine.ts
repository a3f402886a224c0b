/**
 * Compares many sandboxes with their branches at once: what differs, what a merge would do, what has come home already.
 * The number of git processes does not depend on the number of sandboxes.
 */
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import type { StatusEntry } from '../git/objects/status.ts';
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import { findApplied } from './applied.ts';
import type { GraphCommit } from './commit-graph.ts';
import { type CommitName, ScratchHistory } from './scratch-history.ts';

export interface DiffStat {
  readonly files: number;
  /** Lines; a binary file has none. */
  readonly insertions: number;
  readonly deletions: number;
}

export interface Work {
  readonly head: string;
  /** With its uncommitted files; undefined: the commit alone. */
  readonly sandbox?: { readonly path: string; readonly files: readonly StatusEntry[] } | undefined;
  /** The commit to compare with. */
  readonly base: string | undefined;
  /** Merge the sandbox into this commit. */
  readonly tip: string | undefined;
  /** Ask whether each of these has the commits already. */
  readonly homes: readonly Home[];
}

export interface Home {
  readonly tip: string;
  /** Where the commits of the two part; undefined if they have nothing in common. */
  readonly base: string | undefined;
  readonly ahead: readonly GraphCommit[];
  readonly behind: readonly GraphCommit[];
}

export interface Examined {
  /** Everything that differs from the base. */
  readonly diff: DiffStat | undefined;
  /** Undefined if nothing was merged. */
  readonly conflicts: boolean | undefined;
  readonly isMerged: boolean;
}

interface Named {
  readonly work: Work;
  readonly files: CommitName;
  readonly merge: CommitName | undefined;
  readonly homes: readonly { readonly home: Home; readonly merge: CommitName }[];
}

/** Undefined if git could not write the commits, such as in a repository that lacks objects. */
export function examine(scratch: ScratchObjects, works: readonly Work[]): Examined[] | undefined {
  const history = new ScratchHistory();
  const named = works.map((work) => addWork(history, work));
  if (!history.write(scratch, (works[0]?.head.length ?? 0) / 2)) return undefined;
  const { git } = scratch;
  const stats = diffStats(git, named, history);
  const merges = named.flatMap(({ merge }) => (merge === undefined ? [] : [history.oidOf(merge)]));
  const conflicting = conflictsIn(git, merges);
  const merged = mergedOf(git, named, history, stats.slice(named.length));
  return named.map((one, i) => ({
    diff: one.work.base === undefined ? undefined : stats[i],
    conflicts: one.merge === undefined ? undefined : conflicting?.has(history.oidOf(one.merge)),
    isMerged: merged.has(one),
  }));
}

function addWork(history: ScratchHistory, work: Work): Named {
  const { head, sandbox, tip, homes } = work;
  const files = sandbox === undefined ? head : history.addSandbox(head, sandbox.path, sandbox.files);
  return {
    work,
    files,
    merge: tip === undefined ? undefined : history.addMerge(tip, files),
    homes: homes.map((home) => ({ home, merge: history.addMerge(home.tip, head) })),
  };
}

const RAW = ['-r', '--no-renames', '--no-ext-diff', '--no-textconv'];

/** One for each sandbox: from the base. Then one for each home: from there to HEAD. */
function diffStats(git: Git, named: readonly Named[], history: ScratchHistory): DiffStat[] {
  const pairs = named.map(({ work, files }) => {
    const oid = history.oidOf(files);
    return `${oid} ${work.base ?? oid}\n`;
  });
  const ofHomes = named.flatMap(({ work, homes }) =>
    homes.map(({ home }) => `${work.head} ${home.base ?? work.head}\n`),
  );
  const args = ['diff-tree', '--stdin', '--always', '--numstat', '-z', ...RAW];
  const output =
    askGitSync(withoutIndex(git), args, { input: [...pairs, ...ofHomes].join('') })?.toString('latin1') ?? '';
  const stats: { files: number; insertions: number; deletions: number }[] = [];
  for (const field of output.split('\0')) {
    const counts = /^(\d+|-)\t(\d+|-)\t/.exec(field);
    const current = stats.at(-1);
    if (counts === null) {
      if (field !== '') stats.push({ files: 0, insertions: 0, deletions: 0 });
    } else if (current !== undefined) {
      current.files++;
      current.insertions += Number(counts[1]) || 0;
      current.deletions += Number(counts[2]) || 0;
    }
  }
  return stats;
}

/**
 * `git log --remerge-diff` merges the parents of each commit anew: many merges in one process. Returns what the commit
 * differs in from that, by commit; undefined if git failed.
 */
function remerge(git: Git, merges: readonly string[], options: readonly string[]) {
  if (merges.length === 0) return new Map();
  const args = [
    ...['log', '--no-walk=unsorted', '--stdin', '--remerge-diff', '--no-color', '--format=%x01%H'],
    ...['--no-show-signature', '--no-mailmap', '--no-notes', '--no-ext-diff', '--no-textconv'],
  ];
  const input = merges.map((oid) => `${oid}\n`).join('');
  const output = askGitSync(git, [...args, ...options], { input })?.toString('latin1');
  const parts = output?.split('\u0001').filter((part) => part !== '');
  const toPair = (part: string): [string, string] => {
    const end = part.indexOf('\n');
    return [part.slice(0, end), part.slice(end).trim()];
  };
  return parts && new Map(parts.map(toPair));
}

/** With a filter, git lists only the merges that have something to show: here those with conflicts. */
function conflictsIn(git: Git, merges: readonly string[]): ReadonlySet<string> | undefined {
  const found = remerge(git, merges, ['-p', '--diff-filter=U']);
  return found && new Set(found.keys());
}

/** The works whose commits one of their homes has already, in other words. */
function mergedOf(
  git: Git,
  named: readonly Named[],
  history: ScratchHistory,
  statsOfHomes: readonly DiffStat[],
): Set<Named> {
  const all = named.flatMap((one) =>
    one.homes.map(({ home, merge }) => ({ one, home, oid: history.oidOf(merge) })),
  );
  const merges = all.map(({ oid }) => oid);
  const changes = remerge(git, merges, ['--name-only']);
  // A merge of commits that cancel each other out changes nothing either, and proves nothing.
  const isIn = all.filter(({ oid }, i) => changes?.get(oid) === '' && statsOfHomes[i]?.files !== 0);
  const merged = new Set(isIn.map(({ one }) => one));
  const open = all.filter(({ one }) => !merged.has(one));
  const questions = open.map(({ one, home }) => ({ head: one.work.head, ...home }));
  for (const [i, isApplied] of findApplied(git, questions).entries())
    if (isApplied && open[i]) merged.add(open[i].one);
  return merged;
}
