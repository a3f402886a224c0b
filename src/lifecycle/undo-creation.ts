/** Undoes a creation of a session that was killed. */
import { existsSync } from 'node:fs';
import { AgtError } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { complete } from '../session/operation.ts';
import { readRecord, type SessionRecord, sessionFolder } from '../session/record.ts';
import { sandboxExists } from '../session/sandbox-place.ts';
import { captureSession } from '../workspace/capture-session.ts';
import { deleteCaptured, listPaths, readable } from './delete-folder.ts';
import { undoEntering } from './in-place/set-aside.ts';
import { planRemoval, removeSession } from './remove.ts';
import { uncapturedFiles } from './uncaptured.ts';

/** Makes an id free that only an unfinished creation has. @throws AgtError while another agt creates the session. */
export async function undoUnfinishedCreation(repository: Repository, id: SessionId): Promise<void> {
  const record = readRecord(repository, id);
  if (record?.intent?.operation === 'create') await undoCreation(repository, record);
}

/**
 * Removes a session that agt did not finish creating. If somebody has worked in it, agt captures the work
 * first and keeps the branches, as for any removed session.
 * @returns where that work is. @throws AgtError if the user's uncommitted work stays set aside
 */
export async function undoCreation(
  repository: Repository,
  record: SessionRecord,
): Promise<string | undefined> {
  const id = record.session_id;
  const now = new Date();
  const { hasWork, trouble } = await withSessionLock(repository, id, (session) =>
    captureWork(session, record, now),
  );
  const plan = await planRemoval(repository, readRecord(repository, id) ?? record, !hasWork);
  await removeSession(repository, plan, { force: !hasWork, now });
  if (trouble !== undefined) throw trouble;
  if (!hasWork) return undefined;
  return `agt kept what was changed since then on ${shortBranch(record.branch)}; agt undo ${id} brings it back`;
}

interface Captured {
  readonly hasWork: boolean;
  /** Why something of the user's stays set aside. */
  readonly trouble?: AgtError | undefined;
}

async function captureWork(session: LockedSession, record: SessionRecord, now: Date): Promise<Captured> {
  if (session.read()?.intent?.operation !== 'create')
    throw new AgtError(`another agt is using session "${session.id}"`);
  if (record.checkout !== undefined) return workInCheckout(session, record);
  if (!(await hasWork(session.repository, record))) return { hasWork: false };
  if (!sandboxExists(session.repository, record))
    throw new AgtError(`${sessionFolder(record)} contains files that agt did not capture`);
  await captureSession(session, { ...record, state: 'active' }, { now, label: 'before doctor' });
  complete(session, record, 'create');
  return { hasWork: true };
}

/** Returns to the user's branch, unless somebody has worked in the session. */
async function workInCheckout(session: LockedSession, record: SessionRecord): Promise<Captured> {
  const { git } = session.repository;
  const tip = await resolveObject(git, record.work_branch);
  const isLinked = sandboxExists(session.repository, record);
  const hasCommits = tip !== undefined && tip !== record.from_commit;
  const nothing = { trouble: undefined };
  const undone = !isLinked ? nothing : hasCommits ? undefined : await undoEntering(session, record);
  if (undone === undefined) {
    complete(session, record, 'create');
    return { hasWork: true };
  }
  const { checkout: _, ...rest } = record;
  const left = await deleteCaptured(session.repository, record, false);
  if (left.paths.length > 0)
    throw new AgtError(`${sessionFolder(record)} contains files that agt did not capture`, {
      hints: [`move them away: ${listPaths(readable(left).paths)}`],
    });
  session.write({ ...rest, working_copy: 'worktree' });
  return { hasWork: false, ...undone };
}

/** Whether there are commits or files that the session did not start with and that are in no other place. */
async function hasWork(repository: Repository, record: SessionRecord): Promise<boolean> {
  const tip = await resolveObject(repository.git, record.work_branch);
  if (tip !== undefined && tip !== record.from_commit) return true;
  return existsSync(sessionFolder(record)) && (await uncapturedFiles(repository, record)).length > 0;
}
