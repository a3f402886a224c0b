/** How accepted work leaves a branch: by `unaccept`, or where that refuses by a command of git. */
import { AgtError, listSome } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import {
  type Git,
  gitLines,
  gitText,
  inDirectory,
  isAncestor,
  resolveObject,
  runGit,
} from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { landingsOf } from '../session/landings.ts';
import { type Landed, listRecords } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { isTakenBack } from '../survey/applied.ts';
import { findForms } from '../survey/forms.ts';
import { newestLandings } from '../survey/landed.ts';
import { landedAs } from '../survey/merged.ts';

/**
 * What keeps the branch from going back; the first hint is what takes the work off it all the same. `isNext`: unaccept
 * would take this acceptance back. `isWhole`: that hint takes off what landed before, too.
 */
export async function problemWith(
  { git, id, record, repository }: Session,
  landed: Landed,
  tip: string,
  worktree?: string,
  isNext = true,
  isWhole = false,
): Promise<AgtError | undefined> {
  const { commit, onto } = landed;
  const branch = shortBranch(onto);
  const format = '--format=%(if)%(symref)%(then)%(else)%(refname:short)%(end)';
  const listing = ['for-each-ref', format, '--contains', commit, 'refs/remotes/'];
  const [remote] = await gitLines(git, listing);
  if (isNext && tip === commit && remote === undefined) return undefined;
  const last = commit.slice(0, ABBREVIATED);
  const all = landingsOf(landed).filter((one) => one.onto === onto);
  // A user may have made one commit of acceptances of several sessions.
  const ofAll = listRecords(repository)
    .records.flatMap((one) => landingsOf(one.landed).map((own) => ({ ...own, of: one.session_id })))
    .filter((one) => one.onto === onto)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const parts = await Promise.all(all.toReversed().map((one) => partOf(git, one, tip, [all, ofAll])));
  const { isThere = false, own = [], known = 0, found = [], names = [] } = parts[0] ?? {};
  const standing = parts.flatMap((part) => (part?.names.length ? [part] : []));
  const place = worktree === undefined ? undefined : inDirectory(git, worktree);
  const hasStaged = place && (await runGit(place, ['diff', '--cached', '--quiet'])).exitCode === 1;
  const wayOff = (some: typeof standing) => {
    const reverts = [...Map.groupBy(some, ({ how }) => how)].map(([how, same]) =>
      [how, ...new Set(same.flatMap(({ words }) => words))].join(' '),
    );
    const revert = reverts.join(' && ');
    // git reverts nothing while something is staged.
    return `, on "${branch}": ${hasStaged ? `git stash && ${revert} && git stash pop --index` : revert}`;
  };
  const alone =
    isActive(record) || record.away !== undefined ? [] : [`bring only the session back: agt undo ${id}`];
  const what = names.length === 0 ? 'earlier acceptances' : 'it';
  const some = isWhole || names.length === 0 ? standing : standing.slice(0, 1);
  // Somebody has made one commit of several.
  const isOne = some.length < standing.length && wayOff(some) === wayOff(standing);
  const ways = some.length === 0 || isOne ? [] : [`undo ${what} by a new commit${wayOff(some)}`];
  if (some.length < standing.length) ways.push(`undo it and what landed before it${wayOff(standing)}`);
  const hints = [...ways, ...alone];
  if (found.length === 0) return new AgtError(`"${branch}" does not have the commit any more`, { hints });
  if (names.length === 0) return new AgtError(`"${branch}" has taken commit ${last} back already`, { hints });
  if (tip === commit) return new AgtError(`${remote} has the commit already`, { hints });
  if (isThere) {
    const newer = remote === undefined ? acceptedSince(repository, landed, tip) : undefined;
    const first = newer && `or first take back what has landed since: agt unaccept ${newer.join(' ')}`;
    const [revert = '', ...more] = hints;
    return new AgtError(`"${branch}" has newer commits`, {
      hints: [revert, ...(first ? [first] : []), ...more],
    });
  }
  const part = known < own.length ? ` (agt knows only ${known} of ${own.length} commits)` : '';
  const others = ofAll.filter((one) => one.of !== id);
  const forms = await Promise.all(others.map((one) => landedAs(git, one, tip, ofAll)));
  const along = new Set(others.flatMap(({ of }, i) => (found.includes(forms[i] ?? '') ? of : [])));
  if (along.size > 0)
    hints.push(`that takes off the work of ${listSome([...along])}, too, in the same commit`);
  return new AgtError(`"${branch}" has the commit ${last} in another form, as ${names.join(' ')}${part}`, {
    hints,
  });
}

/** An acceptance at the tip of a branch: its commits, those that the branch has, and how those that stand are reverted. */
async function partOf(
  git: Git,
  { commit, from, ...landed }: Landed,
  tip: string,
  ways: readonly (readonly Landed[])[],
) {
  if ((await resolveObject(git, `${commit}^{commit}`)) === undefined) return undefined;
  const isThere = await isAncestor(git, commit, tip);
  const [, , merged] = (await gitText(git, ['rev-list', '--parents', '-1', commit])).split(' ');
  const isMerge = isThere && merged !== undefined;
  const own = isMerge ? [commit] : await gitLines(git, ['rev-list', '--no-merges', `${from}..${commit}`]);
  const lost = own.map((one) => ({ ...landed, from, commit: one }));
  let forms = new Map(isThere ? own.map((one) => [one, one] as const) : []);
  for (const together of lost.length > 1 ? [lost.toReversed(), ...ways] : ways)
    if (forms.size === 0) forms = findForms(git, tip, lost, new Set(), together);
  const found = [...new Set(forms.values())];
  const open: string[] = [];
  const [newest = ''] = found;
  // One that the agent itself has taken back goes together with the commit that did so.
  for (const oid of found)
    if ((await isTakenBack(git, oid, newest)) || !(await isTakenBack(git, oid, tip))) open.push(oid);
  const names = open.map((oid) => oid.slice(0, ABBREVIATED));
  const isRange = isThere && own.length > 1 && open.length === own.length;
  const range = `git revert --no-commit ${from.slice(0, ABBREVIATED)}..${names[0]} && git commit`;
  const how = isRange ? range : `git revert${isMerge ? ' -m 1' : ''}`;
  return { isThere, own, known: forms.size, found, names, words: isRange ? [] : names, how };
}

/** The sessions of which `unaccept` can take all that came since off the branch, newest first; undefined if it cannot. */
function acceptedSince(repository: Repository, { commit, onto }: Landed, tip: string): string[] | undefined {
  const newest = listRecords(repository).records.flatMap(({ session_id: id, landed, state }) =>
    landed?.onto === onto && state !== 'rejected' ? [{ id, landed }] : [],
  );
  const ids: string[] = [];
  for (let at = tip; at !== commit; ) {
    const next = newest.find(({ landed }) => landed.commit === at);
    if (next === undefined || ids.includes(next.id)) return undefined;
    ids.push(next.id);
    at = next.landed.from;
  }
  return ids;
}

/** The way for the user where `unaccept` refuses; undefined if it would not. */
export async function insteadOfUnaccept(session: Session): Promise<string | undefined> {
  const { landed } = session.record;
  const tip = landed && (await resolveObject(session.git, landed.onto));
  return landed && tip && (await problemWith(session, landed, tip))?.hints[0];
}

/** How the work leaves each branch that has it when the session is gone: the branch, and a hint. */
export async function waysOff(session: Session): Promise<(readonly [string, string])[]> {
  const { git, id, record } = session;
  const all = landingsOf(record.landed).toReversed();
  const ways: (readonly [string, string])[] = [];
  let isNext = true;
  for (const [i, landed] of newestLandings(record.landed).entries()) {
    isNext &&= landed === all[i];
    const tip = await resolveObject(git, landed.onto);
    const again = i === 0 ? `agt undo ${id}, then agt unaccept ${id}` : `agt unaccept ${id} once more`;
    const problem: AgtError | undefined =
      tip === undefined ? undefined : await problemWith(session, landed, tip, undefined, isNext, true);
    const way = problem === undefined ? `to take it off: ${again}` : problem.hints[0];
    if (tip !== undefined && way !== undefined) ways.push([shortBranch(landed.onto), way]);
    isNext &&= tip !== undefined && problem === undefined;
  }
  return ways;
}

/** Hexadecimal digits of a commit in a hint. */
const ABBREVIATED = 12;
