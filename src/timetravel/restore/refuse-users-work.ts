/** A session in place has the user's own work in its first snapshot: its end brings that back, and a restore must not. */
import { AgtError } from '../../errors.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { BEFORE_THE_SESSION } from '../../snapshot/own-labels.ts';

/** @throws AgtError for that snapshot. */
export function refuseUsersWork(
  { session_id: id, working_copy }: SessionRecord,
  { label, previous }: Snapshot,
): void {
  if (working_copy !== 'in-place' || previous !== undefined || label !== BEFORE_THE_SESSION) return;
  throw new AgtError(`that snapshot has your own work from before session "${id}"`, {
    hints: [`end the session, and agt brings it back: agt session reject ${id}`],
  });
}
