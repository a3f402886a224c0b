/** The end of a session: the agent at work, the user's work that comes back, the stash and the branch that stay. */
import { displayPath } from '../../disk/path-bytes.ts';
import { attempt, FEW, listSome, plural } from '../../errors.ts';
import { branchNamespaces } from '../../filter/agent-refs.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { readHeadFile } from '../../git/files/head-file.ts';
import { HEADS, shortBranch } from '../../git/files/ref-files.ts';
import type { DiffEntry } from '../../git/objects/raw-diff.ts';
import { gitAnswer, gitLines } from '../../git/run/git.ts';
import { isMadeSince } from '../../landing/export.ts';
import { readUsersSide } from '../../lifecycle/in-place/users-side.ts';
import type { Deleted } from '../../lifecycle/remove.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { readAgentState } from '../../session/agent-state.ts';
import { bringsBack } from '../../session/operation.ts';
import type { Session } from '../../session/session.ts';
import { readShares, type Share } from '../../session/share-file.ts';
import { sharedStashEntries, stashEntries } from '../../session/stash.ts';
import { isEnded, type Outcome } from '../../session/state.ts';
import { isHere } from '../../travel/share.ts';
import { age, lines, verb } from './format.ts';

interface End {
  readonly dryRun: boolean;
  readonly outcome: Outcome;
  readonly deleteBranch?: boolean;
  /** What would land. */
  readonly landing?: readonly DiffEntry[];
}

/** To read before the end, and to print after it. */
export async function besideTheEnd(
  session: Session,
  { dryRun, outcome, deleteBranch = false, landing = [] }: End,
): Promise<string | undefined> {
  const { length: stashed } = deleteBranch ? [] : await stashEntries(session);
  const shared = await sharedStashEntries(session);
  const made = await branchOfAgent(session);
  const found = [
    ...(await broughtBack(session, dryRun, landing)),
    stashed > 0 &&
      `stash    ${plural(stashed, 'stashed change')} in its snapshots; ${bringsBack(session.record)}`,
    shared.length > 0 && `stays    in your git stash list: ${listSome(shared, FEW)}`,
    made && `stays    branch ${made}, which the agent has made${await wayOutOf(session, made, deleteBranch)}`,
    outcome !== 'accepted' && (await madeOnUserBranch(session)),
    ...notTold(session, { dryRun, outcome, deleteBranch }),
  ];
  return found.filter(Boolean).join('\n') || undefined;
}

/** To read before the end. No hook tells that a person has interrupted an agent, so this is no reason to refuse. */
export function agentAtWork({ repository, id }: Session, now: Date): string[] {
  const { state, agent, since = '' } = readAgentState(repository.agtDir, id) ?? {};
  if (state !== 'works') return [];
  const begun = `${agent ?? 'an agent'}, which began ${age(new Date(since), now)}`;
  return [`${id}: ${begun}, may still be at work in its sandbox; end ${agent ?? 'the agent'}`];
}

/** Remotes with a copy that no push in the background changes, and that is of this repository as far as it knows. */
function notTold(
  { repository, id, record }: Session,
  { dryRun, outcome, deleteBranch: isForgotten = false }: End,
): string[] {
  const all = record.away === undefined ? attempt(() => readShares({ repository, id }).copies) : undefined;
  const copies = (all ?? []).filter(({ holder }) => isHere({ repository }, holder));
  // A second acceptance is news, also for a copy that knows of the first one.
  const isNews = outcome === 'accepted' && !isEnded(record);
  const stale = copies.filter(
    ({ remote, state }) =>
      isForgotten || (remote !== repository.settings.push && (isNews || state !== outcome)),
  );
  const next = isForgotten ? ' --delete' : '';
  const what = ({ state }: Share) => {
    if (isForgotten) return verb(dryRun, 'still has a copy; delete', 'still have a copy; then delete');
    return state !== undefined && isEnded({ state })
      ? verb(dryRun, `has it as ${state}; tell`, `still have it as ${state}; then tell`)
      : verb(dryRun, 'has not heard that it ended; tell', 'not have heard that it ended; then tell');
  };
  return stale.map(
    (one) => `remote   ${one.remote} ${what(one)} it: agt session push ${id} ${one.remote}${next}`,
  );
}

/** With the snapshots, the last copy of the commits of that branch may go. */
async function wayOutOf({ git, repository }: Session, branch: string, isLast: boolean): Promise<string> {
  const [ref, own] = [`${HEADS}${branch}`, branchNamespaces(repository.prefixes).map((name) => `${name}*`)];
  const others = [...[ref, ...own].map((name) => `--exclude=${name}`), `--glob=${HEADS}*`, '--remotes'];
  const count = await gitAnswer(git, ['rev-list', '--count', ref, '--not', ...others, '--']);
  return isLast && count !== '0'
    ? `: it alone has ${plural(Number(count), 'commit')}`
    : `; delete it: git branch -D ${shellQuote(branch)}`;
}

/** The one that its HEAD names. Nobody knows whose another one is. */
async function branchOfAgent({ git, place, record }: Session): Promise<string | undefined> {
  const gitDir = place === 'here' ? gitDirOf(record.sandbox) : undefined;
  const ref = gitDir && readHeadFile(gitDir)?.ref;
  if (ref === undefined || [record.work_branch, record.user_branch].includes(ref)) return undefined;
  return (await isMadeSince(git, ref, record.created_at)) ? shortBranch(ref) : undefined;
}

/** In the user's own checkout an agent can commit on the user's branch. */
async function madeOnUserBranch({ git, record }: Session): Promise<string | undefined> {
  const { checkout, created_at, from_commit, user_branch: ref, landed } = record;
  if (checkout === undefined || ref === undefined) return undefined;
  const words = ['log', '--no-show-signature', '--format=%h %s', '--ignore-missing', `--since=${created_at}`];
  const known = [from_commit, ...(landed === undefined ? [] : [landed.commit])];
  const made = await gitLines(git, [...words, ref, '--not', ...known, '--']);
  if (made.length === 0) return undefined;
  const since = `on ${shortBranch(ref)}, made since the session began`;
  return `stays    ${plural(made.length, 'commit')} ${since}: ${listSome(made, FEW)}`;
}

/** Nothing if nothing was set aside. */
async function broughtBack({ git, record }: Session, dryRun: boolean, landing: readonly DiffEntry[]) {
  const side = record.checkout === undefined ? undefined : await readUsersSide(git, record);
  if (side === undefined || side.isGiven) return [];
  const lands = new Set(landing.map(({ path }) => path));
  const own = [...side.changed, ...side.untracked].toSorted();
  const list = (paths: readonly string[]) => listSome(paths.map(displayPath), FEW);
  const [back, aside] = [own.filter((path) => !lands.has(path)), own.filter((path) => lands.has(path))];
  return [
    back.length > 0 &&
      `${verb(dryRun, 'brought', 'bring')} back your uncommitted work in ${record.checkout}: ${list(back)}`,
    aside.length > 0 &&
      `would leave your uncommitted work set aside, as the branch gets its own: ${list(aside)}`,
  ];
}

export function describeDeleted({ ignored, uncaptured, staying }: Deleted, dryRun: boolean): string {
  const line = (why: string, paths: readonly string[]) =>
    `${verb(dryRun, 'deleted', 'delete')} with it, in no snapshot${why}: ${listSome(paths)}`;
  const others = uncaptured.map(({ path }) => path);
  return lines([
    ignored.length > 0 && line(' because of .agtignore', ignored),
    others.length > 0 && line('', others),
    staying.length > 0 && `stays in your checkout, in no snapshot: ${listSome(staying)}`,
  ]);
}
