/** Undoes a creation of a session that was killed. */

import { existsSync } from 'node:fs';
import { AgtError } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { complete } from '../session/operation.ts';
import { readRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { captureSession } from '../workspace/capture-session.ts';
import { deleteCaptured, listPaths, readable } from './delete-folder.ts';
import { undoEntering } from './in-place/set-aside.ts';
import { planRemoval, removeSession } from './remove.ts';
import { uncapturedFiles } from './uncaptured.ts';

/** Makes an id free that only an unfinished creation has. @throws AgtError while another agt creates the session. */
export async function undoUnfinishedCreation(repository: Repository, id: SessionId): Promise<void> {
  const record = readRecord(repository, id);
  if (record?.intent?.operation === 'create') await undoCreation(new Session(repository, record));
}

/**
 * Removes a session that agt did not finish creating. If somebody has worked in it, agt captures the work
 * first and keeps the branches, as for any removed session.
 * @returns where that work is. @throws AgtError if the user's uncommitted work stays set aside
 */
export async function undoCreation(session: Session): Promise<string | undefined> {
  const { repository, record } = session;
  const id = record.session_id;
  const now = new Date();
  const { hasWork, trouble } = await withSessionLock(session, (locked) =>
    captureWork(locked.with(record), now),
  );
  const plan = await planRemoval(session.with(readRecord(repository, id) ?? record), !hasWork);
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

async function captureWork(session: LockedSession, now: Date): Promise<Captured> {
  if (session.read()?.intent?.operation !== 'create')
    throw new AgtError(`another agt is using session "${session.id}"`);
  if (session.record.checkout !== undefined) return workInCheckout(session);
  if (!(await hasWork(session))) return { hasWork: false };
  if (session.place !== 'here')
    throw new AgtError(`${session.folder} contains files that agt did not capture`);
  await captureSession(session.with({ ...session.record, state: 'active' }), { now, label: 'before doctor' });
  complete(session, 'create');
  return { hasWork: true };
}

/** Returns to the user's branch, unless somebody has worked in the session. */
async function workInCheckout(session: LockedSession): Promise<Captured> {
  const { git } = session.repository;
  const tip = await resolveObject(git, session.record.work_branch);
  const isLinked = session.place === 'here';
  const hasCommits = tip !== undefined && tip !== session.record.from_commit;
  const nothing = { trouble: undefined };
  const undone = !isLinked ? nothing : hasCommits ? undefined : await undoEntering(session);
  if (undone === undefined) {
    complete(session, 'create');
    return { hasWork: true };
  }
  const { checkout: _, ...rest } = session.record;
  const left = await deleteCaptured(session, false);
  if (left.paths.length > 0)
    throw new AgtError(`${session.folder} contains files that agt did not capture`, {
      hints: [`move them away: ${listPaths(readable(left).paths)}`],
    });
  session.write({ ...rest, working_copy: 'worktree' });
  return { hasWork: false, ...undone };
}

/** Whether there are commits or files that the session did not start with and that are in no other place. */
async function hasWork(session: Session): Promise<boolean> {
  const tip = await resolveObject(session.git, session.record.work_branch);
  if (tip !== undefined && tip !== session.record.from_commit) return true;
  return existsSync(session.folder) && (await uncapturedFiles(session)).length > 0;
}
