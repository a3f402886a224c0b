/** Finishes or undoes a creation or a removal of a session that was killed. */
import { existsSync } from 'node:fs';
import { AgtError } from '../../errors.ts';
import { resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureSession } from '../../session/capture-session.ts';
import { planRemoval, removeSession } from '../../session/lifecycle/remove.ts';
import { type LockedSession, withSessionLock } from '../../session/lock.ts';
import { complete } from '../../session/operation.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { sandboxExists } from '../../session/sandbox-place.ts';
import { uncapturedFiles } from './uncaptured.ts';

/**
 * Removes a session that agt did not finish creating. If somebody has worked in it, agt captures the work
 * first and keeps the branches, as for any removed session.
 */
export async function undoCreation(repository: Repository, record: SessionRecord): Promise<void> {
  const now = new Date();
  const hasWork = await withSessionLock(repository, record.session_id, (session) =>
    captureWork(session, record, now),
  );
  const plan = await planRemoval(repository, record, !hasWork);
  await removeSession(repository, plan, { force: !hasWork, now });
}

/** False if there is no work to capture. */
async function captureWork(session: LockedSession, record: SessionRecord, now: Date): Promise<boolean> {
  if (session.read()?.intent?.operation !== 'create')
    throw new AgtError(`another agt is using session "${session.id}"`);
  if (!(await hasWork(session.repository, record))) return false;
  if (!sandboxExists(session.repository, record))
    throw new AgtError(`${sessionFolder(record)} contains files that agt did not capture`);
  await captureSession(session, { ...record, state: 'active' }, { now, label: 'before doctor' });
  complete(session, record, 'create');
  return true;
}

/** Whether there are commits or files that the session did not start with and that are in no other place. */
async function hasWork(repository: Repository, record: SessionRecord): Promise<boolean> {
  const tip = await resolveObject(repository.git, record.work_branch);
  if (tip !== undefined && tip !== record.from_commit) return true;
  return existsSync(sessionFolder(record)) && (await uncapturedFiles(repository, record)).length > 0;
}

/** @throws AgtError if somebody has worked in the folder since the capture before the removal. */
export async function finishRemoval(repository: Repository, record: SessionRecord): Promise<void> {
  const lost = mayHaveChanged(record) ? await uncapturedFiles(repository, record) : [];
  if (lost.length > 0) {
    const advice = 'copy what you need, then run the command that agt doctor names';
    throw new AgtError(`not captured: ${lost.join(', ')} (${advice})`);
  }
  const plan = await planRemoval(repository, record, false);
  await removeSession(repository, plan, { force: false, now: new Date() });
}

/** A removal that is still moving the folder captures it once more itself. */
function mayHaveChanged(record: SessionRecord): boolean {
  const { intent } = record;
  const isMoving = intent?.operation === 'remove' && intent.phase === 'moving';
  return !isMoving && existsSync(sessionFolder(record));
}
