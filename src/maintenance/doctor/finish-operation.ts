/** What a command that was killed had begun with a session, brought to an end or undone. */
import { existsSync } from 'node:fs';
import { AgtError } from '../../errors.ts';
import { resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureSession } from '../../session/capture-session.ts';
import { planRemoval, removeSession } from '../../session/lifecycle/remove.ts';
import { withSessionLock } from '../../session/lock.ts';
import { complete } from '../../session/operation.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { sandboxExists } from '../../session/sandbox.ts';
import { uncapturedFiles } from './uncaptured.ts';

/**
 * Undoes a session that was never finished being made. Somebody may have worked in it all the same: what is new in it
 * is captured first, and then its states stay, as those of a removed session do.
 */
export async function undoCreation(repository: Repository, record: SessionRecord): Promise<void> {
  const now = new Date();
  const id = record.session_id;
  const hasWork = await withSessionLock(repository, id, async (session) => {
    if (session.read()?.intent?.operation !== 'create')
      throw new AgtError(`another process works on session "${id}"`);
    if (!(await holdsWork(repository, record))) return false;
    if (!sandboxExists(record))
      throw new AgtError(`${sessionFolder(record)} holds files that are nowhere else`);
    await captureSession(session, { ...record, state: 'active' }, { now, label: 'before doctor' });
    complete(session, record, 'create');
    return true;
  });
  const plan = await planRemoval(repository, record, !hasWork);
  await removeSession(repository, plan, { force: !hasWork, now });
}

/** Files or commits that are neither what the session was made with nor anywhere else. */
async function holdsWork(repository: Repository, record: SessionRecord): Promise<boolean> {
  const work = await resolveObject(repository.git, record.work_branch);
  if (work !== undefined && work !== record.from_commit) return true;
  return existsSync(sessionFolder(record)) && (await uncapturedFiles(repository, record)).length > 0;
}

/** @throws AgtError where somebody has worked in the folder since the last capture, which came before the removal. */
export async function finishRemoval(repository: Repository, record: SessionRecord): Promise<void> {
  const lost = existsSync(sessionFolder(record)) ? await uncapturedFiles(repository, record) : [];
  if (lost.length > 0)
    throw new AgtError(`not captured: ${lost.join(', ')} (copy what you need, then do what agt doctor says)`);
  const plan = await planRemoval(repository, record, false);
  await removeSession(repository, plan, { force: false, now: new Date() });
}
