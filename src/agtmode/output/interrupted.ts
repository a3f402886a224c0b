/** Says how to go on with an operation that a person interrupts. */
import { AgtError, formatError } from '../../errors.ts';
import { shownId } from '../../folders/store.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { endingAtSteps, sayWhenInterrupted } from '../../process/interrupts.ts';
import { agtInFolder, commandToMove, commandToRestore } from '../../session/advised-commands.ts';
import { isAttached, readRecord, type SessionRecord } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import type { Context } from '../context.ts';

export const interruptible = telling(sayWhenInterrupted);

/** The same for an operation that nobody has to finish: it is done, or has not begun. */
export const doneOrNotBegun = telling(endingAtSteps);

function telling(run: typeof sayWhenInterrupted) {
  return async <T, R extends readonly unknown[]>(
    context: Context,
    session: Session,
    operation: (session: Session, ...request: R) => Promise<T>,
    ...request: R
  ): Promise<T> => {
    const result = await run(sayer(context, session), () => operation(session, ...request));
    context.completed?.();
    return result;
  };
}

function sayer(context: Context, { repository, id, record }: Session) {
  return () => {
    const present = readRecord(repository, id);
    if (present !== undefined) context.err(formatError(describe(present, record), false));
  };
}

function describe(record: SessionRecord, before: SessionRecord): AgtError {
  const { session_id: id, intent, checkout } = record;
  const what = isAttached(record) ? `"${shownId(record)}"` : `session "${id}"`;
  const interrupted = (state: string, ...hints: string[]) => new AgtError(`interrupted; ${state}`, { hints });
  if (intent?.operation === 'restore') {
    const isWhole = TOP_FOLDERS.every((top) => intent.scope.includes(top));
    const agt = isAttached(record) && checkout !== undefined ? agtInFolder(checkout) : 'agt';
    const restore = (commit: string) => commandToRestore(record, shortOid(commit));
    const move = (way: 'undo' | 'redo') => commandToMove(record, way);
    const { by = 'restore', snapshot, tip } = intent;
    const again = by === 'restore' ? restore(snapshot) : move(by);
    const back = by === 'undo' ? tip && restore(tip) : move('undo');
    const goOn = `go on: ${isWhole ? again : `${agt} doctor --fix`}`;
    const orBack = back === undefined ? [] : [`or go back: ${back}`];
    return interrupted(`${what} is only partly restored`, goOn, ...orBack);
  }
  const operation = intent?.operation ?? '';
  if (operation === 'remove')
    return interrupted(`${what} is only partly removed`, `go on: agt session remove ${id}`);
  if (['accept', 'unaccept', 'sync'].includes(operation)) {
    const finish = `finish it: agt session ${operation} ${id}`;
    return interrupted(`the ${operation} of ${what} is not finished`, finish, 'or see: agt doctor');
  }
  if (record.landed?.commit !== before.landed?.commit)
    return interrupted(`the work of ${what} had been accepted`, `take it back: agt session unaccept ${id}`);
  return interrupted(`${what} has not changed`);
}
