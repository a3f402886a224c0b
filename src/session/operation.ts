/** Begins and completes the operations of the table in state.ts. Each step writes the session's metadata. */
import { AgtError } from '../errors.ts';
import type { LockedSession } from './lock.ts';
import type { SessionRecord } from './record.ts';
import { GERUND, INTENT_OF_STATE, type Intent, type Operation, TRANSITIONS } from './state.ts';

/** @throws AgtError if the state of the session does not allow the operation. */
export function requireAllowed(record: SessionRecord, operation: Operation): void {
  if (TRANSITIONS[operation].from.includes(record.state)) return;
  const unfinished = INTENT_OF_STATE[record.state]?.operation;
  if (unfinished === undefined) {
    throw new AgtError(`session "${record.session_id}" is ${record.state}; agt cannot ${operation} it`);
  }
  throw new AgtError(`an earlier agt did not finish ${GERUND[unfinished]} session "${record.session_id}"`, {
    hints: ['finish or undo that: agt doctor --fix'],
  });
}

/** Writes the intent. @throws AgtError if the state of the session does not allow the operation. */
export function begin(session: LockedSession, record: SessionRecord, intent: Intent): SessionRecord {
  requireAllowed(record, intent.operation);
  const begun: SessionRecord = { ...record, state: TRANSITIONS[intent.operation].during, intent };
  session.write(begun);
  return begun;
}

/** Writes down that the command is done. */
export function complete(
  session: LockedSession,
  { intent, ...record }: SessionRecord,
  operation: Operation,
  now?: Date,
): SessionRecord {
  const { after } = TRANSITIONS[operation];
  if (after === 'forgotten') {
    session.forget();
    return record;
  }
  const done: SessionRecord = {
    ...record,
    state: after,
    ...(now === undefined ? {} : { last_activity_at: now.toISOString() }),
  };
  session.write(done);
  return done;
}
