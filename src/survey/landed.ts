/** Commits of accepted work that the branch has lost since, as by a reset, or has reverted: a few processes for all of them. */
import { branchNamespaces } from '../filter/agent-refs.ts';
import { asLines, type Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { Repository } from '../repository/repository.ts';
import { landingsOf } from '../session/landings.ts';
import type { Landed, SessionRecord } from '../session/record.ts';
import { readCommitGraph } from './commit-graph.ts';
import { findForms, nameNow, readReflog, withParts } from './forms.ts';
import { remoteBranches } from './merged.ts';
import { readRefs } from './refs.ts';
import { findReverts } from './reverts.ts';

export interface Fate {
  /** The branch does not have the commit any more. */
  readonly isLost: boolean;
  /** The work landed in another repository, and the branch has not had the commit here yet. */
  readonly isElsewhere: boolean;
  /** The commit that the branch has in its place, after a rebase or an amend. */
  readonly nowAs: string | undefined;
  /** The commit that has taken it back. */
  readonly revertedBy: string | undefined;
  /** Not all commits of the acceptance. */
  readonly isRevertedInPart?: boolean;
  /** The name that `git branch -m` has given to the branch. */
  readonly renamedTo?: string | undefined;
}

export const STANDS: Fate = { isLost: false, isElsewhere: false, nowAs: undefined, revertedBy: undefined };

/** The newest one on each branch, newest first. */
export function newestLandings(landed: Landed | undefined): Landed[] {
  const all = landingsOf(landed).toReversed();
  return all.filter(({ onto }, i) => all.findIndex((one) => one.onto === onto) === i);
}

/** With what has become of each. */
export function withFates(landed: readonly Landed[], fates: ReadonlyMap<string, Fate>) {
  return landed.map((one) => [one, fates.get(one.commit) ?? STANDS] as const);
}

export function branchesLandedOn(records: readonly SessionRecord[]): string[] {
  return records.flatMap(({ landed }) => landingsOf(landed).map(({ onto }) => onto));
}

/** By commit; those that stand are not in it. An acceptance of several commits stands if each of them does. */
export function findFates(
  repository: Repository,
  records: readonly SessionRecord[],
  refs = readRefs(repository, [], branchesLandedOn(records)),
): ReadonlyMap<string, Fate> {
  const { git, prefixes } = repository;
  const whole = records.flatMap(({ landed, moved }) =>
    landingsOf(landed).map((one) => ({ ...one, hasMoved: moved !== undefined })),
  );
  const landings = whole.length === 0 ? [] : withParts(git, whole);
  const fates = new Map<string, Fate>();
  if (landings.length === 0) return fates;
  const commits = new Set(landings.map(({ commit }) => commit));
  const branches = Map.groupBy(landings, ({ onto }) => onto);
  const names = [...branches.keys()];
  const renamed = new Map(
    names.map((onto) => [onto, refs.commits.has(onto) ? undefined : nameNow(git, onto)]),
  );
  // A clone may have the branch only as that of a remote.
  const atRemotes = (onto: string) => refs.matching(remoteBranches(onto)).map(([tip]) => tip);
  const tipsOf = (onto: string) =>
    [refs.commits.get(onto)?.commit ?? renamed.get(onto) ?? atRemotes(onto)].flat();
  const missing = notIn(git, commits, new Set(names.flatMap(tipsOf)));
  for (const [onto, all] of branches) {
    const [tip] = tipsOf(onto);
    const stands = { ...STANDS, renamedTo: renamed.get(onto) };
    const open = all
      .filter(({ commit }) => missing.has(commit))
      .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
    // Without the branch, another one of people may have them, as after a squash of it.
    const forms = findForms(git, tip, open, commits);
    const words = branchNamespaces(prefixes).map((namespace) => `--exclude=${namespace}*`);
    const others = tip === undefined ? ['--not', ...words, '--glob=refs/heads/*', '--not'] : undefined;
    const onOthers = others && reached(git, new Set(open.map(({ commit }) => commit)), [], others);
    const gone = open.filter(({ commit }) => !forms.has(commit) && !onOthers?.has(commit));
    const came = gone.filter(({ hasMoved }) => hasMoved).map(({ commit }) => commit);
    const never = neverHad(git, onto, came);
    for (const { commit } of gone) {
      const isElsewhere = never.has(commit);
      fates.set(commit, { ...stands, isLost: !isElsewhere, isElsewhere });
    }
    const there = all.filter(({ commit }) => !fates.has(commit)).map(({ commit }) => commit);
    if (tip === undefined || there.length === 0) continue;
    const current = (commit: string) => forms.get(commit) ?? commit;
    // A revert of a merge that a rebase has taken apart names the merge.
    const revertOf = findReverts(git, tip, [...there, ...there.map(current)]);
    const revertedBy = (commit: string) => revertOf(current(commit)) ?? revertOf(commit);
    for (const commit of there) {
      const fate = { ...stands, nowAs: forms.get(commit), revertedBy: revertedBy(commit) };
      if ((fate.nowAs ?? fate.revertedBy ?? fate.renamedTo) !== undefined) fates.set(commit, fate);
    }
  }
  const fateOf = (commit: string) => fates.get(commit) ?? STANDS;
  for (const [of, several] of Map.groupBy(landings, (one) => one.of)) {
    const all = fateOf(of);
    const parts = several.map(({ commit }) => fateOf(commit));
    const isLost = parts.some((part) => part.isLost);
    const isElsewhere = parts.some((part) => part.isElsewhere);
    const revertedBy = [all, ...parts].find((part) => part.revertedBy !== undefined)?.revertedBy;
    if (!isLost && !isElsewhere && revertedBy === undefined) continue;
    // The revert of a merge takes back all that it has brought.
    const isLeft = several.some(({ commit, isMerge }) => {
      if (isMerge && (commit === of || all.revertedBy !== undefined)) return false;
      const part = fateOf(commit);
      return !part.isLost && part.revertedBy === undefined;
    });
    fates.set(of, { ...all, isLost, isElsewhere, revertedBy, isRevertedInPart: !!revertedBy && isLeft });
  }
  return fates;
}

/** The commits of the branch that have taken acceptances back since the last one, newest first. */
export function revertsSince(git: Git, tip: string, landed: Landed): string[] {
  const ofBranch = landingsOf(landed).filter(({ onto }) => onto === landed.onto);
  const all = withParts(git, ofBranch);
  const gone = notIn(git, new Set(all.map(({ commit }) => commit)), new Set([tip]));
  const forms = findForms(
    git,
    tip,
    all.filter(({ commit }) => gone.has(commit)),
    new Set(),
    all,
  );
  const commits = all.map(({ commit }) => forms.get(commit) ?? commit);
  const last = commits.at(-1) ?? landed.commit;
  const revertOf = findReverts(git, tip, commits);
  const graph = readCommitGraph(git, [tip, last]);
  return [...new Set(commits.flatMap((commit) => revertOf(commit) ?? []))]
    .filter((by) => !graph.has(last, by))
    .toSorted((a, b) => (graph.has(a, b) ? -1 : 1));
}

function linesOf(git: Git, words: readonly string[], revisions: Iterable<string>): Set<string> {
  const output = askGitSync(git, [...words, '--ignore-missing', '--stdin'], { input: asLines(revisions) });
  return new Set(output?.toString().split('\n').filter(Boolean));
}

function notIn(git: Git, commits: Iterable<string>, tips: ReadonlySet<string>): Set<string> {
  const known = [...tips].map((tip) => `^${tip}`);
  if (known.length === 0) return new Set(commits);
  return linesOf(git, ['rev-list'], [...commits, ...known]);
}

/** Those that exist, and that the tips or the refs of the words have. */
function reached(
  git: Git,
  commits: Iterable<string>,
  tips: readonly string[],
  words: readonly string[] = [],
) {
  const known = tips.map((tip) => `^${tip}`);
  const rest = linesOf(git, ['rev-list', ...words], [...commits, ...known]);
  return linesOf(git, ['rev-list', '--no-walk'], commits).difference(rest);
}

/** Those that the branch, as its reflog says, has not had in this repository. */
export function neverHad(git: Git, branch: string, commits: readonly string[]): Set<string> {
  const words = ['log', '--no-show-signature', '--format=%H'];
  const log = commits.length === 0 ? undefined : readReflog(git, words, branch);
  const had = log?.toString().split('\n').filter(Boolean) ?? [];
  return new Set(commits).difference(had.length === 0 ? new Set() : reached(git, commits, had));
}
