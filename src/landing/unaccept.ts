/** `agt session unaccept`: takes the commits of an acceptance off the branch again, and brings the session back. */
import { AgtError } from '../errors.ts';
import { landedRef } from '../filter/agent-refs.ts';
import { isActive } from '../filter/session-file.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import { gitText, inDirectory, runGit } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { begin, complete, unfinishedError } from '../session/operation.ts';
import { type Landed, type SessionRecord, snapshotRefs } from '../session/record.ts';
import type { BranchMove } from '../session/state.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { readHistory, type Snapshot } from '../snapshot/history.ts';
import { restoreSession } from '../timetravel/restore/restore.ts';
import { Follow, moveWith } from './land.ts';
import { refuseOverlap } from './overlap.ts';
import { isAncestor, settleMove } from './recover.ts';
import { diffTrees } from './sandbox-content.ts';
import { findTarget, type LandingTarget } from './target.ts';

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
    const result = { ...(await resultOf(repository, record, intent.unaccepted)), restored: true };
    return {
      ...result,
      record: request.dryRun ? record : await bringSessionBack(repository, record, request.now),
    };
  }
  if (request.dryRun) return { ...(await planUnaccept(repository, record)).result, record };
  const result = await withSessionLock(repository, record.session_id, (session) =>
    moveBack(session, session.read() ?? record, request.now),
  );
  return result.restored
    ? { ...result, record: await bringSessionBack(repository, result.record, request.now) }
    : result;
}

async function moveBack(session: LockedSession, found: SessionRecord, now: Date): Promise<UnacceptResult> {
  const { repository } = session;
  const { intent, ...rest } = found;
  if (intent?.operation === 'unaccept' && (await settleMove(repository, intent))) {
    const { operation: _, ...move } = intent;
    return moved(session, { record: found, move, result: await resultOf(repository, found, move), now });
  }
  const record = intent?.operation === 'unaccept' ? rest : found;
  const { move, result } = await planUnaccept(repository, record);
  const begun = begin(session, record, { operation: 'unaccept', ...move });
  const follow = new Follow(repository, move);
  try {
    await moveWith(repository, move, `agt unaccept: ${record.session_id}`, follow);
  } catch (error) {
    if (!follow.hasBegun || !(await settleMove(repository, move))) {
      session.write(record);
      throw error;
    }
  }
  return moved(session, { record: begun, move, result, now });
}

/** The branch has moved. A session that was kept goes on; the sandbox of another one comes back afterwards. */
async function moved(
  session: LockedSession,
  { record: { landed: _, ...record }, move, result, now }: Moved,
): Promise<UnacceptResult> {
  const { git } = session.repository;
  await runGit(git, ['update-ref', '-d', landedRef(record.session_id)]);
  if (!result.restored) return { ...result, record: complete(session, record, 'unaccept', now) };
  const { commit: snapshot } = await newestSnapshot(session.repository, record);
  const intent = {
    operation: 'restore',
    by: 'restore',
    scope: TOP_FOLDERS,
    snapshot,
    unaccepted: move,
  } as const;
  return { ...result, record: begin(session, record, intent) };
}

interface Moved {
  readonly record: SessionRecord;
  readonly move: BranchMove;
  readonly result: Omit<UnacceptResult, 'record'>;
  readonly now: Date;
}

interface UnacceptPlan {
  readonly move: BranchMove & { readonly to: string };
  readonly result: Omit<UnacceptResult, 'record'>;
}

/** @throws AgtError if the branch cannot simply go back. */
async function planUnaccept(repository: Repository, record: SessionRecord): Promise<UnacceptPlan> {
  const { git } = repository;
  const { session_id: id, landed, intent } = record;
  if (landed === undefined) {
    throw new AgtError(`session "${id}" was not accepted, so there is nothing to take back`, {
      hints: [`see: agt session show ${id}`],
    });
  }
  if (intent !== undefined) throw unfinishedError(id, intent.operation);
  const target = await findTarget(repository, record, shortBranch(landed.onto));
  await requireTip(repository, { id, isEnded: !isActive(record) }, landed, target);
  const changes = await diffTrees(git, landed.commit, landed.from);
  const { worktree } = target;
  if (worktree !== undefined) await refuseOverlap(inDirectory(git, worktree), changes);
  const tree = await gitText(git, ['rev-parse', '--verify', `${landed.from}^{tree}`]);
  const keep = isActive(record);
  const place = worktree === undefined ? {} : { worktree };
  const move = { onto: landed.onto, from: landed.commit, to: landed.from, tree, ...place, keep };
  return { move, result: { ...(await resultOf(repository, record, move)), changes } };
}

async function resultOf(
  { git }: Repository,
  record: SessionRecord,
  { onto, from, to = '', worktree }: BranchMove,
): Promise<Omit<UnacceptResult, 'record'>> {
  const changes = await diffTrees(git, from, to);
  return { onto, commit: from, tip: to, worktree, changes, restored: !isActive(record) };
}

async function requireTip(
  { git }: Repository,
  { id, isEnded }: { readonly id: string; readonly isEnded: boolean },
  { commit, from, onto }: Landed,
  { tip }: LandingTarget,
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
  record: SessionRecord,
  now: Date,
): Promise<SessionRecord> {
  const choose = () => newestSnapshot(repository, record);
  const request = { scope: TOP_FOLDERS, by: 'restore' as const, now, choose };
  return (await restoreSession(repository, record, request)).record;
}

async function newestSnapshot({ git }: Repository, record: SessionRecord): Promise<Snapshot> {
  const [newest] = await readHistory(git, snapshotRefs(record));
  if (newest === undefined) throw new AgtError(`session "${record.session_id}" has no snapshot`);
  return newest;
}

export async function finishUnaccept(repository: Repository, record: SessionRecord): Promise<void> {
  await unacceptSession(repository, record, { dryRun: false, now: new Date() });
}
