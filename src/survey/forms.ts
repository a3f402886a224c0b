/**
 * A rebase and an amend keep the author and the time of a commit. Several commits of one second differ in their changes or
 * their subjects. agt takes none for the form of another one if it has to guess.
 */
import { asLines, type Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { Landed } from '../session/record.ts';
import { readPatches } from './patches.ts';

interface Row {
  readonly time: number;
  readonly commit: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly subject: string;
}

type Changed = Pick<Row, 'commit' | 'parents'>;

/** Of so many acceptances, the newest ones, agt asks whether one of so many newer commits has them: each needs a diff. */
const MOST_SQUASHED = 8;
const MOST_SQUASHES = 100;

/**
 * What the branch at `tip` has in place of commits that it has no longer, by commit: `open`, the oldest first. `landed`:
 * commits that stand for themselves. `together`: somebody may have made one commit of some of them. Without the branch,
 * HEAD may have their changes as they are.
 */
export function findForms(
  git: Git,
  tip: string | undefined,
  open: readonly (Pick<Landed, 'commit' | 'from'> & Partial<Landed>)[],
  landed: ReadonlySet<string> = new Set(),
  together: readonly Pick<Landed, 'commit'>[] = open,
): Map<string, string> {
  const forms = new Map<string, string>();
  if (open.length === 0) return forms;
  const amend = asAmended(git, open[0]?.onto);
  const amended = new Map(open.map(amend));
  const own = listRows(git, ['--no-walk'], [...amended.keys()]);
  if (own.length === 0) return forms;
  // A rebase takes a merge apart: then the last commit that it merged stands for it.
  const merges = own.flatMap(({ parents: [, merged] }) => merged ?? []);
  const merged = listRows(git, ['--no-walk'], merges);
  const since = [`--since=${Math.min(...[...own, ...merged].map(({ time }) => time))}`];
  const authors = new Set([...own, ...merged].map(({ author }) => author));
  const ofAuthors = (rows: readonly Row[]) => rows.filter(({ author }) => authors.has(author));
  const home = tip ?? 'HEAD';
  const newer = listRows(git, since, [home, `^${open[0]?.from}`]);
  const there = ofAuthors(newer);
  const others = there.filter(({ commit }) => !landed.has(commit));
  const before = listRows(git, since, [...own.map(({ commit }) => commit), ...merges, `^${home}`]);
  const sameTime = ofAuthors([...before, ...there.filter(({ commit }) => amended.has(commit))]);
  const copies = findCopies(git, sameTime, others);
  const isFound = ({ commit, parents: [, merged = ''] }: Row) => copies.has(commit) || copies.has(merged);
  const isAll = others.length === 0 || own.every(isFound);
  const pairs = isAll || tip === undefined ? copies : findRewritten(git, sameTime, others, open[0]?.onto);
  const kept = new Set(newer.map(({ commit }) => commit));
  const formOf = ({ commit, parents: [, merged = ''] }: Row) =>
    pairs.get(commit) ?? pairs.get(merged) ?? (kept.has(merged) ? merged : undefined);
  const users = new Set(own.map(nameOf));
  const ofUsers = newer.filter((row) => users.has(nameOf(row))).slice(0, MOST_SQUASHES);
  const fewest = tip === undefined ? 1 : 2;
  const squashes = own.every(isFound) ? undefined : findSquashes(git, together.map(amend), ofUsers, fewest);
  for (const row of own) {
    const form = squashes?.get(row.commit) ?? formOf(row);
    if (form !== undefined) forms.set(amended.get(row.commit) ?? row.commit, form);
  }
  return forms;
}

/** Without the time. */
const nameOf = ({ author }: Row) => author.replace(/^\d+ /, '');

/**
 * Oldest first, each commit that an acceptance has brought as an acceptance: a pick of several, or a merge.
 * `of`: its last commit; `isMerge`: that is a merge.
 */
export function withParts<T extends Pick<Landed, 'commit' | 'from'>>(git: Git, landings: readonly T[]) {
  const rows = listRows(
    git,
    ['--no-walk'],
    landings.map(({ commit }) => commit),
  );
  const parents = new Map(rows.map((row) => [row.commit, row.parents.join(' ')]));
  return landings.flatMap((one) => {
    const { commit: of, from } = one;
    const words = ['--reverse', '--topo-order', '--no-merges'];
    const isAlone = (parents.get(of) ?? from) === from;
    const below = isAlone ? [] : listRows(git, words, [of, `^${from}`]).filter((row) => row.commit !== of);
    const isMerge = parents.get(of)?.includes(' ') === true;
    return [...below, one].map(({ commit }) => ({ ...one, commit, of, isMerge }));
  });
}

/** By commit, one with the changes of `fewest` or more that followed each other. `landed`: the oldest first. */
function findSquashes(
  git: Git,
  landed: readonly (readonly [commit: string, string])[],
  after: readonly Row[],
  fewest: number,
) {
  const commits = landed.slice(-MOST_SQUASHED).map(([commit]) => commit);
  const rows = new Map(listRows(git, ['--no-walk'], commits).map((row) => [row.commit, row]));
  const groups = commits.flatMap((_, i) => commits.map((__, end) => commits.slice(i, end + 1)));
  const isOnTop = (one: string, i: number, group: readonly string[]) =>
    i === 0 || askGitSync(git, ['merge-base', '--is-ancestor', group[i - 1] ?? '', one]) !== undefined;
  const apart = new Set(commits.filter((one, i) => !isOnTop(one, i, commits)));
  const several = groups.filter(
    (group) => group.length >= fewest && group.every((one, i) => rows.has(one) && !(i > 0 && apart.has(one))),
  );
  if (several.length === 0) return undefined;
  const pairOf = (last = '', first = last) => [last, rows.get(first)?.parents[0]].join(' ');
  for (const row of after) rows.set(row.commit, row);
  const pairs = several.map((group) => pairOf(group.at(-1), group[0]));
  const patches = readPatches(git, [...pairs, ...after.map(({ commit }) => pairOf(commit))]);
  const found = new Map<string, string>();
  for (const [i, group] of several.entries()) {
    const id = patches?.get(pairs[i] ?? '')?.id;
    const form = after.find(({ commit }) => id !== undefined && patches?.get(pairOf(commit))?.id === id);
    for (const one of form === undefined ? [] : group) found.set(one, form?.commit ?? '');
  }
  return found;
}

/** By commit, a copy of it among those that `range` names. */
export function copiesAmong(git: Git, commits: readonly string[], range: readonly string[]) {
  return findCopies(git, listRows(git, ['--no-walk'], commits), listRows(git, [], range));
}

/** The commit that `git commit --amend` has last made of one, by the reflog of the branch, or the same; and that one. */
function asAmended(git: Git, branch?: string) {
  const log = readReflog(git, ['log', '--no-show-signature', '--format=%H %gs'], branch)?.toString() ?? '';
  const amends = [...log.matchAll(/^(\w+) commit \(amend\).*\n(?=(\w+) )/gm)].toReversed();
  return ({ commit }: { readonly commit: string }) =>
    [amends.reduce((now, [, next = now, old]) => (old === now ? next : now), commit), commit] as const;
}

/** Of a branch that `git branch -m` has renamed, under its name now. `words`: git log, and how it prints the entries. */
export function readReflog(git: Git, words: readonly string[], branch = 'HEAD'): Buffer | undefined {
  const read = (name: string) => askGitSync(git, [...words, '--walk-reflogs', name, '--']);
  return read(branch) ?? read(nameNow(git, branch) ?? branch);
}

/** The branch that `git branch -m` has made of one that is gone: its reflog says so. */
export function nameNow(git: Git, branch: string): string | undefined {
  const words = ['log', '--walk-reflogs', '--no-show-signature', '--format=%gD', '--branches'];
  const log = askGitSync(git, [...words, `--grep-reflog=^Branch: renamed ${branch} to `, '--'])?.toString();
  return /^(.+)@\{/.exec(log ?? '')?.[1];
}

/** Those with the same changes. `after`: newest first. */
function findCopies(git: Git, before: readonly Row[], after: readonly Row[]): Map<string, string> {
  const authors = new Set(before.map(({ author }) => author));
  const mayBe = after.filter(({ author }) => authors.has(author));
  const patchOf = patchesOf(git, [...before, ...mayBe]);
  const found = new Map<string, string>();
  for (const old of before) {
    const id = patchOf(old)?.id;
    const copies = mayBe.filter((one) => one.author === old.author && patchOf(one)?.id === id);
    const copy = copies.findLast(({ subject }) => subject === old.subject) ?? copies.at(-1);
    if (id !== undefined && copy !== undefined) found.set(old.commit, copy.commit);
  }
  return found;
}

/** Also those with other changes in the same files, if no other commit can have become them. */
function findRewritten(git: Git, before: readonly Row[], after: readonly Row[], branch?: string) {
  const olds = [...before];
  // Commits on top, which the branch has dropped or rewritten as well.
  for (const row of rowsOf(readReflog(git, LOG, branch)).toReversed()) {
    const isKnown = [...olds, ...after].some(({ commit }) => commit === row.commit);
    const isOnTop = olds.some(({ commit, author }) => row.parents.includes(commit) && author === row.author);
    if (isOnTop && !isKnown) olds.push(row);
  }
  const patchOf = patchesOf(git, [...olds, ...after]);
  const found = findCopies(git, olds, after);
  for (const keyOf of [({ author, subject }: Row) => `${author}\0${subject}`, ({ author }: Row) => author]) {
    const taken = new Set(found.values());
    const news = Map.groupBy(
      after.filter(({ commit }) => !taken.has(commit)),
      keyOf,
    );
    const open = olds.filter(({ commit }) => !found.has(commit));
    for (const [key, [old, otherOld]] of Map.groupBy(open, keyOf)) {
      const [form, otherForm] = news.get(key) ?? [];
      if (old === undefined || form === undefined || (otherOld ?? otherForm) !== undefined) continue;
      const files = patchOf(old)?.files ?? new Set();
      if (patchOf(form)?.files.isDisjointFrom(files) === false) found.set(old.commit, form.commit);
    }
  }
  return found;
}

export function patchesOf(git: Git, rows: readonly Changed[]) {
  const pairOf = ({ commit, parents }: Changed) => [commit, ...parents.slice(0, 1)].join(' ');
  const patches = readPatches(git, rows.map(pairOf));
  return (row: Changed) => patches?.get(pairOf(row));
}

const LOG = ['log', '--no-show-signature', '--no-mailmap', '--format=%ct %H %at %ae %an%x00%P%x00%s'];

/** Of the commits that are still there. */
export function listRows(git: Git, words: readonly string[], revisions: readonly string[]): Row[] {
  if (revisions.length === 0) return [];
  const all = [...LOG, ...words, '--ignore-missing', '--stdin'];
  return rowsOf(askGitSync(git, all, { input: asLines(revisions) }));
}

function rowsOf(output: Buffer | undefined): Row[] {
  const lines = new Set(output?.toString().split('\n').filter(Boolean));
  return [...lines].map((line) => {
    const [, time, commit = '', author = '', parents = '', subject = ''] =
      /^(\d+) (\w+) (.*)\0(.*)\0(.*)$/.exec(line) ?? [];
    return { time: Number(time), commit, author, subject, parents: parents.split(' ').filter(Boolean) };
  });
}
