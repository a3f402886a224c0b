/**
 * Compares many sandboxes with their branches at once: what differs, what a merge would do, what has come home already.
 * The number of git processes does not depend on the number of sandboxes.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { layOutAttributes } from '../git/objects/attributes.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import type { StatusEntry } from '../git/objects/status.ts';
import { readGitConfig } from '../git/run/config.ts';
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { Repository } from '../repository/repository.ts';
import { findApplied } from './applied.ts';
import type { GraphCommit } from './commit-graph.ts';
import { convertedBlobs } from './converted-files.ts';
import { type KnownMerges, openKnownMerges } from './known-merges.ts';
import { type CommitName, ScratchHistory } from './scratch-history.ts';

export interface DiffStat {
  readonly files: number;
  /** Lines; a binary file has none. */
  readonly insertions: number;
  readonly deletions: number;
  /** There are more untracked files than are read. */
  readonly in_part: boolean;
}

interface Sandbox {
  readonly path: string;
  readonly files: readonly StatusEntry[];
}

export interface Work {
  readonly head: string;
  /** With its uncommitted files; undefined: the commit alone. */
  readonly sandbox?: Sandbox | undefined;
  /** The commit to compare with. */
  readonly base: string | undefined;
  /** Merge the sandbox into this commit. */
  readonly tip: string | undefined;
  /** The work that the branch has already: the base of that merge. */
  readonly landed?: string | undefined;
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
  /** The branch has all of the sandbox, uncommitted files included: the merge would change nothing. */
  readonly isEmpty: boolean;
  /** A home has the commits. */
  readonly isMerged: boolean;
}

interface Named {
  readonly work: Work;
  readonly isInPart: boolean;
  readonly files: CommitName;
  readonly merge: CommitName | undefined;
  readonly homes: readonly { readonly home: Home; readonly merge: CommitName }[];
}

/** A scratch commit that merges something into a branch whose tip is `into`. */
interface Merge {
  readonly into: string;
  readonly oid: string;
}

/** Undefined if git could not write the commits, such as in a repository that lacks objects. */
export async function examine(
  { agtDir, commonDir }: Repository,
  scratch: ScratchObjects,
  works: readonly Work[],
): Promise<Examined[] | undefined> {
  const history = new ScratchHistory();
  const config = await readGitConfig(scratch.git);
  const named = works.map((work) => {
    const sandbox = work.sandbox && worthReading(work.sandbox);
    const converted = sandbox && convertedBlobs(scratch.git, commonDir, sandbox, config);
    return addWork(history, work, sandbox, converted);
  });
  if (!history.write(scratch, (works[0]?.head.length ?? 0) / 2)) return undefined;
  const { git } = scratch;
  const stats = diffStats(git, named, history);
  const merger = new Merger(scratch, commonDir);
  const known = openKnownMerges(agtDir, commonDir, merger.git, config);
  const merges = named.flatMap(({ merge, work: { tip = '' } }) =>
    merge === undefined ? [] : [{ into: tip, oid: history.oidOf(merge) }],
  );
  await tryMerges(merger, known, merges);
  const merged = await mergedOf(merger, known, named, history, stats.slice(named.length));
  known.save();
  return named.map((one, i) => {
    const oid = one.merge && history.oidOf(one.merge);
    const changesFiles = !one.isInPart && stats[i]?.files !== 0;
    return {
      diff: one.work.base === undefined ? undefined : stats[i],
      conflicts: oid === undefined ? undefined : known.get('conflicts', oid),
      isEmpty: changesFiles && oid !== undefined && known.get('empty', oid) === true,
      isMerged: merged.has(one),
    };
  });
}

/** So many untracked files are a directory that nobody has ignored yet. A listing reads no more of them. */
const MOST_UNTRACKED = 2000;

function worthReading(sandbox: Sandbox): Sandbox {
  let untracked = 0;
  const files = sandbox.files.filter(({ kind }) => kind !== 'untracked' || untracked++ < MOST_UNTRACKED);
  return { ...sandbox, files };
}

function addWork(
  history: ScratchHistory,
  work: Work,
  sandbox: Sandbox | undefined,
  converted: ReadonlyMap<string, string> = new Map(),
): Named {
  const { head, tip, landed, homes } = work;
  const files = sandbox === undefined ? head : history.addSandbox(head, { ...sandbox, converted });
  const withParent = (commit: CommitName) =>
    landed === undefined ? commit : history.addMerge(commit, landed);
  return {
    work,
    isInPart: sandbox?.files.length !== work.sandbox?.files.length,
    files,
    merge: tip && history.addMerge(withParent(tip), withParent(files)),
    homes: homes.map((home) => ({ home, merge: history.addMerge(home.tip, head) })),
  };
}

const NUMSTAT = ['--numstat', '-z', '-r', '-M', '--no-ext-diff', '--no-textconv'];

/** One for each sandbox: from the base. Then one for each home: from there to HEAD. */
function diffStats(git: Git, named: readonly Named[], history: ScratchHistory): DiffStat[] {
  const pairs = named.map(({ work, files }) => {
    const oid = history.oidOf(files);
    return `${oid} ${work.base ?? oid}\n`;
  });
  const ofHomes = named.flatMap(({ work, homes }) =>
    homes.map(({ home }) => `${work.head} ${home.base ?? work.head}\n`),
  );
  const args = ['diff-tree', '--stdin', '--always', ...NUMSTAT];
  const output =
    askGitSync(withoutIndex(git), args, { input: [...pairs, ...ofHomes].join('') })?.toString('latin1') ?? '';
  const stats: { files: number; insertions: number; deletions: number; in_part: boolean }[] = [];
  const fields = output.split('\0').values();
  for (const field of fields) {
    const counts = /^(\d+|-)\t(\d+|-)\t/.exec(field);
    const current = stats.at(-1);
    if (counts === null) {
      const in_part = named[stats.length]?.isInPart === true;
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

/** Merges as `agt accept` does: in a work tree that has the attributes of the branch, and nothing else. */
class Merger {
  /** In such a work tree without any attributes. */
  readonly git: Git;
  private readonly places = new Map<string, Git>();
  private readonly scratch: ScratchObjects;
  private readonly commonDir: string;

  constructor(scratch: ScratchObjects, commonDir: string) {
    this.scratch = scratch;
    this.commonDir = commonDir;
    this.git = this.place('none');
  }

  /**
   * `git log --remerge-diff` merges the parents of each commit anew: many merges in one process, one for each branch.
   * Returns what the commit differs in from that, by commit; undefined if git failed.
   */
  async remerge(merges: readonly Merge[]) {
    const args = [
      ...['log', '--no-walk=unsorted', '--stdin', '--remerge-diff', '--no-color', '--format=%x01%H'],
      ...['--no-show-signature', '--no-mailmap', '--no-notes', '--name-only'],
    ];
    const found = new Map<string, string>();
    for (const [into, some] of Map.groupBy(merges, (merge) => merge.into)) {
      const input = some.map(({ oid }) => `${oid}\n`).join('');
      const git = await this.onBranch(into);
      const output = askGitSync(git, args, { input })?.toString('latin1');
      if (output === undefined) return undefined;
      for (const part of output.split('\u0001').filter((text) => text !== '')) {
        const end = part.indexOf('\n');
        found.set(part.slice(0, end), part.slice(end).trim());
      }
    }
    return found;
  }

  /** Whether each merge has conflicts or changes nothing, as `agt accept` asks. `git log` leaves out some kinds. */
  async try(merges: readonly Merge[], tell: (oid: string, conflicts: boolean, isEmpty: boolean) => void) {
    const args = ['merge-tree', '--write-tree', '--stdin', '--name-only', '--no-messages'];
    for (const [into, some] of Map.groupBy(merges, (merge) => merge.into)) {
      const input = some.map(({ oid }) => `${oid}^1 ${oid}^2\n`).join('');
      // The first merge, of the branch with itself, names its tree.
      const asked = `${into} ${into}\n${input}`;
      const output = askGitSync(await this.onBranch(into), args, { input: asked })?.toString('latin1');
      const fields = output?.split('\0') ?? [];
      const next = () => fields.splice(0, fields.indexOf('') + 1);
      const [, own] = next();
      for (const { oid } of output === undefined ? [] : some) {
        const [isClean, tree] = next();
        tell(oid, isClean === '0', isClean === '1' && tree === own);
      }
    }
  }

  private async onBranch(tip: string): Promise<Git> {
    const known = this.places.get(tip);
    if (known !== undefined) return known;
    const git = this.place(tip);
    this.places.set(tip, git);
    await layOutAttributes(git, tip);
    return git;
  }

  private place(name: string): Git {
    const { git, dir } = this.scratch;
    const [tree, index] = [join(dir, `tree-${name}`), join(dir, `index-${name}`)];
    mkdirSync(tree);
    const own = { GIT_DIR: this.commonDir, GIT_WORK_TREE: tree, GIT_INDEX_FILE: index };
    return { ...git, cwd: tree, env: { ...git.env, ...own } };
  }
}

function tryMerges(merger: Merger, known: KnownMerges, merges: readonly Merge[]): Promise<void> {
  const unknown = merges.filter(({ oid }) => known.get('empty', oid) === undefined);
  return merger.try(unknown, (oid, conflicts, isEmpty) => {
    known.add('conflicts', oid, conflicts);
    known.add('empty', oid, isEmpty);
  });
}

/** The works whose commits one of their homes has already, in other words. */
async function mergedOf(
  merger: Merger,
  known: KnownMerges,
  named: readonly Named[],
  history: ScratchHistory,
  statsOfHomes: readonly DiffStat[],
): Promise<Set<Named>> {
  const all = named
    .flatMap((one) => one.homes.map(({ home, merge }) => ({ one, home, oid: history.oidOf(merge) })))
    .map((asked, i) => ({ ...asked, into: asked.home.tip, changesFiles: statsOfHomes[i]?.files !== 0 }));
  const unknown = all.filter(({ oid }) => known.get('merged', oid) === undefined);
  const changes = await merger.remerge(unknown);
  // A merge of commits that cancel each other out changes nothing either, and proves nothing.
  const isIn = (asked: (typeof all)[number]) => changes?.get(asked.oid) === '' && asked.changesFiles;
  const open = unknown.filter((asked) => !isIn(asked));
  const applied = findApplied(
    merger.git,
    open.map(({ one, home }) => ({ head: one.work.head, ...home })),
  );
  const isApplied = new Map(open.map((asked, i) => [asked, applied?.[i] === true]));
  const answers = new Map(all.map((asked) => [asked, known.get('merged', asked.oid)]));
  for (const asked of unknown) {
    const answer = isIn(asked) || isApplied.get(asked) === true;
    answers.set(asked, answer);
    if (changes !== undefined && applied !== undefined) known.add('merged', asked.oid, answer);
  }
  return new Set(all.flatMap((asked) => (answers.get(asked) === true ? [asked.one] : [])));
}
