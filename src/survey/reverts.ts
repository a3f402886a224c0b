/** Reverts name the commit that they take back. After a rebase they still have its old name, which agt looks up. */
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import { onceForEach } from '../once.ts';
import type { CommitGraph } from './commit-graph.ts';
import { listRows, patchesOf } from './forms.ts';

/** A rebase keeps the author, the time and, if nobody changes it, the subject. */
const IDENTITY = '%at %ae %an%x00%s';

/** How `git log` has to print commits for `parseEntries`. */
export const ENTRIES = ['-z', `--format=%H%x00%P%x00${IDENTITY}%x00%B`];

/**
 * Commits of a branch. `reverts`: those that each one reverts, as the branch has them, and as it names them. `others`:
 * commits that the reverts may name as well.
 */
export function parseEntries(git: Git, output: string, others: readonly string[] = []) {
  const fields = output.split('\0');
  const entries = Array.from({ length: Math.floor(fields.length / 5) }, (_, i) => {
    const [oid = '', parents = '', author, subject, message = ''] = fields.slice(5 * i, 5 * i + 5);
    const named = [...message.matchAll(/^This reverts commit ([0-9a-f]{7,64})\b/gm)].map(
      ([, name = '']) => name,
    );
    return { oid, parents: parents.split(' ').filter(Boolean), identity: `${author}\0${subject}`, named };
  });
  const oids = [...entries.map(({ oid }) => oid), ...others];
  const current = (name: string) => oids.filter((oid) => oid.startsWith(name));
  const unknown = entries.flatMap(({ named }) => named.filter((name) => current(name).length === 0));
  const listed = unknown.length === 0 ? [] : listRows(git, ['--no-walk'], [...unknown, ...others]);
  const rows = listed.map(({ commit: oid, author, subject }) => ({ oid, identity: `${author}\0${subject}` }));
  const known = [...entries.map(({ oid, identity }) => ({ oid, identity })), ...rows];
  const formsOf = (name: string) => {
    const old = rows.find(({ oid }) => oid.startsWith(name));
    const same = known.filter(({ oid, identity }) => identity === old?.identity && oids.includes(oid));
    return [...new Set([old?.oid ?? name, ...same.map(({ oid }) => oid)])];
  };
  return entries.map(({ oid, parents, named }) => ({
    oid,
    parents,
    reverts: named.flatMap((name) => {
      const found = current(name);
      return found.length > 0 ? found : formsOf(name);
    }),
  }));
}

/** By `git revert`, which names the commit; a revert may be reverted. */
export function findReverts(git: Git, tip: string, landed: readonly string[]) {
  const commits = [...new Set(landed)];
  const ask = (words: readonly string[]) => askGitSync(git, words)?.toString().trimEnd() ?? '';
  const [only = '', ...others] = commits;
  const start = others.length === 0 ? only : ask(['merge-base', '--octopus', ...commits]);
  const pattern = ['--basic-regexp', '--grep=^This reverts commit '];
  const range = [tip, ...(start === '' ? [] : [`^${start}`]), '--'];
  const options = ['--no-show-signature', '--no-mailmap', '--topo-order', '--reverse'];
  const output = ask(['log', ...options, ...ENTRIES, ...pattern, ...range]);
  const last = new Map<string, string>();
  // Somebody may have written the name of a later commit, or another form of the same one.
  const entries = parseEntries(git, output, commits);
  const open = new Set(entries.map(({ oid }) => oid));
  for (const { oid: by, reverts } of entries) {
    for (const oid of reverts) if (!open.has(oid)) last.set(oid, by);
    open.delete(by);
  }
  // A cherry-pick or an edit by hand brings the work back as well.
  const isRedone = onceForEach((by: string): boolean => {
    const [commit = ''] = entries.find(({ oid }) => oid === by)?.parents ?? [];
    const [path] = ask(['diff-tree', '--name-only', '-r', '-z', commit, by]).split('\0');
    const later = listRows(git, ['--no-merges'], [tip, `^${by}`, '--', `:(top,literal)${path}`]);
    const inverse = { commit, parents: [by] };
    const patchOf = patchesOf(git, [inverse, ...later]);
    const id = patchOf(inverse)?.id;
    const redone = later.find((row) => id !== undefined && patchOf(row)?.id === id);
    return redone !== undefined && revertOf(redone.commit) === undefined;
  });
  const revertOf = (commit: string): string | undefined => {
    const by = last.get(commit);
    return by === undefined || revertOf(by) !== undefined || isRedone(by) ? undefined : by;
  };
  return Object.assign(revertOf, { reverted: [...last.keys()] });
}

interface Merged {
  /** Of the branch. */
  readonly tip: string;
  readonly head: string;
  /** Where its work begins, and what syncs have brought. */
  readonly starts: readonly string[];
}

/**
 * For each `head` that its branch has, the commit there that takes back a commit of its work, or the merge
 * that brought it. The graph has all of them.
 */
export function revertsOfMerged<T extends Merged>(
  git: Git,
  graph: CommitGraph,
  merged: readonly T[],
): ReadonlyMap<T, string> {
  const found = new Map<T, string>();
  const there = merged.filter(({ tip, head, starts }) => starts.length > 0 && graph.has(tip, head));
  for (const [tip, some] of Map.groupBy(there, (one) => one.tip)) {
    const revertOf = findReverts(git, tip, [...new Set(some.flatMap(({ starts }) => starts.at(-1) ?? []))]);
    for (const one of some) {
      const { head, starts } = one;
      const isOwn = (commit: string) =>
        graph.has(head, commit)
          ? starts.every((start) => !graph.has(start, commit))
          : graph.has(commit, head) && !graph.has(graph.parents(commit)[0] ?? '', head);
      const by = revertOf.reverted.filter(isOwn).map(revertOf).find(Boolean);
      if (by !== undefined) found.set(one, by);
    }
  }
  return found;
}
