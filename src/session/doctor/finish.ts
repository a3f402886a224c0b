/** What a command that was killed had begun with a session, brought to an end or undone. */
import { existsSync, readdirSync } from 'node:fs';
import { TOP_FOLDERS } from '../../autocommit/tops.ts';
import { AgtError } from '../../errors.ts';
import { captureSession } from '../autocommit.ts';
import { withSessionLock } from '../lock.ts';
import { resolveMoment } from '../moment.ts';
import { readRecord, type SessionRecord, sessionFolder, writeRecord } from '../record.ts';
import { planRemoval, removeSession } from '../remove.ts';
import type { Repository } from '../repository.ts';
import { restoreSession } from '../restore/restore.ts';
import { applyToSession } from '../retention/gc.ts';
import { sandboxIsThere } from '../sandbox.ts';

/**
 * Undoes a session that was never finished being made. Somebody may have worked in it all the same: what is new in it
 * is captured first, and then its states stay, as those of a removed session do.
 */
export async function undoCreation(repository: Repository, record: SessionRecord): Promise<void> {
  const now = new Date();
  const id = record.session_id;
  const hasWork = await withSessionLock(repository, id, async () => {
    const current = readRecord(repository, id);
    if (current?.state !== 'creating') throw new AgtError(`session "${id}" is being worked on`);
    if (!sandboxIsThere(record)) {
      if (holdsFiles(sessionFolder(record))) throw new AgtError(`${sessionFolder(record)} holds files`);
      return false;
    }
    const active: SessionRecord = { ...record, state: 'active' };
    const { changes } = await captureSession(repository, active, { now, label: 'before doctor' });
    if (changes.every(({ kind }) => kind === 'deleted')) return false;
    writeRecord(repository, active);
    return true;
  });
  const plan = await planRemoval(repository, record, !hasWork);
  await removeSession(repository, plan, { force: !hasWork, now });
}

function holdsFiles(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => !entry.isDirectory());
}

export async function finishRemoving(repository: Repository, record: SessionRecord): Promise<void> {
  const plan = await planRemoval(repository, record, false);
  await removeSession(repository, plan, { force: false, now: new Date() });
}

export async function finishDropping(repository: Repository, record: SessionRecord): Promise<void> {
  await withSessionLock(repository, record.session_id, () =>
    applyToSession(repository, record, { thin: false, now: new Date() }),
  );
}

export async function finishRestoring(repository: Repository, record: SessionRecord): Promise<void> {
  const now = new Date();
  const moment = await resolveMoment(repository, record, record.restoring ?? '', now);
  await restoreSession(repository, record, {
    scope: TOP_FOLDERS,
    by: 'restore',
    now,
    choose: async () => moment,
  });
}
