/**
 * Collects what `session list`, `session show` and `status` report about sessions. However many sessions there are, it
 * starts the same number of git processes, and one `git status` in each sandbox.
 */
import { readTimestamp } from '../autocommit/timestamp.ts';
import { isStagedApart, type StatusEntry, shownFiles } from '../git/objects/status.ts';
import type { Repository } from '../repository/repository.ts';
import { isPartElsewhere } from '../session/landings.ts';
import {
  hasCommitted,
  type Landed,
  listRecords,
  type SessionRecord,
  sessionFolder,
} from '../session/record.ts';
import { Session } from '../session/session.ts';
import { isEnded } from '../session/state.ts';
import { workWithShared } from './base-of-work.ts';
import { type CommitGraph, type Comparison, readCommitGraph } from './commit-graph.ts';
import { type Examined, examineAll, type Work } from './examine.ts';
import { branchesLandedOn, type Fate, findFates, newestLandings, STANDS, withFates } from './landed.ts';
import { familyOf, homePatterns, isAsLanded, landedSource, startApart } from './merged.ts';
import { findOnlyInSnapshots } from './only-in-snapshots.ts';
import { type DiffStat, NO_DIFF } from './patches.ts';
import { chainOf, countSnapshots, findExported, type Head, type Refs, readHeads, readRefs } from './refs.ts';
import { revertsOfMerged } from './reverts.ts';
import { readSandboxFacts, readWorkingFiles, type SandboxFacts } from './sandbox-facts.ts';

type Fact = 'record' | 'isOutOfSight' | 'hasMoved' | 'operation' | 'agentState' | 'lastPrompt' | 'running';

export interface SessionStatus extends Pick<SandboxFacts, Fact | 'pushed'> {
  readonly folder: string;
  readonly sandboxPresent: boolean;
  /** Short name of the branch in the sandbox; undefined if HEAD is detached or the sandbox is gone. */
  readonly head: string | undefined;
  readonly headCommit: string | undefined;
  /** Commits of HEAD that the user branch does not have, or without one the start commit; undefined if git cannot tell. */
  readonly ahead: number | undefined;
  /** Commits of the user branch that HEAD does not have; undefined without a user branch, and once it has ended. */
  readonly behind: number | undefined;
  /** Files that differ from HEAD, untracked ones included; undefined if agt cannot tell. */
  readonly dirty: number | undefined;
  /** The sandbox as it is against the commit where it left the user branch, without what has landed since. */
  readonly diff: DiffStat | undefined;
  /** Whether the user branch could take the sandbox as it is; undefined if there is nothing to take, or not here. */
  readonly merge: 'clean' | 'conflict' | 'refused' | undefined;
  /** The user has all of it: the commits of HEAD, in this form or another, and each file that is not committed. */
  readonly merged: boolean;
  /** The branch that has the commits, if it is another one than the user branch here, such as `origin/main`. */
  readonly mergedOn: string | undefined;
  /** HEAD, if nothing is left of its commits and the files: a branch can have the work, but not the commits. */
  readonly cancelled: string | undefined;
  /** There is no sandbox, and the last snapshot has files that are in no commit. */
  readonly isOnlyInSnapshots: boolean;
  /** The last acceptance has brought all of it home. */
  readonly isLanded: boolean;
  /** A remote has the commits of HEAD, which has some of the session. */
  readonly exported: boolean;
  /** Of the last acceptance. */
  readonly fate: Fate;
  /** The last acceptance on each branch, newest first. */
  readonly landings: readonly (readonly [Landed, Fate])[];
  /** Undefined unless somebody asked for it. */
  readonly autocommits: number | undefined;
  readonly lastAutocommit: { readonly commit: string; readonly time: Date } | undefined;
  /** The last time that agt captured everything or found nothing changed. */
  readonly lastComplete: Date | undefined;
}

export async function readSessionStatus({ repository, record }: Session): Promise<SessionStatus> {
  const [status] = await surveySessions(repository, [record], { counts: true });
  return status as SessionStatus;
}

/** `counts`: count the autocommits as well; git reads every snapshot for that. */
export async function surveySessions(
  repository: Repository,
  records: readonly SessionRecord[],
  { counts }: { readonly counts: boolean },
): Promise<SessionStatus[]> {
  if (records.length === 0) return [];
  const sessionsDir = await repository.sessionsDir();
  const facts = records.map((record) => readSandboxFacts(new Session(repository, record), sessionsDir));
  const reading = readWorkingFiles(repository.git, facts);
  const headRefs = facts.flatMap(({ head }) => head?.ref ?? []);
  const refs = readRefs(repository, records, [...headRefs, ...branchesLandedOn(records)]);
  const heads = await readHeads(repository, facts, refs);
  const sessions = await Promise.all(facts.map((one, i) => locate(repository, one, heads[i] as Head, refs)));
  const tips = sessions.flatMap(({ facts: { starts }, head, base = [], workTip = [], homes }) => {
    const known = starts.filter((start) => head.existing.has(start));
    return head.commit === undefined ? [] : [head.commit, base, workTip, [...homes.keys()], known].flat();
  });
  const all = listRecords(repository).records;
  const findOthers = familyOf(repository, repository.git, all);
  const others = await Promise.all(records.map((one) => findOthers(one)));
  const graph = readCommitGraph(repository.git, [...tips, ...others.flat().flatMap(Object.values)]);
  const inSnapshots = await findOnlyInSnapshots(repository, sessions);
  const files = await reading;
  const compared = sessions.map((session, i) => {
    const more = { others: others[i], inSnapshot: inSnapshots.get(session) };
    return compare({ ...session, ...more }, graph, files.get(session.facts.record.sandbox));
  });
  const withShared = compared.map(({ work, facts }) => workWithShared(repository, facts.record, work, all));
  const examined = await examineAll(repository, await Promise.all(withShared));
  const landed = await findLanded(repository, compared);
  const exported = findExported(repository, compared);
  const fates = findFates(repository, records, refs);
  const chains = sessions.flatMap((one) => chainOf(one, refs));
  const byMerge = revertsOfMerged(repository.git, graph, compared.flatMap(mergedByGit)).keys();
  const revertedHeads = new Set([...byMerge].map(({ head }) => head));
  const common = { refs, landed, exported, fates, revertedHeads };
  const counted = counts ? countSnapshots(repository, chains) : undefined;
  return compared.map((one, i) => {
    const autocommits = counted && (counted.get(one.facts.record.session_id) ?? 0);
    return describe(repository, one, { ...common, examined: examined[i], autocommits });
  });
}

interface Located {
  readonly facts: SandboxFacts;
  readonly head: Head;
  /** The tip of the user branch, else the start commit. */
  readonly base: string | undefined;
  readonly hasUserBranch: boolean;
  readonly workTip: string | undefined;
  /** The branches that the work comes home to, by their tips. */
  readonly homes: ReadonlyMap<string, string>;
  /** The content that an `accept --keep` brought onto a branch that has it still. */
  readonly landed: string | undefined;
  /** The same on the user branch. */
  readonly landedHome: string | undefined;
  /** What that has of other sessions. */
  readonly others?: readonly { readonly source: string; readonly commit: string }[] | undefined;
  /** Without a sandbox: what only the last snapshot has. */
  readonly inSnapshot?: readonly StatusEntry[] | undefined;
}

async function locate({ git }: Repository, facts: SandboxFacts, head: Head, refs: Refs): Promise<Located> {
  const { user_branch: userBranch, from_commit: start } = facts.record;
  const tip = userBranch === undefined ? undefined : refs.commits.get(userBranch)?.commit;
  const homes = new Map(homePatterns(facts.record).flatMap((pattern) => refs.matching(pattern)));
  const base = tip ?? (head.existing.has(start) ? start : undefined);
  const { landed: last } = facts.record;
  const sourceOn = async (onto: string | undefined) =>
    head.commit && onto && landedSource(git, facts.record, head.commit, { onto, from: onto });
  const landed = await sourceOn(last?.onto);
  const landedHome = last?.onto === userBranch ? landed : await sourceOn(userBranch);
  const workTip = refs.commits.get(facts.record.work_branch)?.commit;
  return { facts, head, base, hasUserBranch: tip !== undefined, workTip, homes, landed, landedHome };
}

interface Compared extends Located {
  readonly comparison: Comparison | undefined;
  /** Commits of HEAD, without those with which the session began. */
  readonly ownCommits?: number | undefined;
  /** HEAD is on top of the commits with which its work, or that of a session before, began. */
  readonly hasWork?: boolean;
  readonly files: readonly StatusEntry[] | undefined;
  /** Undefined if there is nothing to examine: no commits, no uncommitted files, and nothing that landed. */
  readonly work: Work | undefined;
  /** `agt accept` does not even try: git is in the middle of something, HEAD lacks commits of the work branch, or so. */
  readonly isRefused: boolean;
}

function compare(located: Located, graph: CommitGraph, files: readonly StatusEntry[] | undefined): Compared {
  const { facts, base, hasUserBranch, workTip, landedHome, others = [], inSnapshot = [] } = located;
  const [{ commit }, { record }] = [located.head, facts];
  if (commit === undefined)
    return { ...located, comparison: undefined, files: undefined, work: undefined, isRefused: false };
  const comparison = base === undefined ? undefined : graph.compare(commit, base);
  const inCommit = files?.filter((one) => !isRepository(one)) ?? inSnapshot;
  const isDirty = inCommit.length > 0;
  const had = others.flatMap((one) => (graph.has(commit, one.commit) ? [] : one.source));
  const start = base === undefined ? undefined : startApart(graph, [...facts.starts, ...had], commit, base);
  const begun = [start, ...others.map(({ source }) => source)].filter((one) => one !== undefined);
  const common = comparison?.base ?? '';
  const own = comparison?.ahead.filter(({ oid }) => !begun.some((one) => graph.has(one, oid)));
  const ownCommits = own?.length;
  const isAhead = (ownCommits ?? 0) > 0;
  const homes = isAhead ? [...located.homes.keys()].map((tip) => graph.compare(commit, tip)) : [];
  const isRefused =
    facts.operation !== undefined ||
    (landedHome ?? comparison?.base) === undefined ||
    files?.some((one) => one.kind === 'unmerged' || (isRepository(one) && !facts.record.checkout)) === true ||
    (facts.gitDir !== undefined && workTip !== undefined && graph.compare(commit, workTip).behind.length > 0);
  const merging = located.head.existing.has(facts.merging) ? facts.merging : undefined;
  const work: Work = {
    head: commit,
    sandbox: isDirty ? { path: facts.record.sandbox, files: inCommit } : undefined,
    base: landedHome ?? start ?? comparison?.base,
    newer: merging ?? (landedHome === undefined && start && !graph.has(start, common) ? common : undefined),
    tip: hasUserBranch && (comparison?.behind.length || start) ? base : undefined,
    landed: landedHome ?? start,
    isAccepted: landedHome !== undefined,
    homes: homes.filter(({ behind, ahead }) => behind.length > 0 || ahead.length === 0),
    branch: comparison,
  };
  const chosen = isAhead || isDirty || (files && landedHome) ? work : undefined;
  const within = record.landed || hasCommitted(record, commit) ? facts.starts.slice(-1) : facts.starts;
  const hasWork = within.length > 0 && within.every((start) => !graph.has(start, commit));
  return { ...located, comparison, ownCommits, hasWork, files, work: chosen, isRefused };
}

/** An untracked one: git would commit only its name. In the user's checkout it may be the user's, and stays. */
const isRepository = ({ kind, path }: StatusEntry) => kind === 'untracked' && path.endsWith('/');

function mergedByGit({ facts, head: { commit: head, existing }, hasUserBranch, base: tip }: Compared) {
  const { record } = facts;
  const isMerged = hasUserBranch && record.landed === undefined && head && hasCommitted(record, head);
  return isMerged && tip ? [{ tip, head, starts: facts.starts.filter((start) => existing.has(start)) }] : [];
}

async function findLanded(
  repository: Repository,
  compared: readonly Compared[],
): Promise<ReadonlySet<Compared>> {
  const answers = compared.map((one) => {
    const { facts } = one;
    const landed = isPartElsewhere(facts.record) ? undefined : one.landed;
    if (landed === undefined || facts.gitDir === undefined) return landed && !one.inSnapshot;
    return isAsLanded(new Session(repository, facts.record), landed).catch(() => false);
  });
  const isLanded = await Promise.all(answers);
  return new Set(compared.filter((_, i) => isLanded[i]));
}

interface Found {
  readonly refs: Refs;
  readonly examined: Examined | undefined;
  /** Those with nothing that an acceptance has not brought home. */
  readonly landed: ReadonlySet<Compared>;
  readonly exported: ReadonlySet<string>;
  readonly revertedHeads: ReadonlySet<string>;
  readonly fates: ReadonlyMap<string, Fate>;
  readonly autocommits: number | undefined;
}

function describe(repository: Repository, compared: Compared, found: Found): SessionStatus {
  const { facts, head, files, comparison, work, hasUserBranch } = compared;
  const { isOutOfSight, hasMoved, running, agentState, lastPrompt, operation, pushed } = facts;
  const record = { ...facts.record, ...(agentState?.agent && { agent: agentState.agent }) };
  const shadow = found.refs.commits.get(record.branch);
  // After a sync, HEAD has commits of a user branch that is gone now.
  const knowsOwn = hasUserBranch || record.user_branch === undefined;
  const open = head.commit === undefined ? undefined : (files ?? compared.inSnapshot);
  const dirty = open && shownFiles(open).length;
  const landings = withFates(newestLandings(record.landed), found.fates);
  const fate = landings[0]?.[1] ?? STANDS;
  const [isGone, isOnlyInSnapshots] = [facts.gitDir === undefined, compared.inSnapshot !== undefined];
  const isHome = isGone || compared.landed === compared.landedHome;
  const isSame = work === undefined || (isHome && found.landed.has(compared));
  const isTaken = isAllThere(compared, found);
  const ownDiff = (isSame && comparison !== undefined) || isTaken ? NO_DIFF : found.examined?.diff;
  const isThere = compared.ownCommits === 0 && hasUserBranch && compared.hasWork === true;
  const tips = found.examined?.mergedOn ?? [];
  const isWhole = isGone && record.state === 'accepted' && !record.landed?.in_part;
  const hasLanded = found.landed.has(compared) || (isWhole && !fate.isLost && !fate.isElsewhere);
  // It may have gone back behind what has landed.
  const brings = compared.landedHome !== undefined && found.examined?.conflicts === false;
  const hasAll =
    hasLanded || ((isThere || tips.length > 0) && !dirty && !isOnlyInSnapshots && !brings) || isTaken;
  const isHere = isThere || hasLanded || isTaken || tips.includes(compared.base ?? '');
  return {
    record,
    ...{ folder: sessionFolder(record), sandboxPresent: !isGone },
    ...{ isOutOfSight, hasMoved, running, agentState, lastPrompt, operation, pushed },
    ...{ head: head.branch, headCommit: head.commit },
    ahead: knowsOwn ? compared.ownCommits : undefined,
    behind: hasUserBranch && !isEnded(record) ? comparison?.behind.length : undefined,
    dirty,
    diff: knowsOwn ? ownDiff : undefined,
    merge: mergeOf(compared, found),
    merged:
      hasAll && operation === undefined && !fate.revertedBy && !found.revertedHeads.has(head.commit ?? ''),
    mergedOn: isHere ? undefined : compared.homes.get(tips[0] ?? '')?.replace(/^refs\/\w+\//, ''),
    cancelled: found.examined?.cancelsOut && !compared.landedHome ? head.commit : undefined,
    ...{ isOnlyInSnapshots, isLanded: found.landed.has(compared) },
    exported: (compared.ownCommits ?? 0) > 0 && found.exported.has(head.commit ?? ''),
    ...{ fate, landings, autocommits: found.autocommits },
    lastAutocommit: shadow?.commit === record.from_commit ? undefined : shadow,
    lastComplete: readTimestamp(repository.agtDir, record.session_id),
  };
}

/** The merge would change nothing, and neither the index nor the work branch has more than the sandbox. */
function isAllThere(compared: Compared, { examined }: Found): boolean {
  return examined?.isEmpty === true && !compared.isRefused && !compared.files?.some(isStagedApart);
}

function mergeOf(compared: Compared, found: Found): SessionStatus['merge'] {
  const { facts, work, hasUserBranch, isRefused } = compared;
  if (facts.record.state === 'accepted' || facts.record.away !== undefined) return undefined;
  if (isRefused && hasUserBranch) return 'refused';
  if (work === undefined || !hasUserBranch || found.landed.has(compared)) return undefined;
  if (isAllThere(compared, found)) return undefined;
  if (work.tip === undefined) return 'clean'; // the user branch has nothing of its own
  const conflicts = found.examined?.conflicts;
  if (conflicts === undefined) return undefined;
  return conflicts ? 'conflict' : 'clean';
}
