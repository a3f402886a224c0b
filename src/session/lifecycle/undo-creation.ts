/** Undoes a creation of a session that was killed. */
import { existsSync } from 'node:fs';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError } from '../../errors.ts';
import { resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureSession } from '../capture-session.ts';
import type { SessionId } from '../id.ts';
import { undoEntering } from '../in-place/leave.ts';
import { type LockedSession, withSessionLock } from '../lock.ts';
import { complete } from '../operation.ts';
import { readRecord, type SessionRecord, sessionFolder } from '../record.ts';
import { sandboxExists } from '../sandbox-place.ts';
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
 */
export async function undoCreation(repository: Repository, record: SessionRecord): Promise<void> {
  const now = new Date();
  const hasWork = await withSessionLock(repository, record.session_id, (session) =>
    captureWork(session, record, now),
  );
  const plan = await planRemoval(repository, readRecord(repository, record.session_id) ?? record, !hasWork);
  await removeSession(repository, plan, { force: !hasWork, now });
}

/** False if there is no work to capture. */
async function captureWork(session: LockedSession, record: SessionRecord, now: Date): Promise<boolean> {
  if (session.read()?.intent?.operation !== 'create')
    throw new AgtError(`another agt is using session "${session.id}"`);
  if (record.checkout !== undefined) return workInCheckout(session, record);
  if (!(await hasWork(session.repository, record))) return false;
  if (!sandboxExists(session.repository, record))
    throw new AgtError(`${sessionFolder(record)} contains files that agt did not capture`);
  await captureSession(session, { ...record, state: 'active' }, { now, label: 'before doctor' });
  complete(session, record, 'create');
  return true;
}

/** Returns to the user's branch, unless somebody has worked in the session. */
async function workInCheckout(session: LockedSession, record: SessionRecord): Promise<boolean> {
  const { git } = session.repository;
  const tip = await resolveObject(git, record.work_branch);
  const isLinked = sandboxExists(session.repository, record);
  const isUndone =
    !isLinked || ((tip === undefined || tip === record.from_commit) && (await undoEntering(session, record)));
  if (!isUndone) {
    complete(session, record, 'create');
    return true;
  }
  const { checkout: _, ...rest } = record;
  removeTree(sessionFolder(record));
  session.write({ ...rest, working_copy: 'worktree' });
  return false;
}

/** Whether there are commits or files that the session did not start with and that are in no other place. */
async function hasWork(repository: Repository, record: SessionRecord): Promise<boolean> {
  const tip = await resolveObject(repository.git, record.work_branch);
  if (tip !== undefined && tip !== record.from_commit) return true;
  return existsSync(sessionFolder(record)) && (await uncapturedFiles(repository, record)).length > 0;
}
