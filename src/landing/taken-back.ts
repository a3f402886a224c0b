/** Commits that the branch has lost and a session still has: work of another session, and those that it began with. */
import { listSome } from '../errors.ts';
import { branchNamespaces } from '../filter/agent-refs.ts';
import { isActive } from '../filter/session-file.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { readHeadFile } from '../git/files/head-file.ts';
import { HEADS, shortBranch, shortOid } from '../git/files/ref-files.ts';
import { asLines, type Git, gitAnswer, gitLines, gitText, isAncestor } from '../git/run/git.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { broughtBySyncs } from '../session/landings.ts';
import { isNamed, listRecords, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { neverHad } from '../survey/landed.ts';
import { landedAs, ownCommits } from '../survey/merged.ts';
import { type LandingTarget, syncWith } from './target.ts';

export interface Holder {
  readonly record: SessionRecord;
  /** Short name of the branch in its sandbox, if that has the commit and is not the work branch. */
  readonly branch: string | undefined;
}

/** The other sessions whose work branch, or the branch in their sandbox, has the commit. */
export async function holdersOf({ git, id, repository }: Session, commit: string): Promise<Holder[]> {
  const records = listRecords(repository).records.filter((one) => isActive(one) && one.session_id !== id);
  if (records.length === 0) return [];
  const others = records.map((record) => ({ record, ref: headRefOf(record) }));
  const branches = others.flatMap(({ record, ref }) => [record.work_branch, ref ?? []].flat());
  const listing = ['for-each-ref', '--format=%(refname)', '--contains', commit, '--', ...branches];
  const found = new Set(await gitLines(git, listing));
  return others.flatMap(({ record, ref }) => {
    const branch = ref !== undefined && ref !== record.work_branch && found.has(ref) ? ref : undefined;
    const isHolder = branch !== undefined || found.has(record.work_branch);
    return isHolder ? [{ record, branch: branch && shortBranch(branch) }] : [];
  });
}

function headRefOf({ sandbox, checkout }: SessionRecord): string | undefined {
  const gitDir = gitDirOf(checkout ?? sandbox);
  return gitDir === undefined ? undefined : readHeadFile(gitDir)?.ref;
}

/** Short names of the branches that have the commit, without those of agt. */
export async function branchesWith({ git, repository }: Session, commit: string): Promise<string[]> {
  const all = await gitLines(git, ['for-each-ref', '--format=%(refname)', '--contains', commit, '--', HEADS]);
  const own = branchNamespaces(repository.prefixes);
  return all.filter((name) => !own.some((namespace) => name.startsWith(namespace))).map(shortBranch);
}

/** A command for the user. */
export function takeOut({ sandbox, checkout }: SessionRecord, onto: string, commit: string): string {
  const at = `git -C ${shellQuote(checkout ?? sandbox)}`;
  return `${at} rebase --autostash --onto ${shortBranch(onto)} ${shortOid(commit)}`;
}

export interface Dropped {
  readonly commits: readonly string[];
  /** The last one, on top of the others. */
  readonly last: string | undefined;
  /** The branch has others in their place with the same changes. A rebase leaves them out. */
  readonly isRewritten?: boolean;
}

export const NONE_DROPPED: Dropped = { commits: [], last: undefined };

/**
 * Those that the user has dropped by an amend, a reset or a rebase since the session began with them or synced them. The
 * branch had them once, as its reflog says: it has not dropped those of another session from which this one began.
 */
export async function droppedCommits(
  git: Git,
  record: SessionRecord,
  head: string,
  { branch, tip }: { readonly branch: string; readonly tip: string },
): Promise<Dropped> {
  let isRewritten = false;
  for (const start of [...broughtBySyncs(record), record.from_commit]) {
    if ((await isAncestor(git, start, tip)) || !(await isAncestor(git, start, head))) continue;
    const last = await gitAnswer(git, ['merge-base', '--fork-point', branch, start]);
    if (last === undefined || (await isAncestor(git, last, tip))) continue;
    const words = ['log', '--no-show-signature', '--format=%h %s', '--no-merges', '--cherry-pick'];
    const commits = await gitLines(git, [...words, '--right-only', `${tip}...${last}`, '--']);
    if (commits.length > 0) return { commits, last };
    isRewritten = true;
  }
  return { ...NONE_DROPPED, isRewritten };
}

/** A commit that the acceptance of another session has made, or one of the user that a rebase by hand has brought. */
export interface OthersCommit {
  readonly commit: string;
  readonly of: 'session' | 'branch';
  readonly name: string;
  readonly subject: string;
  /** The branch has it, if in another form. */
  readonly isThere: boolean;
}

/** Those among the commits. */
export async function othersCommits(
  session: Session,
  commits: readonly string[],
  tip: string,
): Promise<OthersCommit[]> {
  if (commits.length === 0) return [];
  const { git, record } = session;
  const trailer = '%(trailers:key=Agt-Session,valueonly,separator=%x2C)';
  const options = ['--no-walk=unsorted', '--stdin', '--no-show-signature', '-z'];
  const args = ['log', ...options, `--format=%H%n${trailer}%n%s`];
  const output = await gitText(git, args, { input: asLines(commits) });
  // The reflog of a session from elsewhere lacks what it had there.
  const own = record.from === undefined && record.moved === undefined ? await ownCommits(session) : undefined;
  const found: OthersCommit[] = [];
  for (const entry of output.split('\0').filter(Boolean)) {
    const [commit = '', landedFrom = '', subject = ''] = entry.split('\n');
    if (landedFrom.split(',').some((one) => isNamed(record, one))) continue;
    const isUsers = landedFrom === '' && own?.has(commit) === false;
    const [branch = ''] = isUsers ? await branchesWith(session, commit) : [];
    const name = landedFrom || branch;
    if (name === '') continue;
    const isThere = (await landedAs(git, { commit, from: `${commit}^` }, tip)) !== undefined;
    found.push({ commit, of: landedFrom === '' ? 'branch' : 'session', name, subject, isThere });
  }
  return found;
}

interface Landing {
  readonly target: LandingTarget;
  readonly request: Readonly<Record<'keepCommits' | 'dryRun', boolean>>;
  readonly along: readonly OthersCommit[];
}

/** Work of others that lands along, and commits that the branch has dropped: each commit once. */
export async function warnOfOthers(
  git: Git,
  record: SessionRecord,
  head: string,
  { target, request, along }: Landing,
): Promise<string[]> {
  const { session_id: id } = record;
  const { onto, from: tip } = target;
  const { commits } = request.keepCommits
    ? await droppedCommits(git, record, head, { branch: onto, tip })
    : { commits: [] };
  const others = commits.map((line) =>
    along.find(({ commit }) => commit.startsWith(line.split(' ')[0] ?? '')),
  );
  const dropped = commits.map(
    (line, i) => `${line}${others[i] ? ` of ${others[i].of} "${others[i].name}"` : ''}`,
  );
  const rest = along.filter((one) => !others.includes(one));
  const never = neverHad(
    git,
    onto,
    rest.map(({ commit }) => commit),
  );
  const warnings = rest.map(({ commit, of, name, subject }) => {
    const since = never.has(commit) ? '' : ' any more';
    const work = `${shortOid(commit)} ${subject} comes along, a commit of ${of} "${name}"`;
    return `${work}, which "${shortBranch(onto)}" does not have${since}`;
  });
  if (dropped.length === 0) return warnings;
  const back = request.dryRun ? '' : `agt unaccept ${id} && `;
  return [
    ...warnings,
    `this brings back ${listSome(dropped, LISTED_COMMITS)}, which "${shortBranch(onto)}" has dropped; ` +
      `to leave it out: ${back}${syncWith(record, onto, true)}`,
  ];
}

const LISTED_COMMITS = 3;
