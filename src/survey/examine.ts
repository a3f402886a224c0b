/**
 * Compares many sandboxes with their branches at once: what differs, what a merge would do, what has come home already.
 * The number of git processes does not depend on the number of sandboxes.
 */
import { errorCode } from '../errors.ts';
import { isPartialClone } from '../git/objects/object-store.ts';
import type { IndexEdit } from '../git/objects/scratch-index.ts';
import { type ScratchObjects, withScratchObjects } from '../git/objects/scratch-objects.ts';
import type { StatusEntry } from '../git/objects/status.ts';
import { readGitConfig } from '../git/run/config.ts';
import type { Git } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { findApplied, isMerge } from './applied.ts';
import type { Comparison } from './commit-graph.ts';
import { type KnownMerges, openKnownMerges } from './known-merges.ts';
import { type Merge, Merger } from './merger.ts';
import { countDiffs, type DiffStat, isStillThere } from './patches.ts';
import { type CommitName, convertedBlobs, ScratchHistory } from './scratch-history.ts';

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
  /** Commits of the branch that the sandbox has beside `base`. */
  readonly newer?: string | undefined;
  /** Files that the base of the merge has beside those of `base`. */
  readonly shared?: readonly IndexEdit[];
  /** Merge the sandbox into this commit. */
  readonly tip: string | undefined;
  /** The work that the branch has already: the base of that merge. */
  readonly landed?: string | undefined;
  /** It is what the session itself has landed. */
  readonly isAccepted?: boolean;
  /** Ask whether each of these has the commits already. */
  readonly homes: readonly Comparison[];
  /** The branch at `tip`. */
  readonly branch?: Comparison | undefined;
}

export interface Examined {
  /** What the merge would bring; if there is none, or it conflicts, what differs from the base. */
  readonly diff: DiffStat | undefined;
  /** Undefined if nothing was merged. */
  readonly conflicts: boolean | undefined;
  /** Nothing is left of the commits and the uncommitted files. */
  readonly cancelsOut: boolean;
  /**
   * The branch has all of the sandbox, uncommitted files included: nothing is left of it, the merge would change nothing, or
   * it conflicts only with what the branch has made of that since.
   */
  readonly isEmpty: boolean;
  /** Tips of homes that have the commits. */
  readonly mergedOn: readonly string[];
  /** The branch has the commits in another form, and the sandbox has uncommitted files: these alone are its work. */
  readonly isHeadThere: boolean;
}

interface Named {
  readonly work: Work;
  readonly isInPart: boolean;
  readonly files: CommitName;
  readonly merge: CommitName | undefined;
  /** The merge that tells whether the branch has the commits. */
  readonly headMerge: CommitName | undefined;
  /** The base with what is newer. */
  readonly begun: CommitName | undefined;
  /** The base with what the branch has of it. */
  readonly shared: CommitName | undefined;
  readonly homes: readonly { readonly home: Comparison; readonly merge: CommitName }[];
}

/** Undefined without a work, and in a partial clone: a merge would fetch the blobs that it lacks. */
export async function examineAll(repository: Repository, works: readonly (Work | undefined)[]) {
  const given = works.filter((work) => work !== undefined);
  if (given.length === 0 || isPartialClone(repository)) return [];
  const examined = (await examineEach(repository, given)).values();
  return works.map((work) => (work === undefined ? undefined : examined.next().value));
}

/** Undefined where a repository lacks objects: those of one work do not hide the others. Empty without room to write. */
async function examineEach(
  repository: Repository,
  works: readonly Work[],
): Promise<(Examined | undefined)[]> {
  const examineThese = (some: readonly Work[]) =>
    withScratchObjects(repository, (scratch) => examine(repository, scratch, some));
  const together = await examineThese(works).catch((error: unknown) => {
    if (['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM'].includes(errorCode(error))) return [];
    throw error;
  });
  const found = together ?? (await Promise.all(works.map(async (work) => (await examineThese([work]))?.[0])));
  const rest = works.flatMap((work, i) =>
    found[i]?.isHeadThere ? { ...work, base: work.head, landed: work.head } : [],
  );
  const again = (rest.length === 0 ? [] : await examineEach(repository, rest)).values();
  return found.map((one) => (one?.isHeadThere ? again.next().value : one));
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
  if (!history.write(scratch, works[0]?.head ?? '')) return undefined;
  const { git } = scratch;
  const merger = new Merger(scratch, commonDir);
  const joined = named.map(({ begun, work: { newer = '' } }) => ({ into: newer, oid: history.oidOf(begun) }));
  const trees = await merger.merge(joined.filter(({ oid }) => oid !== ''));
  const { stats, ofHomes } = diffStats(git, named, history, trees);
  const known = openKnownMerges(agtDir, commonDir, merger.git, config);
  const merged = await mergedOf(merger, known, named, history, ofHomes);
  const isOnBranch = (one: Named) => merged.get(one)?.includes(one.work.tip ?? '') === true;
  const merges = named.flatMap((one) => {
    const names = new Set([one.merge, isOnBranch(one) ? one.headMerge : one.merge]);
    return Array.from(names, (name): Merge => ({ into: one.work.tip ?? '', oid: history.oidOf(name) }));
  });
  await tryAll(scratch, merger, known, merges);
  const landed = landedOf(merger, known, named, history, isOnBranch);
  const tipsWith = (one: Named) => {
    const oid = history.oidOf(one.headMerge);
    const isThere = known.get('empty', oid) !== false || landed.has(oid);
    return merged.get(one)?.filter((tip) => isThere || tip !== one.work.tip) ?? [];
  };
  known.save();
  return named.map((one, i) => {
    const oid = history.oidOf(one.merge);
    const { base, tip } = one.work;
    const isWhole = base !== undefined && one.shared === undefined;
    const cancelsOut = !one.isInPart && isWhole && stats[i]?.files === 0;
    const conflicts = known.get('conflicts', oid);
    const landing = tip === undefined ? undefined : known.counts(oid);
    const isThere = known.get('empty', oid) === true || (conflicts === true && landed.has(oid));
    const mergedOn = tipsWith(one);
    return {
      diff: base === undefined ? undefined : stats[i] && { ...stats[i], ...landing },
      conflicts,
      cancelsOut,
      isEmpty: cancelsOut || (!one.isInPart && isThere),
      mergedOn,
      isHeadThere: one.headMerge !== one.merge && isOnBranch(one) && mergedOn.length > 0,
    };
  });
}

/** Asks git for the merges that no listing has asked for. */
async function tryAll(scratch: ScratchObjects, merger: Merger, known: KnownMerges, merges: readonly Merge[]) {
  const isKnown = (oid: string) => known.get('conflicts', oid) === true || known.counts(oid) !== undefined;
  const unknown = merges.filter(({ oid }) => oid !== '' && !isKnown(oid));
  const trees = await merger.merge(unknown, (oid, conflicts, isEmpty) => {
    known.add('conflicts', oid, conflicts);
    known.add('empty', oid, isEmpty);
  });
  const clean = unknown.filter(({ oid }) => trees.has(oid));
  const pairs = clean.map(({ into, oid }) => `${trees.get(oid)} ${into}\n`);
  const stats = countDiffs(scratch.git, pairs);
  for (const [i, { oid }] of clean.entries()) if (stats[i]) known.addCounts(oid, stats[i]);
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
  const { head, base, newer, tip, homes, shared = [] } = work;
  const withShared = base && shared.length > 0 ? history.addFiles(base, shared) : undefined;
  const landed = withShared ?? work.landed;
  const files = sandbox === undefined ? head : history.addSandbox(head, { ...sandbox, converted });
  const withParent = (commit: CommitName) =>
    landed === undefined ? commit : history.addMerge(commit, landed);
  const merge = tip && history.addMerge(withParent(tip), withParent(files));
  return {
    work,
    isInPart: sandbox?.files.length !== work.sandbox?.files.length,
    files,
    merge,
    headMerge: tip && work.landed === undefined && files !== head ? history.addMerge(tip, head) : merge,
    begun: base && newer && history.addMerge(base, newer),
    shared: withShared,
    homes: homes.map((home) => ({ home, merge: history.addMerge(home.tip, head) })),
  };
}

/** `stats`: of each sandbox, from the base. `ofHomes`: one for each home, from there to HEAD. */
function diffStats(
  git: Git,
  named: readonly Named[],
  history: ScratchHistory,
  trees: ReadonlyMap<string, string>,
) {
  const pairs = named.map(({ work, files, begun, shared }) => {
    const oid = history.oidOf(files);
    const base = shared === undefined ? work.base : history.oidOf(shared);
    return `${oid} ${trees.get(history.oidOf(begun)) ?? base ?? oid}\n`;
  });
  const ofHomes = named.flatMap(({ work, homes }) =>
    homes.map(({ home }) => `${work.head} ${home.base ?? work.head}\n`),
  );
  const inPart = named.map(({ isInPart, files }) => isInPart || history.inPart.has(files));
  const stats = countDiffs(git, [...pairs, ...ofHomes], inPart);
  return { stats, ofHomes: stats.slice(named.length) };
}

/**
 * Of the merges that would change something or conflict, those of works that the branch has all the same: it has gone on
 * with its copy of them. Of a work that does not conflict, the commits alone.
 */
function landedOf(
  { git }: Merger,
  known: KnownMerges,
  named: readonly Named[],
  history: ScratchHistory,
  isOnBranch: (one: Named) => boolean,
): Set<string> {
  const all = named.flatMap((one) => {
    const { head, branch, base } = one.work;
    if (branch === undefined || base === undefined) return [];
    const whole = { one, oid: history.oidOf(one.merge), branch, base, files: history.oidOf(one.files) };
    const ofHead = { ...whole, oid: history.oidOf(one.headMerge), base: branch.base ?? base, files: head };
    const asked = known.get('conflicts', whole.oid) ? [whole] : [];
    if (isOnBranch(one) && asked[0]?.oid !== ofHead.oid) asked.push(ofHead);
    return asked.filter(({ oid }) => known.get('empty', oid) === false);
  });
  const unknown = all.filter(({ oid }) => known.get('landed', oid) === undefined);
  const questions = unknown.map(({ one, branch, base, files }) => {
    return { ...branch, head: files, base: isOnBranch(one) ? one.work.head : base, ahead: [] };
  });
  const applied = findApplied(git, questions);
  for (const [i, { one, oid, branch, base, files }] of applied === undefined ? [] : unknown.entries()) {
    const isCopied = applied?.[i] === true || (files === one.work.head && isOnBranch(one));
    known.add('landed', oid, isCopied && isStillThere(git, { base, files, tip: branch.tip }));
  }
  return new Set(all.flatMap(({ oid }) => (known.get('landed', oid) ? oid : [])));
}

/** The works whose commits one of their homes has already, in other words, and the tips of these homes. */
async function mergedOf(
  merger: Merger,
  known: KnownMerges,
  named: readonly Named[],
  history: ScratchHistory,
  statsOfHomes: readonly DiffStat[],
): Promise<Map<Named, string[]>> {
  const all = named
    .flatMap((one) => one.homes.map(({ home, merge }) => ({ one, home, oid: history.oidOf(merge) })))
    .map((asked, i) => ({ ...asked, into: asked.home.tip, changesFiles: statsOfHomes[i]?.files !== 0 }));
  const unknown = all.filter(({ oid }) => known.get('merged', oid) === undefined);
  const changes = await merger.remerge(unknown);
  // A merge of commits that cancel each other out changes nothing either, and proves nothing.
  const isIn = ({ home, oid, changesFiles }: (typeof all)[number]) =>
    home.ahead.length === 0 || (changes?.get(oid) === '' && changesFiles);
  const open = unknown.filter((asked) => !isIn(asked));
  const merges = open.flatMap(({ home: { ahead, tip } }) =>
    ahead.filter(isMerge).map(({ oid }) => ({ into: tip, oid })),
  );
  const joined = new Map<string, string>();
  await merger.merge(merges, (oid, _conflicts, _isEmpty, tree) => joined.set(oid, tree));
  const questions = open.map(({ one, home }) => ({ head: one.work.head, ...home }));
  const applied = findApplied(merger.git, questions, joined);
  const isApplied = new Map(open.map((asked, i) => [asked, applied?.[i] === true]));
  const answers = new Map(all.map((asked) => [asked, known.get('merged', asked.oid)]));
  for (const asked of unknown) {
    const answer = isIn(asked) || isApplied.get(asked) === true;
    answers.set(asked, answer);
    if (changes !== undefined && applied !== undefined) known.add('merged', asked.oid, answer);
  }
  const there = Map.groupBy(
    all.filter((asked) => answers.get(asked) === true),
    ({ one }) => one,
  );
  return new Map([...there].map(([one, asked]) => [one, asked.map(({ into }) => into)]));
}
