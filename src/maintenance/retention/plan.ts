/** What `agt gc` would do to each session, and what that would free. Looks only. */

import { shortBranch } from '../../git/files/ref-files.ts';
import { listWorktrees } from '../../git/files/worktree-registrations.ts';
import { reachableObjects } from '../../git/objects/reachable.ts';
import { gitAnswer, gitText } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import { isActive, isRemoved } from '../../session/state.ts';
import { type Chain, readChain } from './chain.ts';
import { costOf, refsOfOthers, refsOfSnapshots } from './du.ts';
import { keptWhenEnded, keptWhenThinned } from './keep.ts';

export interface RetentionRequest {
  /** Also thin the states of active sessions. */
  readonly thin: boolean;
  readonly now: Date;
}

export interface SessionPlan {
  readonly record: SessionRecord;
  readonly chain: Chain;
  /** `drop`: everything goes; `reduce`: all but what a person has labelled; `thin`: by age. */
  readonly action: 'drop' | 'reduce' | 'thin';
  /** Names of the snapshots that stay. */
  readonly kept: ReadonlySet<string>;
  readonly going: number;
}

/** Undefined where there is nothing to do. @throws AgtError where git fails. */
export async function planSession(
  repository: Repository,
  record: SessionRecord,
  { thin, now }: RetentionRequest,
): Promise<SessionPlan | undefined> {
  const seconds = now.getTime() / 1000;
  const isOver = hasEnded(repository, record, seconds);
  if (!isOver && !(thin && isActive(record))) return undefined;
  const chain = await readChain(repository, record);
  const { snapshots } = chain;
  const kept = isOver ? keptWhenEnded(snapshots) : keptWhenThinned(snapshots, seconds);
  const going = snapshots.filter(({ commit }) => !kept.has(commit)).length;
  const plan = { record, chain, kept, going };
  if (isOver && kept.size === 0) return { ...plan, action: 'drop' };
  if (going === 0) return undefined;
  return { ...plan, action: isOver ? 'reduce' : 'thin' };
}

/** Removed longer ago than states are to be kept; or begun to be dropped. */
function hasEnded(repository: Repository, record: SessionRecord, now: number): boolean {
  if (!isRemoved(record)) return false;
  if (record.intent?.operation === 'drop') return true;
  const ended = new Date(record.last_activity_at).getTime() / 1000;
  return now - ended > repository.settings.retention;
}

/** Why this plan must not be carried out, or undefined. */
export async function obstacle(repository: Repository, plan: SessionPlan): Promise<string | undefined> {
  const { record, chain, action } = plan;
  const branch = shortBranch(record.branch);
  if (record.intent?.operation === 'restore') return 'a restore is not complete (see: agt doctor)';
  if (record.intent?.operation !== 'drop' && chain.branch !== chain.tip)
    return `${branch} was moved by something else than agt (see: agt doctor)`;
  const holder = (await listWorktrees(repository.git)).find((worktree) => worktree.branch === record.branch);
  if (holder !== undefined && action !== 'thin') return `${branch} is checked out in ${holder.path}`;
  return undefined;
}

export interface Plans {
  readonly plans: readonly SessionPlan[];
  /** Bytes that each would free alone, and all together. */
  readonly bytes: ReadonlyMap<string, number>;
  readonly total: number;
  /** Sessions whose metadata are damaged: nothing is done to them. */
  readonly damaged: readonly string[];
}

export async function planRetention(repository: Repository, request: RetentionRequest): Promise<Plans> {
  const { records, damaged } = listRecords(repository);
  const plans: SessionPlan[] = [];
  for (const record of records) {
    const plan = await planSession(repository, record, request);
    if (plan !== undefined) plans.push(plan);
  }
  const { bytes, total } = await freedBy(repository, records, plans);
  return { plans, bytes, total, damaged: damaged.map(({ problem }) => problem) };
}

async function freedBy(
  repository: Repository,
  records: readonly SessionRecord[],
  plans: readonly SessionPlan[],
): Promise<{ bytes: Map<string, number>; total: number }> {
  const others = await refsOfOthers(repository);
  const planned = new Set(plans.map(({ record }) => record.session_id));
  const staying = await refsOfSnapshots(
    repository,
    records.filter(({ session_id }) => !planned.has(session_id)),
  );
  const roots = [
    ...[...staying.values()].flat(),
    ...(await refsWithoutMetadata(repository, records)),
    ...plans.flatMap(stayingObjects),
  ];
  const stays = new Set(await reachableObjects(repository.git, roots, others));
  const going = new Map(
    plans.map(({ record, chain }) => [
      record.session_id as string,
      chain.tip === undefined ? [] : [chain.tip],
    ]),
  );
  const { each, total } = await costOf(repository.git, going, others, stays);
  return { bytes: new Map([...each].map(([id, { own }]) => [id, own])), total };
}

/** What snapshots that stay hold, and what the next of them takes over from those that go. */
function stayingObjects({ chain, kept, action }: SessionPlan): string[] {
  if (action === 'drop') return [];
  return chain.snapshots.flatMap(({ commit, tree, parents }) => [
    ...(kept.has(commit) ? [tree] : []),
    ...parents.slice(1),
  ]);
}

/** Shadow branches and tips that belong to no session here: they stay. */
async function refsWithoutMetadata(
  repository: Repository,
  records: readonly SessionRecord[],
): Promise<string[]> {
  const known = new Set([...(await refsOfSnapshots(repository, records)).values()].flat());
  const prefixes = ['refs/agt/tip/', `refs/heads/${repository.settings.branchPrefix}`];
  const listed = await gitText(repository.git, ['for-each-ref', '--format=%(refname)', '--', ...prefixes]);
  return listed.split('\n').filter((ref) => ref !== '' && !known.has(ref));
}

/** Commits that no branch, tag or remote of the user's has. */
export async function countUnmerged(repository: Repository, commit: string): Promise<number> {
  const { branchPrefix, workPrefix } = repository.settings;
  const agents = [branchPrefix, workPrefix].map((prefix) => `--exclude=refs/heads/${prefix}*`);
  const users = [...agents, '--glob=refs/heads/*', '--remotes', '--tags'];
  const args = ['rev-list', '--count', commit, '--not', ...users, '--'];
  return Number((await gitAnswer(repository.git, args)) ?? Number.NaN);
}
