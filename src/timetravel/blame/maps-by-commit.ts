/** Which maps of acceptances a commit may be looked up in, if its message names no session. */
import { ATTRIBUTIONS } from '../../filter/agent-refs.ts';
import { type Git, gitLines } from '../../git/run/git.ts';
import { type AcceptMap, readAcceptMaps } from './accept-map.ts';

export async function allMaps(git: Git): Promise<AcceptMap[]> {
  const names = await gitLines(git, ['for-each-ref', '--format=%(refname)', '--', ATTRIBUTIONS]);
  const maps = names.map((name) => readAcceptMaps(git, name.slice(ATTRIBUTIONS.length)));
  return (await Promise.all(maps)).flat();
}

/**
 * Those of acceptances whose commits are not in the history, as somebody has rewritten it: by each commit that is in the
 * history in place of one.
 */
export async function rewrittenMaps(git: Git, tip: string | undefined, maps: readonly AcceptMap[]) {
  const found = new Map<string, AcceptMap[]>();
  if (maps.length === 0 || tip === undefined) return found;
  const missing = await gitLines(git, ['rev-list', ...maps.map((map) => map.landed), `^${tip}`, '--']);
  for (const map of maps.filter(({ landed }) => missing.includes(landed)))
    for (const commit of await gitLines(git, ['rev-list', tip, `^${map.landed}`, '--']))
      found.set(commit, [...(found.get(commit) ?? []), map]);
  return found;
}

/** By commit of an agent that an acceptance has merged. */
export async function mergedMaps(git: Git, maps: readonly AcceptMap[]): Promise<Map<string, AcceptMap[]>> {
  const landed = maps.map((map) => map.landed);
  const merges =
    landed.length === 0 ? [] : await gitLines(git, ['rev-list', '--no-walk', '--merges', ...landed, '--']);
  const found = new Map<string, AcceptMap[]>();
  for (const merge of merges) {
    const ofMerge = maps.filter((map) => map.landed === merge);
    for (const commit of await gitLines(git, ['rev-list', `${merge}^1..${merge}^2`, '--']))
      found.set(commit, ofMerge);
  }
  return found;
}

/**
 * The oldest first. Of two in one second, the one above fewer commits: no other one can have it. `range` bounds the
 * histories that git compares.
 */
export async function inOrder(git: Git, maps: readonly AcceptMap[], range: readonly string[]) {
  const words = ['log', '--topo-order', '--reverse', '--no-show-signature', '--format=%H %ct %P'];
  const landed = maps.map((map) => map.landed);
  const times = new Map<string, number>();
  const heights = new Map<string, number>();
  for (const line of await gitLines(git, [...words, ...landed, ...range, '--'])) {
    const [commit = '', seconds, ...parents] = line.split(' ');
    times.set(commit, Number(seconds));
    heights.set(commit, 1 + Math.max(0, ...parents.map((parent) => heights.get(parent) ?? 0)));
  }
  const difference = (of: Map<string, number>, a: AcceptMap, b: AcceptMap) =>
    (of.get(a.landed) ?? 0) - (of.get(b.landed) ?? 0);
  return maps.toSorted((a, b) => difference(times, a, b) || difference(heights, a, b));
}
