/** The operations that agt did not complete, as a table: how `agt doctor` finishes or undoes each. */
import { existsSync } from 'node:fs';
import { isLocked } from '../../disk/lock.ts';
import { AgtError } from '../../errors.ts';
import { shortBranch, shortOid } from '../../git/files/ref-files.ts';
import { sessionLockFile } from '../../layout.ts';
import { removeSession } from '../../lifecycle/remove.ts';
import { uncapturedFiles, undoCreation } from '../../lifecycle/undo-creation.ts';
import type { Repository } from '../../repository/repository.ts';
import { withSessionLock } from '../../session/lock.ts';
import { removalOf, type SessionRecord } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { GERUND, type Operation } from '../../session/state.ts';
import { applyRetentionToSession } from '../retention/gc.ts';
import { FIX, type Finding, type Finishers } from './finding.ts';

/** The command that a person would run instead of `agt doctor --fix`. */
const COMMANDS: Partial<Record<Operation, (record: SessionRecord) => string>> = {
  remove: (record) =>
    `agt session ${removalOf(record)?.outcome === 'rejected' ? 'reject' : 'remove'} ${record.session_id}`,
  drop: () => 'agt gc',
  unaccept: ({ session_id: id }) => `agt session unaccept ${id}`,
};

/** Undefined if none is. */
export function checkIntent(session: Session, finishers: Finishers): Finding | undefined {
  const { session_id: about, intent } = session.record;
  if (intent === undefined) return undefined;
  const ways = { ...finishers, create: undoCreation, remove: finishRemoval, drop: finishDrop };
  const mend = COMMANDS[intent.operation]?.(session.record) ?? FIX;
  const fix = () => ways[intent.operation](session);
  const { landed } = session.record;
  const hasLanded = removalOf(session.record)?.outcome === 'accepted' && landed !== undefined;
  const after = hasLanded
    ? `, after its work had come to ${shortBranch(landed.onto)} as ${shortOid(landed.commit)}`
    : '';
  const problem = `agt did not finish ${GERUND[intent.operation]} it${after}`;
  return { level: 'error', about, problem, mend, fix };
}

/** Of all sessions, without the fixes, which need git. */
export async function unfinishedOperations(
  repository: Repository,
  records: readonly SessionRecord[],
  finishers: Finishers,
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const session of records.map((record) => new Session(repository, record))) {
    const finding = checkIntent(session, finishers);
    if (finding === undefined || (await isLocked(sessionLockFile(repository.agtDir, session.id)))) continue;
    const { fix: _, ...withoutFix } = finding;
    found.push(withoutFix);
  }
  return found;
}

async function finishDrop(session: Session): Promise<void> {
  await withSessionLock(session, (locked) =>
    applyRetentionToSession(locked.with(session.record), { thin: false, now: new Date() }),
  );
}

/** @throws AgtError if somebody has worked in the folder since the capture before the removal. */
async function finishRemoval(session: Session): Promise<void> {
  const { record, folder } = session;
  // One that is still moving the folder, or is of a checkout, captures it once more itself.
  const looksAgain = record.checkout !== undefined || removalOf(record)?.phase === 'moving';
  const lost = looksAgain || !existsSync(folder) ? [] : await uncapturedFiles(session);
  if (lost.length > 0) {
    const advice = 'copy what you need, then run the command that agt doctor names';
    throw new AgtError(`not captured: ${lost.join(', ')} (${advice})`);
  }
  await removeSession(session, { force: false, now: new Date() });
}
