/**
 * `agt session sync`: brings the user branch into a sandbox by git's own merge or rebase, so that conflicts are solved
 * there. A snapshot before makes it a step that `agt session undo` takes back.
 */
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError, attempt } from '../errors.ts';
import { branchNamespaces } from '../filter/agent-refs.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { HEADS, shortBranch } from '../git/files/ref-files.ts';
import { branchUser } from '../git/files/worktree-registrations.ts';
import { diffTrees } from '../git/objects/raw-diff.ts';
import { type Git, gitAnswer, gitText, resolveObject, runGit } from '../git/run/git.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { checkId } from '../session/id.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { begin, complete, requireAllowed, unfinishedError } from '../session/operation.ts';
import { readRecord, type SessionRecord } from '../session/record.ts';
import { requireReadableSandbox } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { AFTER_SYNC, BEFORE_SYNC } from '../snapshot/format.ts';
import { readOperation } from '../snapshot/git-dir-files.ts';
import { familyOf, findStartApart, landedSource } from '../survey/merged.ts';
import { restoreSession } from '../timetravel/restore/restore.ts';
import { captureSession } from '../workspace/capture-session.ts';
import { notCommitted } from './landing-errors.ts';
import { commitFirst } from './message.ts';
import { refuseInTheWay, refuseOverlap, refuseStaged } from './overlap.ts';
import { commitsBetween } from './plan-landing.ts';
import { copyOnto, rebaseByGit, rebaseInMemory, refuseOwnOfMerges, refuseUncommitted } from './rebase.ts';
import { mergeBase, readSandbox } from './sandbox-content.ts';
import {
  afterSync,
  breakLocks,
  commitMerge,
  countAhead,
  goOnFrom,
  keepTracked,
  landedOn,
  revertAmong,
  withoutLanded,
} from './sync-landed.ts';
import { type Dropped, droppedCommits, NONE_DROPPED } from './taken-back.ts';
import { branchInUse, refuseOperation, unmergedPaths } from './target.ts';
import { untrackedAmong } from './untracked.ts';
import { mergeInMemory, mergeWithBase, withWorkbench } from './workbench.ts';

export interface SyncRequest {
  readonly rebase: boolean;
  /** The branch to bring in; undefined: the user branch. */
  readonly from: string | undefined;
  /** Milliseconds to wait for another process that works on the session. */
  readonly waitMs: number;
  readonly dryRun: boolean;
  readonly now: Date;
}

export interface SyncResult {
  readonly record: SessionRecord;
  /** The branch that came in, and its commit. */
  readonly branch: string;
  readonly tip: string;
  /** Its commits that the sandbox lacked. */
  readonly commits: number;
  /** Those of them that agt accept has made of the session's own work. */
  readonly own: readonly string[];
  /** One of them that reverts work which the sandbox has as commits: git takes it out of the sandbox as well. */
  readonly reverting: string | undefined;
  /** Those that the branch has dropped since the session began with them. A rebase leaves them out. */
  readonly dropped: Dropped;
  /** A rebase leaves out their histories: dropped commits, and what has landed with a parent or a fork. */
  readonly without: readonly string[];
  /** The commits of the sandbox that the branch lacks; for a rebase, those that it makes anew. */
  readonly ahead: number;
  /** HEAD of the sandbox now. */
  readonly head: string;
  /** Paths to solve; none: done. */
  readonly conflicts: readonly string[];
  readonly operation: 'merge' | 'rebase';
  /** No git has merged: see syncLanded. */
  readonly goesOn?: boolean;
  /** git ended without an operation in progress. The record still has the intent. */
  readonly isRefused?: true;
}

export async function syncSession(session: Session, request: SyncRequest): Promise<SyncResult> {
  const { repository, record } = session;
  if (request.dryRun) {
    const there = session.with(await withUserBranch(session, request.from));
    const plan = await planSync(there, request);
    return isUpToDate(plan) ? plan : { ...plan, ...(await previewSync(there, plan)) };
  }
  const found = readRecord(repository, record.session_id) ?? record;
  if (found.intent?.operation === 'sync') await finishSync(session.with(found));
  const result = await withSessionLock(session, (locked) => sync(locked, request), request);
  if (!result.isRefused) return result;
  // Before git refuses, it may have written some files, or a merge into AUTO_MERGE.
  await finishSync(session.with(result.record));
  const problem = `git did not ${result.operation} "${result.branch}" in the sandbox of "${session.id}"`;
  throw new AgtError(`${problem}; nothing has changed`, {
    hints: [
      `commit the changes of the sandbox first: git -C ${record.sandbox} commit --all`,
      'then sync again',
    ],
  });
}

async function sync(given: LockedSession, request: SyncRequest): Promise<SyncResult> {
  const record = await withUserBranch(given, request.from);
  if (record !== given.record) given.write(record);
  const session = given.with(record);
  const plan = await planSync(session, request);
  if (isUpToDate(plan)) return plan;
  await breakLocks(session);
  const { now } = request;
  // Either way may be refused, so agt tries it first. git would replace a repository in the sandbox.
  const { goesOn, dropped } = await previewSync(session, plan);
  const captured = await captureSession(session, { now, label: BEFORE_SYNC });
  const begun = begin(session, { operation: 'sync', snapshot: captured.commit ?? '' });
  const git = session.sandboxGit;
  const isDone = goesOn && (await syncLanded(session, plan, false));
  const exitCode = isDone ? 0 : await runSync(git, plan);
  failurePoint('sync: git has ended');
  const goesOnInGit = readOperation(gitDirOf(git.cwd) ?? '') !== null;
  if (exitCode !== 0 && !goesOnInGit) return { ...plan, record: begun, isRefused: true };
  const unmerged = exitCode === 0 ? [] : await unmergedPaths(git);
  const conflicts = await withoutLanded(session, plan, unmerged, false);
  const isSolved = unmerged.length > 0 && conflicts.length === 0 && (await commitMerge(git)) === 0;
  const head = (await resolveObject(git, 'HEAD^{commit}')) ?? '';
  const done = complete(session.with(await afterSync(git, begun, plan)), 'sync', now);
  await captureSession(session.with(done), { now, label: AFTER_SYNC });
  if (exitCode !== 0 && !isSolved && conflicts.length === 0)
    throw notCommitted(session.record, plan.operation);
  return { ...plan, dropped, record: done, head, conflicts, goesOn: isDone };
}

/** A rebase leaves out what the branch has dropped, also if nothing else is new there. */
export function isUpToDate({ commits, dropped, operation }: SyncResult): boolean {
  return commits === 0 && (operation === 'merge' || !(dropped.last || dropped.isRewritten));
}

/** The branch that the user names takes the place of a user branch that is gone, as after `git branch -m`. */
async function withUserBranch(
  { git, record, repository: { prefixes } }: Session,
  from: string | undefined,
): Promise<SessionRecord> {
  const ref = `${HEADS}${from}`;
  const isOfSession = branchNamespaces(prefixes).some((namespace) => ref.startsWith(namespace));
  if (from === undefined || record.user_branch === undefined) return record;
  const [known, named] = await Promise.all([record.user_branch, ref].map((name) => resolveObject(git, name)));
  const isNew = known === undefined && named !== undefined && !isOfSession;
  return isNew ? { ...record, user_branch: ref } : record;
}

/** In memory. @throws AgtError if something is in the way. */
async function previewSync(session: Session, plan: SyncResult) {
  const goesOn = await syncLanded(session, plan, true);
  const conflicts = goesOn ? [] : await conflictsOfSync(session, plan);
  const dropped = goesOn && plan.operation === 'merge' ? NONE_DROPPED : plan.dropped;
  return { goesOn, dropped, conflicts: await withoutLanded(session, plan, conflicts, true) };
}

/**
 * After `accept --keep` the branch has the work of the sandbox, but not as the commits and files that the sandbox has; a
 * merge of git would find each change twice. Here the sandbox goes on from the tip of the branch. Work that came since stays
 * uncommitted; commits that a part has left out are copied.
 *
 * Whether this was the way to sync. If not, nothing has changed. @throws AgtError if ignored files are in the way.
 */
async function syncLanded(session: Session, { branch, head }: SyncResult, dryRun: boolean): Promise<boolean> {
  const { git, sandboxGit: sandbox, record } = session;
  const { user_branch: ref } = record;
  if (ref === undefined || shortBranch(ref) !== branch) return false;
  // It would take commits away from another branch.
  if ((await otherBranch(sandbox, record)) !== undefined) return false;
  const tip = await gitText(git, ['rev-parse', '--verify', `${ref}^{commit}`]);
  const landed = await landedSource(git, record, head, { onto: ref, from: tip });
  if (landed === undefined) return false;
  // The content that landed is the HEAD at that time, or a commit on top of it.
  if (landed !== head && (await resolveObject(git, `${landed}^`)) !== head) return false;
  const isPart = record.landed?.in_part === true;
  return withWorkbench(session.repository, { ref, dryRun: dryRun || !isPart }, async (bench) => {
    const { tree: content } = await readSandbox(session, bench);
    const merged = await mergeWithBase(bench, { base: landed, ours: content, theirs: tip });
    if (merged.conflicts !== undefined) return false;
    refuseInTheWay(sandbox, await diffTrees(bench.git, content, merged.tree));
    if (dryRun) return true;
    const start = isPart ? await findStartApart(session, git, head, tip) : undefined;
    const to = isPart ? await copyOnto(bench, head, tip, start ? [start] : []) : tip;
    const since = await diffTrees(bench.git, to, merged.tree);
    const untracked = new Set(await untrackedAmong(session, since));
    const added = since.filter(({ path, before }) => before === undefined && !untracked.has(path));
    await goOnFrom(sandbox, bench, [content, merged.tree], { from: head, to });
    await keepTracked(sandbox, head, added);
    return true;
  });
}

/** The branch that HEAD of the sandbox is on, if it is not the work branch. A merge only adds to it. */
async function otherBranch(git: Git, { work_branch }: SessionRecord): Promise<string | undefined> {
  const ref = await gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD']);
  return ref === undefined || ref === work_branch ? undefined : shortBranch(ref);
}

/** Returns the paths in conflict. @throws AgtError if uncommitted files of the sandbox would be in the way. */
async function conflictsOfSync(session: Session, plan: SyncResult) {
  const { operation, branch, commits, head, without } = plan;
  const { repository, record, sandboxGit } = session;
  const tip = await gitText(sandboxGit, ['rev-parse', '--verify', `${branch}^{commit}`]);
  const join = `git -C ${shellQuote(sandboxGit.cwd)} merge --allow-unrelated-histories ${shellQuote(branch)}`;
  if (operation === 'merge') await mergeBase(sandboxGit, tip, head, `join them all the same: ${join}`);
  return withWorkbench(repository, { ref: record.work_branch, dryRun: true }, async (bench) => {
    if (operation === 'rebase') await refuseOwnOfMerges(session, bench, { ...plan, tip });
    const merged = await (operation === 'merge'
      ? mergeInMemory(bench, head, tip)
      : rebaseInMemory(bench, head, tip, without));
    if (operation === 'rebase') await refuseUncommitted(session, { branch, commits });
    // git looks for files in the way before it shows a conflict.
    const changes = await diffTrees(bench.git, head, merged.tree);
    const wayOut = (paths: readonly string[]) => commitFirst(session, paths);
    await refuseOverlap(sandboxGit, changes, wayOut);
    if (operation === 'merge' && plan.ahead > 0) await refuseStaged(sandboxGit, wayOut);
    return (merged.conflicts ?? []).map(({ path }) => path);
  });
}

/** @throws AgtError if the sandbox is not ready. */
async function planSync(session: Session, { rebase, from }: SyncRequest): Promise<SyncResult> {
  const { id, record, sandboxGit: git } = session;
  const { user_branch, sandbox } = record;
  requireAllowed(record, 'sync');
  if (record.intent !== undefined) throw unfinishedError(id, record.intent.operation);
  requireReadableSandbox(session);
  await refuseOperation(git, `the sandbox of "${id}"`);
  const branch = from ?? (user_branch === undefined ? undefined : shortBranch(user_branch));
  if (branch === undefined)
    throw new AgtError(`session "${id}" has no user branch, because it began at no branch of yours`, {
      hints: ['name the branch to bring in: --from BRANCH'],
    });
  const [tip, head] = await Promise.all(
    [`${branch}^{commit}`, 'HEAD^{commit}'].map((name) => resolveObject(git, name)),
  );
  if (tip === undefined) {
    const rename = `if it has another name now: agt sync ${id} --from BRANCH`;
    const named = attempt(() => readRecord(session.repository, checkId(branch)));
    const ofSession =
      named && `"${branch}" is a session; its branch: --from ${shortBranch(named.work_branch)}`;
    throw new AgtError(`there is no branch "${branch}"`, {
      hints: [from === undefined ? rename : (ofSession ?? 'see: git branch')],
    });
  }
  if (head === undefined) throw new AgtError(`the sandbox of "${id}" is on a branch without commits`);
  const missing = await commitsBetween(git, [head], tip);
  const [commits, landed] = [missing.length, await landedOn(session, branch, tip)];
  const user = commits > 0 ? await branchUser(git, `${HEADS}${branch}`, '') : undefined;
  if (user !== undefined && user.use !== 'checked out') throw branchInUse(`${HEADS}${branch}`, user);
  const own = missing.filter((commit) => landed.has(commit));
  const reverting = await revertAmong(session, missing, head);
  const operation = rebase ? 'rebase' : 'merge';
  const other = await otherBranch(git, record);
  if (rebase && commits > 0 && other !== undefined)
    throw new AgtError(`the sandbox of "${id}" is on "${other}", and agt rebases only the work branch`, {
      hints: [
        `switch to it: git -C ${sandbox} switch ${shortBranch(record.work_branch)}`,
        `or rebase "${other}" yourself: git -C ${sandbox} rebase ${branch}`,
      ],
    });
  const dropped = await droppedCommits(git, record, head, { branch: `${HEADS}${branch}`, tip });
  const isHome = rebase && user_branch === `${HEADS}${branch}`;
  const family = isHome ? await familyOf(session.repository, git)(record) : [];
  const without = [...(dropped.last ? [dropped.last] : []), ...family.map(({ source }) => source)];
  const ahead = await countAhead(git, { tip, head, operation, without });
  const known = { record, branch, tip, commits, own, reverting, dropped, without };
  return { ...known, ahead, head, conflicts: [], operation };
}

/** Nothing of the user's stash, and no other branch, may move with it. */
async function runSync(git: Git, { operation, branch, tip, without }: SyncResult): Promise<number> {
  if (operation === 'rebase') return rebaseByGit(git, branch, tip, without);
  const words = ['merge', '--ff', '--no-edit', '--no-autostash', '--', branch];
  const options = { env: { GIT_EDITOR: ':' }, stdout: 'ignore', stderr: 'inherit' } as const;
  return (await runGit(git, words, options)).exitCode;
}

/** Takes back a sync that was killed: git may have written only some of the files. */
export async function finishSync(session: Session): Promise<void> {
  const { intent, session_id: id } = session.record;
  if (intent?.operation !== 'sync') throw new AgtError(`session "${id}" has no unfinished sync`);
  const now = new Date();
  const choose = () => session.find(intent.snapshot, now);
  await breakLocks(session);
  await restoreSession(session, { scope: TOP_FOLDERS, by: 'restore', now, choose });
}
