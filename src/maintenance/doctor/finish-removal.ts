/** Finishes a removal of a session that was killed. */
import { existsSync } from 'node:fs';
import { AgtError } from '../../errors.ts';
import { planRemoval, removeSession } from '../../lifecycle/remove.ts';
import { uncapturedFiles } from '../../lifecycle/uncaptured.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';

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
  const { intent, checkout } = record;
  if (checkout !== undefined) return false; // it looks again itself
  const isMoving = intent?.operation === 'remove' && intent.phase === 'moving';
  return !isMoving && existsSync(sessionFolder(record));
}
