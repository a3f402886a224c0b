/**
 * Whether the user has the work of a commit: the commits themselves, copies of them, one commit with all of them, or a
 * branch that a merge of them would not change. `session list`, `remove` and `agt gc` ask here.
 */
import { join } from 'node:path';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { HEADS, REMOTES, shortBranch } from '../git/files/ref-files.ts';
import { findObject, findObjects } from '../git/objects/object-reader.ts';
import { diffTrees } from '../git/objects/raw-diff.ts';
import { copyIndex, mergeTrees, plainCommit } from '../git/objects/scratch-index.ts';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import { type Git, gitAnswer, gitBytes, gitLines, gitText, isAncestor, runGit } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { acceptances, landingsOf, relativesIn, startsOfWork } from '../session/landings.ts';
import { type Landed, listRecords, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { isTakenBack } from './applied.ts';
import { type CommitGraph, readCommitGraph } from './commit-graph.ts';
import { examine } from './examine.ts';
import { copiesAmong, findForms, withParts } from './forms.ts';
import { findReverts } from './reverts.ts';

/** Patterns of the branches that the work of a session comes home to: its user branch, here and at the remotes. */
export function homePatterns({ user_branch: userBranch, from_spec: spec }: SessionRecord): string[] {
  const name = userBranch === undefined ? spec : shortBranch(userBranch);
  return name === undefined ? [] : [`${HEADS}${name}`, remoteBranches(name)];
}

/** A pattern of the branches of this name at the remotes. */
export const remoteBranches = (branch: string) => `${REMOTES}*/${shortBranch(branch)}`;

/**
 * The last commit that a session has from people and the branch at `tip` has not: one of `starts`, or of the user branch,
 * which is at `userTip`. The work of the session is what came after it. `own`: commits that the session itself has made,
 * which the user branch may have got since. A commit that both have in another form is none.
 */
export function startApart(
  graph: CommitGraph,
  starts: readonly string[],
  head: string,
  tip: string,
  { userTip = tip, own = new Set() }: { userTip?: string; own?: ReadonlySet<string> } = {},
): string | undefined {
  const isOwn = (one: string) => own.has(one) && !starts.some((start) => graph.has(start, one));
  const ofUser = new Set([userTip].flatMap((one) => graph.compare(head, one).base ?? []));
  for (const one of ofUser) if (isOwn(one)) for (const parent of graph.parents(one)) ofUser.add(parent);
  const bases = starts.flatMap((one) => graph.compare(head, one).base ?? []);
  const common = graph.compare(head, tip).base;
  const isThere = (one: string) =>
    graph.has(tip, one) || (common !== undefined && graph.hasCopy(common, one));
  const apart = [...ofUser, ...bases].filter((one) => !isOwn(one) && !isThere(one));
  return apart.find((one) => apart.every((other) => other === one || !graph.has(other, one)));
}

/** Those that are here. */
export async function knownStarts({ repository, record }: Session, git: Git): Promise<string[]> {
  const found = await findObjects(git, startsOfWork(repository, record));
  return found.flatMap((one) => one?.oid ?? []);
}

/** The same without a graph. `head` and `tip`: commits or refs. */
export async function findStartApart(
  { repository, record, sandboxGit }: Session,
  git: Git,
  head: string,
  tip: string,
): Promise<string | undefined> {
  const starts = startsOfWork(repository, record);
  const found = await findObjects(git, [head, tip, record.user_branch ?? tip, ...starts]);
  const [at, onto, userTip = onto, ...known] = found.map((one) => one?.oid);
  const there = known.filter((one) => one !== undefined);
  if (at === undefined || onto === undefined || userTip === undefined) return undefined;
  const isOnto = async (one: string) => one === onto || isAncestor(git, one, onto);
  if (userTip === onto && (await Promise.all(there.map(isOnto))).every(Boolean)) return undefined;
  const own = userTip === onto ? undefined : await ownCommits({ record, sandboxGit });
  const graph = readCommitGraph(git, [at, onto, userTip, ...there]);
  return startApart(graph, there, at, onto, { userTip, ...(own && { own }) });
}

/** As reflogs have them, and acceptances. That of HEAD knows each commit of a rebase; in place, it is the user's own. */
export async function ownCommits({ record, sandboxGit }: Pick<Session, 'record' | 'sandboxGit'>) {
  const logs = [...(record.checkout === undefined ? ['HEAD'] : []), record.work_branch];
  const words = ['log', '--walk-reflogs', '--no-show-signature', '--format=%H %gs', ...logs, '--'];
  const made = ((await gitAnswer(sandboxGit, words)) ?? '').matchAll(MADE_HERE);
  return new Set([...acceptances(record).keys(), ...Array.from(made, ([, commit = '']) => commit)]);
}

/** Not those to which git has only moved the branch. */
const MADE_HERE =
  /^(\w+) (?:(?:commit|cherry-pick|revert|am)\b|.*: Merge made by|(?:pull|rebase)\b.*\((?:pick|reword|edit|squash|fixup|continue)\))/gm;

/**
 * After `accept --keep`: the content of the sandbox as it landed. It is the base of the next merge: the branch has that
 * content, but not the commits. Undefined once `head` has the landed commit by a sync. If the branch has taken it back, the
 * acceptance before it counts, as after `agt unaccept`.
 * `target`: a branch and its tip; without it, the branch of the last acceptance.
 */
export async function landedSource(git: Git, record: SessionRecord, head: string, target?: Branch) {
  const { onto = record.landed?.onto ?? '', from = onto } = target ?? {};
  return (await standing(git, record, { onto, from }, head))?.source;
}

/** The content of an acceptance whose commit `head` has by a sync. */
export async function mergedSource(git: Git, record: SessionRecord, head: string) {
  return (await standing(git, record, { onto: record.landed?.onto ?? '', from: head }))?.source;
}

/** `from`: its tip. */
type Branch = Pick<Landed, 'onto' | 'from'>;

interface Standing {
  readonly source: string;
  readonly commit: string;
  readonly landed: Landed;
}

/**
 * The newest acceptance that the branch has still, unless `head` has it as well; if `isWhole`, one of all commits. If the
 * branch has lost an earlier one since, it is one before that.
 */
async function standing(
  git: Git,
  record: SessionRecord,
  { onto, from }: Branch,
  head = '',
  isWhole = false,
): Promise<Pick<Standing, 'source' | 'commit'> | undefined> {
  let found: Standing | undefined;
  for (let one = record.landed; one !== undefined; one = one.before) {
    if (isWhole && found === undefined && one.in_part && !one.with_commits) continue;
    const names = [one.source, from, one.onto, `${one.commit}^1`, `${one.commit}^2`];
    const objects = await findObjects(
      git,
      names.map((name) => `${name}^{commit}`),
    );
    const [source, tip, there, first, second] = objects.map((object) => object?.oid);
    const isAlone = second === undefined && (first ?? one.from) === one.from;
    const all = isAlone ? landingsOf(record.landed) : withParts(git, landingsOf(record.landed));
    const parts = all.filter((part) => 'of' in part && part.of === one.commit);
    const now = tip ? await Promise.all(parts.map((part) => landedAs(git, part, tip, all))) : [];
    const commit = source && tip && !now.includes(undefined) && (await landedAs(git, one, tip, all));
    // A branch that is gone may have another name now.
    if (one.onto !== onto && (there !== undefined || !commit)) continue;
    if ((!commit && found === undefined) || (commit && head && (await isAncestor(git, commit, head)))) break;
    const isBack =
      !commit ||
      (found?.commit !== tip && (await isTakenBack(git, commit, tip))) ||
      isOneReverted(git, tip, now);
    if (found === undefined && !isBack) {
      found = { source, commit, landed: one };
      if (!(await mayLack(git, found, tip))) break;
    } else if (isBack && found && (await hadStill(git, one, found.landed.from))) found = undefined;
  }
  if (found === undefined) return undefined;
  const synced = head === '' ? found.source : await syncedWith(git, record, found.landed, head);
  const source = synced ?? (await withoutNewer(git, record, found, head));
  return source === undefined ? undefined : { source, commit: found.commit };
}

/**
 * A session that has gone back behind a sync, or behind a commit of people that the agent has picked, lacks
 * what that brought: this is no work of its own, and stays on the branch. Undefined if both have changed the
 * same lines, or nobody can write here. `git` may store objects.
 */
async function withoutNewer(git: Git, record: SessionRecord, { source, landed }: Standing, head: string) {
  const [first, second, from] = await findObjects(git, [`${source}^1`, `${source}^2`, landed.from]);
  const isAtOnce = source === head || (first?.oid === head && second === undefined);
  const lost =
    isAtOnce || from === undefined
      ? []
      : await gitLines(git, ['rev-list', '--topo-order', source, `^${head}`]);
  const newest = lost.length > 0 && from && (await gitAnswer(git, ['merge-base', source, from.oid]));
  const last = newest && (await gitAnswer(git, ['merge-base', newest, head]));
  if (!from || !newest || !last) return source;
  const own = new Set(withParts(git, landingsOf(record.landed)).map(({ commit }) => commit));
  const copies = copiesAmong(git, lost, [from.oid, `^${newest}`]);
  const picked = lost.filter((one) => copies.has(one) && !own.has(copies.get(one) ?? ''));
  const brought = [...picked.map((one) => [one, `${one}^`]), ...(newest === last ? [] : [[newest, last]])];
  let tree: string | undefined = `${source}^{tree}`;
  for (const [after, before] of brought)
    tree =
      tree && (await mergeTrees(git, `${after}^{tree}`, tree, `${before}^{tree}`).catch(() => undefined));
  return brought.length === 0 ? source : tree && plainCommit(git, tree, [source]);
}

/** Whether a commit of the branch takes back one of several that came together. */
function isOneReverted(git: Git, tip: string, commits: readonly (string | undefined)[]): boolean {
  if (commits.length < 2) return false;
  const there = commits.filter((one) => one !== undefined);
  const revertOf = findReverts(git, tip, there);
  return there.some((one) => revertOf(one) !== undefined);
}

/** Whether the branch may have lost an acceptance before this one: to lose it, the branch changes its files. */
async function mayLack(git: Git, { commit, landed }: Standing, tip: string) {
  if (commit !== landed.commit) return true;
  const [{ from } = landed] = landingsOf(landed).filter(({ onto }) => onto === landed.onto);
  if ((await findObject(git, from)) === undefined) return true;
  const since = await diffTrees(git, commit, tip, { countLines: false });
  const own = since.length === 0 ? [] : await diffTrees(git, from, commit, { countLines: false });
  const paths = new Set(own.map(({ path }) => path));
  return since.some(({ path }) => paths.has(path));
}

/** Also if `tip` is gone. */
async function hadStill(git: Git, landed: Landed, tip: string): Promise<boolean> {
  if ((await findObject(git, tip)) === undefined) return true;
  const commit = await landedAs(git, landed, tip);
  return commit !== undefined && !(await isTakenBack(git, commit, tip));
}

/** The branch as the last sync has brought it, with an acceptance that somebody has rewritten since. */
async function syncedWith(git: Git, { synced = [] }: SessionRecord, landed: Landed, head: string) {
  for (const { tip } of synced) {
    if ((await isAncestor(git, tip, landed.from)) || !(await isAncestor(git, tip, head))) continue;
    if ((await landedAs(git, landed, tip)) !== undefined) return tip;
  }
  return undefined;
}

/** Of a session: what a branch has of the others that began with the same one. */
export function familyOf(
  repository: Repository,
  git = repository.git,
  records = listRecords(repository).records,
) {
  const relatives = relativesIn(records);
  const known = new Map<string, ReturnType<typeof standing>>();
  return async ({ session_id, user_branch }: SessionRecord, onto = user_branch ?? '', from = onto) => {
    const asked = relatives(session_id).map((one) => {
      const key = `${one.session_id} ${onto} ${from}`;
      if (!known.has(key)) known.set(key, standing(git, one, { onto, from }, '', true));
      return known.get(key);
    });
    return (await Promise.all(asked)).filter((one) => one !== undefined);
  };
}

/** The tip of the branch, as if it had merged what it has of the family of the session. `git` may store objects. */
export async function tipWithFamily(session: Session, git: Git, head: string, { onto, from }: Branch) {
  const landed = await familyOf(session.repository, git)(session.record, onto, from);
  const isNew = await Promise.all(landed.map(async ({ commit }) => !(await isAncestor(git, commit, head))));
  const sources = landed.flatMap(({ source }, i) => (isNew[i] ? source : []));
  return sources.length === 0 ? from : plainCommit(git, `${from}^{tree}`, [from, ...sources]);
}

/** The commit of an acceptance as the branch has it. `all`: of the session, the oldest first. */
export async function landedAs(
  git: Git,
  landed: Pick<Landed, 'commit' | 'from'> & Partial<Landed>,
  tip: string,
  all: readonly Landed[] = [],
): Promise<string | undefined> {
  if (await isAncestor(git, landed.commit, tip)) return landed.commit;
  return findForms(git, tip, [landed], new Set(), all).get(landed.commit);
}

export async function isAsLanded(
  { repository, record, sandboxGit }: Session,
  source: string,
): Promise<boolean> {
  return withScratchObjects(repository, async ({ dir }) => {
    const index = await copyIndex(sandboxGit, gitDirOf(record.sandbox), join(dir, 'index'));
    await gitText(index, ['read-tree', '--reset', source]);
    await runGit(index, ['update-index', '-q', '--refresh']);
    const listing = ['ls-files', '--modified', '--deleted', '--others', '--exclude-standard', '-z'];
    return (await gitBytes(index, listing)).length === 0;
  });
}

/** `onto`: whether this branch or tip has it, not any that it comes home to. False also if agt cannot tell. */
export async function isMerged(
  { repository, record }: Session,
  commit: string,
  onto?: string,
  git = repository.git,
): Promise<boolean> {
  const patterns = homePatterns(record);
  const words = ['for-each-ref', '--format=%(objectname)', '--', ...patterns];
  const listed = onto === undefined && patterns.length > 0 ? await gitText(git, words) : '';
  const names = onto === undefined ? listed.split('\n').filter(Boolean) : [`${onto}^{commit}`];
  const tips = (await findObjects(git, names)).flatMap((one) => one?.oid ?? []);
  const graph = readCommitGraph(git, [commit, ...tips]);
  const compared = [...new Set(tips)].map((tip) => graph.compare(commit, tip));
  const homes = compared.filter(
    ({ ahead, behind }) => behind.length > 0 && (onto === undefined || ahead.length > 0),
  );
  if (homes.length === 0) return false;
  const only = onto === undefined ? undefined : homes[0];
  const work = { head: commit, base: only?.base, tip: only?.tip, branch: only, homes };
  return withScratchObjects(
    { ...repository, git },
    async (scratch) => !!(await examine(repository, scratch, [work]))?.[0]?.mergedOn.length,
  );
}
