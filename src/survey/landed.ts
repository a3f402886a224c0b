/** Commits of accepted work that the branch has lost since, as by a reset: three processes at most, for all of them. */
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { Landed } from '../session/record.ts';
import type { Refs } from './refs.ts';

/** Commits. One that the user has amended or rebased keeps its author and time, and is not lost. */
export function findLost(git: Git, all: readonly Landed[], refs: Refs): ReadonlySet<string> {
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
