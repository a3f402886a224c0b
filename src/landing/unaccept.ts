/** `agt session unaccept`: takes the commits of an acceptance off the branch again, and brings the session back. */
import { AgtError } from '../errors.ts';
import { landedRef } from '../filter/agent-refs.ts';
import { isActive } from '../filter/session-file.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { type DiffEntry, diffTrees } from '../git/objects/raw-diff.ts';
import { gitText, inDirectory, isAncestor, runGit } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { begin, complete, unfinishedError } from '../session/operation.ts';
import { type Landed, type SessionRecord, snapshotRefs } from '../session/record.ts';
import type { BranchMove } from '../session/state.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { readHistory, type Snapshot } from '../snapshot/history.ts';
import { restoreSession } from '../timetravel/restore/restore.ts';
import { carryOut } from './land.ts';
import { refuseOverlap } from './overlap.ts';
import { settleMove } from './recover.ts';
import { findTarget } from './target.ts';

export interface UnacceptResult {
  readonly record: SessionRecord;
  /** A full name. */
  readonly onto: string;
  /** The commit that the branch has lost. */
  readonly commit: string;
  /** The tip of the branch now. */
  readonly tip: string;
  readonly worktree: string | undefined;
  readonly changes: readonly DiffEntry[];
  /** The sandbox was gone. */
  readonly restored: boolean;
}

interface UnacceptRequest {
  readonly dryRun: boolean;
  readonly now: Date;
}

export async function unacceptSession(
  repository: Repository,
  record: SessionRecord,
  request: UnacceptRequest,
): Promise<UnacceptResult> {
  const { intent } = record;
  if (intent?.operation === 'restore' && intent.unaccepted !== undefined) {
    const result = await resultOf(repository, record, intent.unaccepted, true);
    return request.dryRun ? result : bringSessionBack(repository, result, request.now);
  }
  if (request.dryRun) return resultOf(repository, record, await planUnaccept(repository, record));
  const result = await withSessionLock(repository, record.session_id, (session) =>
    moveBack(session, session.read() ?? record, request.now),
  );
  return result.restored ? bringSessionBack(repository, result, request.now) : result;
}

async function moveBack(session: LockedSession, found: SessionRecord, now: Date): Promise<UnacceptResult> {
  const { repository } = session;
  const { intent, ...rest } = found;
  if (intent?.operation === 'unaccept' && (await settleMove(repository, intent))) {
    const { operation: _, ...move } = intent;
    return moved(session, found, move, now);
  }
  const record = intent?.operation === 'unaccept' ? rest : found;
  const move = await planUnaccept(repository, record);
  const { record: begun } = await carryOut(session, record, { operation: 'unaccept', ...move });
  return moved(session, begun, move, now);
}

/** The branch has moved. A session that was kept goes on; the sandbox of another one comes back afterwards. */
async function moved(
  session: LockedSession,
  { landed: _, ...record }: SessionRecord,
  move: BranchMove,
  now: Date,
): Promise<UnacceptResult> {
  const { repository } = session;
  await runGit(repository.git, ['update-ref', '-d', landedRef(record.session_id)]);
  const result = await resultOf(repository, record, move);
  if (!result.restored) return { ...result, record: complete(session, record, 'unaccept', now) };
  const { commit: snapshot } = await newestSnapshot(repository, record);
  const restore = { operation: 'restore', by: 'restore', scope: TOP_FOLDERS, snapshot } as const;
  return { ...result, record: begin(session, record, { ...restore, unaccepted: move }) };
}

/** @throws AgtError if the branch cannot simply go back. */
async function planUnaccept(repository: Repository, record: SessionRecord): Promise<BranchMove> {
  const { git } = repository;
  const { session_id: id, landed, intent } = record;
  if (landed === undefined) {
    throw new AgtError(`session "${id}" was not accepted, so there is nothing to take back`, {
      hints: [`see: agt session show ${id}`],
    });
  }
  if (intent !== undefined) throw unfinishedError(id, intent.operation);
  const { onto, commit: from, from: to } = landed;
  const keep = isActive(record);
  const { worktree, from: tip } = await findTarget(repository, record, shortBranch(onto));
  await requireTip(repository, { id, isEnded: !keep }, landed, tip);
  if (worktree !== undefined) await refuseOverlap(inDirectory(git, worktree), await diffTrees(git, from, to));
  const tree = await gitText(git, ['rev-parse', '--verify', `${to}^{tree}`]);
  return { onto, from, to, tree, worktree, keep };
}

/** Without a sandbox it comes back. */
async function resultOf(
  { git }: Repository,
  record: SessionRecord,
  { onto, from, to = '', worktree }: BranchMove,
  restored = !isActive(record),
): Promise<UnacceptResult> {
  const changes = await diffTrees(git, from, to);
  return { record, onto, commit: from, tip: to, worktree, changes, restored };
}

async function requireTip(
  { git }: Repository,
  { id, isEnded }: { readonly id: string; readonly isEnded: boolean },
  { commit, from, onto }: Landed,
  tip: string,
): Promise<void> {
  const branch = shortBranch(onto);
  const remote = await gitText(git, [
    'for-each-ref',
    '--format=%(refname:short)',
    '--contains',
    commit,
    'refs/remotes/',
  ]);
  const [first, last] = [from, commit].map((oid) => oid.slice(0, ABBREVIATED));
  const isMerge = (await gitText(git, ['rev-list', '--parents', '-1', commit])).split(' ').length > 2;
  const revert = isMerge
    ? `git revert -m 1 ${last}`
    : `git revert --no-commit ${first}..${last} && git commit`;
  const hints = [
    `undo it by a new commit, on "${branch}": ${revert}`,
    ...(isEnded ? [`bring only the session back: agt session undo ${id}`] : []),
  ];
  if (tip === commit && remote === '') return;
  if (tip === commit) throw new AgtError(`${remote.split('\n')[0]} has the commit already`, { hints });
  const isThere = await isAncestor(git, commit, tip);
  const reason = isThere ? 'has newer commits' : 'does not have the commit any more';
  throw new AgtError(`"${branch}" ${reason}`, { hints: isThere ? hints : hints.slice(1) });
}

/** Hexadecimal digits of a commit in a hint. */
const ABBREVIATED = 12;

async function bringSessionBack(
  repository: Repository,
  result: UnacceptResult,
  now: Date,
): Promise<UnacceptResult> {
  const choose = () => newestSnapshot(repository, result.record);
  const request = { scope: TOP_FOLDERS, by: 'restore' as const, now, choose };
  return { ...result, record: (await restoreSession(repository, result.record, request)).record };
}

async function newestSnapshot({ git }: Repository, record: SessionRecord): Promise<Snapshot> {
  const [newest] = await readHistory(git, snapshotRefs(record));
  if (newest === undefined) throw new AgtError(`session "${record.session_id}" has no snapshot`);
  return newest;
}

export async function finishUnaccept(repository: Repository, record: SessionRecord): Promise<void> {
  await unacceptSession(repository, record, { dryRun: false, now: new Date() });
}
