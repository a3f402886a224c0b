/** Plans what `agt gc` does to each session, and computes what that would free. It changes nothing. */
import { isActive } from '../../filter/session-file.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { listWorktrees } from '../../git/files/worktree-registrations.ts';
import { reachableObjects } from '../../git/objects/reachable.ts';
import { resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { relativesIn } from '../../session/landings.ts';
import { isAttached, listRecords, type SessionRecord, snapshotRefs } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { isEnded } from '../../session/state.ts';
import { unpushedInSubmodules } from '../../session/submodules.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { costOf, refsByUse, refsOf } from './du.ts';
import { keptOfFolder, keptWhenEnded, keptWhenThinned } from './keep-policy.ts';

export interface RetentionRequest {
  /** Also thin the snapshots of active sessions. */
  readonly thin: boolean;
  readonly now: Date;
  /** Ended sessions that go before agt.retention is over if this is still their tip: a remote has them. */
  readonly held?: ReadonlyMap<string, string> | undefined;
}

export interface SessionPlan {
  readonly record: SessionRecord;
  readonly chain: Chain;
  /** `drop` deletes all snapshots; `reduce` keeps those that a person labelled; `thin` keeps some by age. */
  readonly action: 'drop' | 'reduce' | 'thin';
  /** The commits of the snapshots that stay. */
  readonly kept: ReadonlySet<string>;
  /** How many snapshots agt deletes. */
  readonly going: number;
  /** Why agt must not carry it out; undefined if it can. */
  readonly refused: string | undefined;
}

/** Undefined if there is nothing to do. @throws AgtError if git fails. */
export async function planSession(
  session: Session,
  { thin, now, held }: RetentionRequest,
): Promise<SessionPlan | undefined> {
  const { repository, record } = session;
  const { retention, snapshotRetention } = repository.settings;
  const seconds = now.getTime() / 1000;
  const isFolder = isAttached(record);
  const tip = held?.get(record.session_id);
  const isHeld = isEnded(record) && tip !== undefined && tip === (await readTips(session)).tip;
  const isOld = retentionIsOver(record, retention, seconds);
  const isOver = !isFolder && (isHeld || isOld) && !tellsOthers(repository, record);
  if (!isFolder && !isOver && !(thin && isActive(record))) return undefined;
  const chain = await readChain(session);
  const { snapshots } = chain;
  // A folder has one history for good, of which agt keeps the last days.
  const kept = [
    ...(isFolder ? [keptOfFolder(snapshots, seconds, snapshotRetention)] : []),
    ...(isOver ? [keptWhenEnded(snapshots)] : []),
    ...(thin && !isOver ? [keptWhenThinned(snapshots, seconds)] : []),
  ].reduce((some, others) => some.intersection(others));
  const going = snapshots.filter(({ commit }) => !kept.has(commit)).length;
  const isWhole = isOver && kept.size === 0;
  if (going === 0 && !isWhole) return undefined;
  const action = isWhole ? 'drop' : isOver ? 'reduce' : 'thin';
  // The next push would put the shorter history in the place of the whole one.
  const isByLabel = action === 'reduce' && !isOld;
  const refused = isByLabel
    ? 'a person has labelled some of its snapshots, so all of them stay'
    : await reasonToSkip(session, chain, action);
  return { record, chain, action, kept, going, refused };
}

/** Whether the session was removed longer ago than agt.retention, or a killed gc began to drop it. */
function retentionIsOver(record: SessionRecord, retention: number, now: number): boolean {
  if (!isEnded(record)) return false;
  if (record.intent?.operation === 'drop') return true;
  const removed = new Date(record.last_activity_at).getTime() / 1000;
  return now - removed > retention;
}

/** Without it, sessions that go on with the same work would not know that it has landed. */
function tellsOthers(repository: Repository, { session_id: id, landed, intent }: SessionRecord): boolean {
  if (landed === undefined || intent?.operation === 'drop') return false;
  return relativesIn(listRecords(repository).records)(id).some(isActive);
}

async function reasonToSkip(
  session: Session,
  chain: Chain,
  action: SessionPlan['action'],
): Promise<string | undefined> {
  const { repository, record } = session;
  const branch = shortBranch(record.branch);
  const operation = record.intent?.operation;
  if (operation === 'restore') return 'a restore is not complete (see: agt doctor)';
  if (operation !== 'drop' && chain.branch !== chain.tip)
    return `another program moved ${branch} (see: agt doctor)`;
  if (action === 'thin') return undefined;
  const [unpushed] = action === 'drop' ? await unpushedInSubmodules(repository, record) : [];
  if (unpushed !== undefined)
    return `agt keeps ${unpushed} (delete them: agt session remove ${record.session_id} --delete-branch)`;
  const holder = (await listWorktrees(repository.git)).find((worktree) => worktree.branch === record.branch);
  return holder === undefined ? undefined : `${branch} is checked out in ${holder.path}`;
}

/** `damaged`: problems of metadata. agt does nothing to those sessions. */
export async function planRetention(repository: Repository, request: RetentionRequest) {
  const { records, damaged } = listRecords(repository);
  const plans: SessionPlan[] = [];
  for (const record of records) {
    const plan = await planSession(new Session(repository, record), request);
    if (plan !== undefined) plans.push(plan);
  }
  const { bytes, total } = await freedBy(repository, plans);
  return { plans, bytes, total, damaged: damaged.map(({ problem }) => problem) };
}

/** In bytes: what each plan would free by itself, by session id, and what all of them together. */
async function freedBy(repository: Repository, plans: readonly SessionPlan[]) {
  const { snapshots, others } = await refsByUse(repository);
  const planned = new Set(plans.flatMap(({ record }) => refsOf(record)));
  // Also refs that belong to no session here.
  const roots = [...snapshots.filter((ref) => !planned.has(ref)), ...plans.flatMap(stayingObjects)];
  const staying = new Set(await reachableObjects(repository.git, roots, others));
  const histories = plans.map(
    ({ record, chain }) => [record.session_id, chain.tip === undefined ? [] : [chain.tip]] as const,
  );
  const { each, total } = await costOf(repository.git, new Map(histories), others, staying);
  return { bytes: new Map([...each].map(([id, { own }]) => [id, own])), total };
}

/** The trees of the snapshots that stay, and the commits that they take over as parents from deleted ones. */
function stayingObjects({ chain, kept, action }: SessionPlan): string[] {
  if (action === 'drop') return [];
  return chain.snapshots.flatMap(({ commit, tree, parents }) => [
    ...(kept.has(commit) ? [tree] : []),
    ...parents.slice(1),
  ]);
}

/** `branch`: the commit that the shadow branch points to; undefined if somebody deleted the branch. */
async function readTips({ repository, record }: Session) {
  const refs = snapshotRefs(record);
  const [tip, branch] = await Promise.all(
    [refs.tip, refs.shadow].map((ref) => resolveObject(repository.git, `${ref}^{commit}`)),
  );
  return { tip, branch };
}

export type Chain = Awaited<ReturnType<typeof readChain>>;

/** `snapshots`: newest first. Those that a fork has from another session belong to that one. */
export async function readChain(session: Session) {
  const { repository, record } = session;
  const { tip, branch } = await readTips(session);
  const history = tip === undefined ? [] : await session.history();
  // A commit with agt's trailers but another author may be a person's, and gc rewrites none of those.
  const isOwn = ({ session, authorEmail }: Snapshot) =>
    session === record.session_id && authorEmail === repository.settings.agentEmail;
  const end = history.findIndex((snapshot) => !isOwn(snapshot));
  return { snapshots: end < 0 ? history : history.slice(0, end), branch, tip };
}
