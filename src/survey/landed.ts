/** Commits of accepted work that the branch has lost since, as by a reset, or has reverted: a few processes for all of them. */
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { Landed } from '../session/record.ts';
import type { Refs } from './refs.ts';

export interface Fate {
  /** The branch does not have the commit any more. */
  readonly isLost: boolean;
  /** The commit that has taken it back. */
  readonly revertedBy: string | undefined;
}

export const STANDS: Fate = { isLost: false, revertedBy: undefined };

/** By commit; those that stand are not in it. */
export function findFates(git: Git, all: readonly Landed[], refs: Refs): ReadonlyMap<string, Fate> {
  const lost = findLost(git, all, refs);
  const branches = Map.groupBy(
    all.filter(({ commit }) => !lost.has(commit)),
    ({ onto }) => onto,
  );
  const fates = new Map([...lost].map((commit): [string, Fate] => [commit, { ...STANDS, isLost: true }]));
  for (const [onto, landings] of branches) {
    const tip = refs.commits.get(onto)?.commit;
    const revertedBy = tip === undefined ? undefined : findReverts(git, tip, landings);
    for (const { commit } of landings) {
      const by = revertedBy?.(commit);
      if (by !== undefined) fates.set(commit, { ...STANDS, revertedBy: by });
    }
  }
  return fates;
}

/** The commit of the branch that has taken the acceptance back. */
export function revertOf(git: Git, tip: string, landed: Landed): string | undefined {
  return findReverts(git, tip, [landed])(landed.commit);
}

/** By `git revert`, which names the commit; a revert may be reverted. */
function findReverts(git: Git, tip: string, landings: readonly Landed[]) {
  const commits = [...new Set(landings.map(({ commit }) => commit))];
  const ask = (words: readonly string[]) => askGitSync(git, words)?.toString().trimEnd() ?? '';
  const [only = '', ...others] = commits;
  const start = others.length === 0 ? only : ask(['merge-base', '--octopus', ...commits]);
  const pattern = ['--basic-regexp', '--grep=^This reverts commit '];
  const range = [tip, ...(start === '' ? [] : [`^${start}`]), '--'];
  const output = ask([
    'log',
    '--no-show-signature',
    '--reverse',
    '-z',
    '--format=%H%n%B',
    ...pattern,
    ...range,
  ]);
  const last = new Map<string, string>();
  for (const entry of output.split('\0')) {
    const by = entry.slice(0, entry.indexOf('\n'));
    for (const [, oid = ''] of entry.matchAll(/^This reverts commit ([0-9a-f]+)/gm)) last.set(oid, by);
  }
  const revertOf = (commit: string): string | undefined => {
    const by = last.get(commit);
    return by === undefined || revertOf(by) !== undefined ? undefined : by;
  };
  return revertOf;
}

/** Commits. One that the user has amended or rebased keeps its author and time, and is not lost. */
function findLost(git: Git, all: readonly Landed[], refs: Refs): ReadonlySet<string> {
  const landed = all.flatMap(({ commit, onto }) => {
    const tip = refs.commits.get(onto)?.commit;
    return tip === undefined ? [] : [{ commit, tip }];
  });
  if (landed.length === 0) return new Set();
  const tips = [...new Set(landed.map(({ tip }) => tip))];
  const linesOf = (args: readonly string[], revisions: readonly string[]) => {
    const input = [...revisions, ''].join('\n');
    return new Set(
      askGitSync(git, [...args, '--ignore-missing', '--stdin'], { input })
        ?.toString()
        .split('\n'),
    );
  };
  const commits = landed.map(({ commit }) => commit);
  const missing = linesOf(['rev-list'], [...commits, ...tips.map((tip) => `^${tip}`)]);
  const open = landed.filter(({ commit }) => missing.has(commit));
  if (open.length === 0) return new Set();
  const log = ['log', '--no-show-signature', '--no-mailmap'];
  const listed = linesOf(
    [...log, '--no-walk', '--format=%ct %H %at %ae %an'],
    open.map(({ commit }) => commit),
  );
  const known = [...listed].flatMap((line) => {
    const [, time, commit = '', author = ''] = /^(\d+) (\w+) (.*)$/.exec(line) ?? [];
    return time === undefined ? [] : [{ time: Number(time), commit, author }];
  });
  const since = `--since=${Math.min(...known.map(({ time }) => time))}`;
  const there = linesOf([...log, '--format=%at %ae %an', since], tips);
  return new Set(known.flatMap(({ commit, author }) => (there.has(author) ? [] : commit)));
}
