/** Begins and completes the operations of the table in state.ts. Each step writes the session's metadata. */
import { AgtError } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import type { LockedSession } from './lock.ts';
import type { Failure, SessionRecord } from './record.ts';
import { placeOf } from './share-file.ts';
import { GERUND, type Intent, isEnded, type Operation, type SessionState, TRANSITIONS } from './state.ts';

/** @throws AgtError */
export function requireActive(record: SessionRecord): void {
  const { session_id: id, state } = record;
  if (!isActive(record))
    throw new AgtError(`session "${id}" is ${state}, not active`, {
      hints: [...wayBack(record), ...(isEnded(record) ? [`to see what it did: agt session diff ${id}`] : [])],
    });
}

/** Hints. Not agt unaccept: the branch may have lost the work, or gone on. */
export function wayBack(record: SessionRecord): string[] {
  const { session_id: id, landed } = record;
  if (record.away !== undefined) return [...awayError(record).hints];
  const work = landed ? `, and leave ${shortBranch(landed.onto)} as it is` : '';
  return [isEnded(record) ? `bring it back${work}: agt undo ${id}` : 'see: agt session list --all'];
}

/** The same in one sentence, of a session that ends. */
export function bringsBack(record: SessionRecord): string {
  if (record.away === undefined) return `agt undo ${record.session_id} brings it back`;
  return wayBack(record).join(', ');
}

/** @throws AgtError if the session goes on in another repository */
export function refuseAway(record: SessionRecord): void {
  if (record.away !== undefined) throw awayError(record);
}

export function awayError({ session_id: id, away }: SessionRecord, hints: readonly string[] = []): AgtError {
  const { holder, remote, sealed } = away ?? {};
  const pull = `agt session pull ${id}${holder || sealed ? ' --take' : ''}`;
  const [place, way] = sealed
    ? [
        `somebody else has it on ${remote}, encrypted for other keys`,
        `to take it: let them add your public key (agt key show) to agt.recipients and push again, then: ${pull}`,
      ]
    : [`it is ${placeOfAway(away)}`, `bring it here: ${pull}`];
  const fork = `or go on with what is here as another session: agt session fork ${id}`;
  return new AgtError(`session "${id}" is away: ${place}`, { hints: [...hints, way, fork] });
}

export function placeOfAway({ holder, remote }: Partial<NonNullable<SessionRecord['away']>> = {}): string {
  return holder === undefined ? `on ${remote}` : `at ${placeOf(holder)}`;
}

/** They change nothing that another repository goes on with. */
const HERE: readonly Operation[] = ['remove', 'drop', 'unaccept'];

/** @throws AgtError if the state of the session does not allow the operation. */
export function requireAllowed(record: SessionRecord, operation: Operation): void {
  if (!HERE.includes(operation)) refuseAway(record);
  if (TRANSITIONS[operation].from.includes(record.state)) return;
  const unfinished = record.intent?.operation;
  if (unfinished === undefined) {
    throw new AgtError(`session "${record.session_id}" is ${record.state}; agt cannot ${operation} it`, {
      hints: wayBack(record),
    });
  }
  throw unfinishedError(record.session_id, unfinished);
}

export function unfinishedError(id: string, operation: Operation): AgtError {
  return new AgtError(`an earlier agt did not finish ${GERUND[operation]} session "${id}"`, {
    hints: ['finish or undo that: agt doctor --fix'],
  });
}

/** Writes the intent. @throws AgtError if the state of the session does not allow the operation. */
export function begin(session: LockedSession, intent: Intent): SessionRecord {
  requireAllowed(session.record, intent.operation);
  const { during } = TRANSITIONS[intent.operation];
  const state = during === 'same' ? session.record.state : during;
  const begun: SessionRecord = { ...inState(session.record, state, { now: new Date() }), intent };
  session.write(begun);
  return begun;
}

/** Writes down that the command is done. */
export function complete(session: LockedSession, operation: Operation, now?: Date): SessionRecord {
  const { intent, owner, ...record } = session.record;
  const { after } = TRANSITIONS[operation];
  if (after === 'forgotten') {
    session.forget();
    return record;
  }
  const ending = intent?.operation === 'remove' ? intent : undefined;
  const active = {
    ...record,
    ...(now === undefined ? {} : { last_activity_at: now.toISOString() }),
    ...(owner === undefined || operation === 'remove' ? {} : { owner }),
  };
  const stays = record.state === 'accepted' ? 'removed' : record.state; // its work is off the branch
  const next = after === 'active' && record.away !== undefined ? stays : after;
  const done = inState(active, ending?.outcome ?? next, { now: now ?? new Date(), reason: ending?.reason });
  session.write(done);
  return done;
}

/** The record with another state, and with the time and the reason of that. One that has failed and goes on is failed. */
export function inState(
  { state_at: at, state_reason: earlier, failure, ...record }: SessionRecord,
  wanted: SessionState,
  { now, reason }: { readonly now: Date; readonly reason?: string | undefined },
): SessionRecord {
  const isFailed = wanted === 'active' && failure !== undefined;
  const state = isFailed ? 'failed' : wanted;
  const known = record.state === state && reason === undefined;
  const since = isFailed ? failure.at : known ? at : now.toISOString();
  const why = isFailed ? failure.reason : known ? earlier : reason;
  return {
    ...record,
    state,
    ...(since && { state_at: since }),
    ...(why === undefined ? {} : { state_reason: why }),
    ...(failure && state !== 'reverted' && { failure }),
  };
}

export function failed(record: SessionRecord, failure: Failure): SessionRecord {
  return inState({ ...record, failure }, 'active', { now: new Date(failure.at) });
}

/** The failure is no more. */
export function mended({ failure: _, ...record }: SessionRecord, now: Date): SessionRecord {
  return inState(record, 'active', { now });
}
