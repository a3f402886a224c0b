/** Which commits of a session some changed files come from. */
import { displayPath } from '../disk/path-bytes.ts';
import { FEW, listSome } from '../errors.ts';
import { shortOid } from '../git/files/ref-files.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, entryOf } from '../git/objects/raw-diff.ts';
import { mergeTrees } from '../git/objects/scratch-index.ts';
import { type Git, gitAnswer, gitLines, isAncestor, resolveObject } from '../git/run/git.ts';
import { acceptances, landingsOf, lineOf } from '../session/landings.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { versionOf, versionsUpTo } from '../survey/base-of-work.ts';
import { copiesAmong } from '../survey/forms.ts';
import { newestLandings } from '../survey/landed.ts';
import { landedAs, ownCommits } from '../survey/merged.ts';
import type { NamedCommit } from './accept-request.ts';
import type { SandboxContent } from './sandbox-content.ts';
import { type Conflict, mergeInMemory, type Workbench } from './workbench.ts';

interface Touching {
  readonly tip: string;
  readonly head: string;
  readonly without?: string | undefined;
  readonly withCopies?: boolean;
}

/**
 * The commits of `head` that change one of these files, oldest first: none that `tip` has, not even as a copy, and none of
 * `without`.
 */
export async function commitsTouching(
  git: Git,
  { tip, head, without, withCopies = false }: Touching,
  changes: readonly DiffEntry[],
): Promise<NamedCommit[]> {
  const paths = changes.map(({ path }) => path).filter((path) => !path.includes('\n'));
  if (paths.length === 0) return [];
  const order = ['--reverse', '--topo-order', '--no-merges', '--no-show-signature', '--right-only'];
  const only = withCopies ? [] : ['--cherry-pick'];
  const args = ['--literal-pathspecs', 'log', ...order, ...only, '--format=%H %s'];
  const left = without === undefined ? [] : [`^${without}`];
  const input = Buffer.from([`${tip}...${head}`, ...left, '--', ...paths, ''].join('\n'), 'latin1');
  return (await gitLines(git, [...args, '--stdin'], { input })).map(namedCommit);
}

/** `%H %s` */
function namedCommit(line: string): NamedCommit {
  const [commit = '', ...words] = line.split(' ');
  return { commit, subject: words.join(' ') };
}

/** The merges of a range that change files beside what they join, as an amended one does: not if `tip` has the changes. */
export async function ownOfMerges(bench: Workbench, tip: string, range: readonly string[]) {
  const { git } = bench;
  const words = ['log', '--min-parents=2', '--max-parents=2', '--no-show-signature', '--format=%H %s'];
  const onto = (await resolveObject(git, `${tip}^{tree}`)) ?? '';
  const found: (NamedCommit & { changes: DiffEntry[]; conflicts: readonly Conflict[] })[] = [];
  for (const merge of (await gitLines(git, [...words, ...range, '--'])).map(namedCommit)) {
    const [first, second] = [`${merge.commit}^1`, `${merge.commit}^2`];
    const { tree, conflicts = [] } = await mergeInMemory(bench, first, second);
    const changes = await diffTrees(git, tree, merge.commit);
    const isThere = async () => (await mergeTrees(git, tree, onto, `${merge.commit}^{tree}`)) === onto;
    if (changes.length > 0 && !(await isThere())) found.push({ ...merge, changes, conflicts });
  }
  return found;
}

interface LandingWork {
  readonly tip: string;
  readonly head: string;
  /** The content that the branch has already, if a part has landed. */
  readonly landed: string | undefined;
  /** Those of `head` that came since. */
  readonly commits: readonly string[];
  /** What lands. */
  readonly changes: readonly DiffEntry[];
  /** Other files stay out, or the branch has them. */
  readonly isSome: boolean;
  /** Hunks stay out, or have landed before. */
  readonly isApart: boolean;
  /** The trees of the branch. */
  readonly before: string;
  readonly after: string;
}

/** The commits whose messages tell what lands: of the agent, not those that landed before. */
export async function commitsToTell(git: Git, record: SessionRecord, work: LandingWork): Promise<string[]> {
  const { tip, head, landed, changes, isSome, isApart } = work;
  const own = new Set(work.commits);
  let isRest = isSome;
  for (let one = record.landed; one !== undefined && own.size > 0; one = one.before) {
    const there = await landedAs(git, one, head);
    if (there === undefined || (await landedAs(git, one, tip)) === undefined) continue;
    own.delete(there);
    // Both sides have it since a sync, and so what it was made of, or some of that.
    isRest ||= one.in_part === true;
    const told = one.in_part
      ? copiesAmong(git, [...own], [there, `^${one.from}`]).keys()
      : one.source && (await gitLines(git, ['rev-list', '--ignore-missing', one.source, '--not', tip, '--']));
    for (const commit of told || []) own.delete(commit);
  }
  // After a revert, the branch has a copy of commits that land again.
  const last = newestLandings(record.landed).find(({ source }) => source === landed);
  const isEarlier = last === undefined;
  if ((landed === undefined || isEarlier) && !isRest) return [...own];
  const isBack = isEarlier && record.landed && (await landedAs(git, record.landed, head)) === undefined;
  const touching = await commitsTouching(git, { tip, head, withCopies: isBack === true }, changes);
  if (landed !== undefined) {
    const before = await landedPaths(git, [tip, head], landed);
    // A file of which a part has landed may have commits that have not.
    const first = last?.in_part ? changes : changes.filter(({ path }) => !before.has(path));
    const without = landingsOf(last).findLast((one) => !one.in_part)?.source;
    for (const { commit } of await commitsTouching(git, { tip, head, without }, first)) own.add(commit);
  }
  const telling = touching.map(({ commit }) => commit).filter((commit) => own.has(commit));
  if (landed === undefined && !isApart) return telling;
  const isNew = await Promise.all(telling.map((commit) => bringsSomething(git, commit, work)));
  return telling.filter((_, i) => isNew[i]);
}

/** The branch may have it already, also if it was not committed then, or its hunks stay out. */
async function bringsSomething(
  git: Git,
  commit: string,
  { tip, before, after }: LandingWork,
): Promise<boolean> {
  if (await isThere(git, commit, tip, before)) return false;
  const [own, parent] = await treesOf(git, commit);
  return own === undefined || parent === undefined || (await mergeTrees(git, own, after, parent)) !== after;
}

/** Whether the branch has the changes of a commit. `tree`: of `tip`. */
export async function isThere(git: Git, commit: string, tip: string, tree: string): Promise<boolean> {
  const [own, parent] = await treesOf(git, commit);
  if (own === undefined || parent === undefined) return false;
  const merged = await mergeTrees(git, parent, tree, own);
  if (merged !== undefined) return merged === tree;
  const words = ['rev-list', '--no-merges', '--right-only', '--cherry-pick', `${tip}...${commit}`, '--'];
  return !(await gitLines(git, words)).includes(commit);
}

/** Those of the commit and its first parent. */
async function treesOf(git: Git, commit: string) {
  return (await findObjects(git, [`${commit}^{tree}`, `${commit}^^{tree}`])).map((one) => one?.oid);
}

/** The paths of which something has landed. */
async function landedPaths(git: Git, tips: readonly string[], landed: string): Promise<Set<string>> {
  const base = await gitAnswer(git, ['merge-base', ...tips]);
  const changes = base === undefined ? [] : await diffTrees(git, base, landed);
  return new Set(changes.map(({ path }) => path));
}

/**
 * Changes that make files of the branch, which is at `tip`, as they were before an acceptance of the session, or that come
 * from files which `theirs`, its content, has as a snapshot before that acceptance.
 */
export async function warnOfReturn(
  session: Session,
  git: Git,
  { tip, theirs }: Readonly<Record<'tip' | 'theirs', string>>,
  changes: readonly DiffEntry[],
) {
  const warnings: string[] = [];
  for (const { from, commit, at } of landingsOf(session.record.landed)) {
    if (!(await isAncestor(git, commit, tip))) continue;
    const brought = await diffTrees(git, from, commit, { countLines: false });
    const before = new Map(brought.map((one) => [one.path, entryOf(one.before)]));
    const again = changes.filter(({ path }) => before.has(path));
    const then = (await session.history()).find(({ time }) => time <= new Date(at))?.commit;
    const since = then ? await diffTrees(git, `${then}:sandbox`, theirs, { countLines: false }) : [];
    const own = since.filter(({ path }) => again.some((one) => one.path === path));
    const versions = await versionsUpTo(git, then ? [then] : [], own);
    const wentBack = new Set(own.filter((one) => versions.has(versionOf(one))).map(({ path }) => path));
    const isBack = ({ path, after }: DiffEntry) => before.get(path) === entryOf(after) || wentBack.has(path);
    const files = again.filter(isBack).map(({ path }) => displayPath(path));
    const what = `what this session has landed as ${shortOid(commit)}`;
    if (files.length > 0) warnings.push(`takes back in ${listSome(files, FEW)} ${what}`);
  }
  return warnings;
}

/** Work of the session, or of one that it was forked from, that a sync has brought: what `start` has of it, and `tip` has not. */
export async function landedBelow(
  session: Session,
  git: Git,
  tip: string,
  start = tip,
): Promise<NamedCommit[]> {
  if (start === tip) return [];
  const line = lineOf(session.repository, session.record);
  const landed = line.flatMap((one) => [...acceptances(one).keys()]);
  const own = new Set([...landed, ...(await ownCommits(session))]);
  const log = ['log', '--reverse', '--no-merges', '--right-only', '--cherry-pick', '--no-show-signature'];
  const lines = await gitLines(git, [...log, '--format=%H %s', `${tip}...${start}`, '--']);
  return lines.map(namedCommit).filter(({ commit }) => own.has(commit));
}

/** With `--committed-only`, HEAD lacks what landed without a commit: it would be taken back. */
export async function landedUncommitted(
  git: Git,
  { head, uncommitted }: SandboxContent,
  landed: string,
  branch: string,
  added: readonly DiffEntry[],
): Promise<DiffEntry[]> {
  const since = await diffTrees(git, (await resolveObject(git, `${landed}^`)) ?? head, head);
  const committed = new Set(since.map(({ path }) => path));
  const onBranch = await landedPaths(git, [branch, head], landed);
  const open = new Set(uncommitted.map(({ path }) => path));
  return added.filter(({ path }) => open.has(path) && onBranch.has(path) && !committed.has(path));
}
