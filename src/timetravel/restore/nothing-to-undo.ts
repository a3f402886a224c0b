/** Why an undo goes nowhere, and what leads on. */
import { AgtError, plural } from '../../errors.ts';
import { shownId } from '../../folders/store.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { commandToList, commandToMove, commandToRestore } from '../../session/advised-commands.ts';
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { promptIn } from '../../snapshot/format.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { authorsOf } from '../turns.ts';
import { isUsersWork } from './unfinished-restore.ts';

interface Way {
  readonly steps: readonly { readonly first: Snapshot }[];
  readonly current: number;
  readonly begin: number;
  readonly zero: number;
  /** Steps that an undo could go to. */
  readonly earlier: readonly unknown[];
  readonly unit: 'step' | 'turn';
}

export function nothingToUndo({ record }: Session, way: Way): AgtError {
  const { steps, current, begin, zero, earlier, unit } = way;
  const id = shownId(record);
  const hints = [`see: ${commandToList(record)}`];
  if (unit === 'turn' && earlier.length > 0) {
    const isForked = begin > 0 && steps.slice(begin + 1).every(({ first }) => promptIn(first) === undefined);
    const reason = isForked
      ? `"${id}" has no turn since the fork; those before are of "${record.from}"`
      : `"${id}" has no turn left to take back by time`;
    return new AgtError(`nothing to undo: ${reason}`, {
      hints: [
        `see: ${commandToList(record)} --turns`,
        `to go by time, one step back: ${commandToMove(record, 'undo')}`,
      ],
    });
  }
  if (begin > 0) {
    const parent = commandToRestore(record, 'SNAPSHOT');
    const reason = `"${id}" has no step of its own left; those before are of "${record.from}"`;
    return new AgtError(`nothing to undo: ${reason}`, {
      hints: [...hints, `to go to one of those: ${parent}`],
    });
  }
  const [oldest] = steps;
  const usersWork = oldest !== undefined && isUsersWork(oldest.first) ? oldest.first : undefined;
  if (usersWork !== undefined && record.working_copy !== 'in-place')
    hints.push(
      `your own work from before the session: ${commandToRestore(record, shortOid(usersWork.commit))}`,
    );
  const reason =
    earlier.length === 0
      ? current > 0
        ? `"${id}" has no earlier step of its own, and an undo stops at the beginning of the session`
        : `"${id}" is at its ${current <= zero && steps.length > 0 ? 'start' : 'first step'}`
      : isAttached(record)
        ? `no earlier snapshot of "${id}" would change anything`
        : `all earlier snapshots of "${id}" equal the current one`;
  return new AgtError(`nothing to undo: ${reason}`, { hints });
}

/** `most`: the stops that there are, with restores, and without turns that have left nothing. */
export function tooFar(
  { record }: Session,
  by: 'undo' | 'redo',
  { unit, count }: { readonly unit: 'step' | 'turn'; readonly count: number },
  most: number,
  history: readonly Snapshot[],
): AgtError {
  const { turns } = authorsOf(history.toReversed(), isAttached(record));
  const isByTurn = unit === 'turn' && turns.length > 0;
  const id = shownId(record);
  const reason =
    by === 'undo'
      ? isByTurn && most !== turns.length
        ? `after ${most} of them, nothing earlier in "${id}" would change anything`
        : `only ${plural(most, `earlier ${unit}`)} of "${id}" would change something`
      : `${plural(most, unit)} ${most === 1 ? 'brings' : 'bring'} "${id}" to its last step`;
  return new AgtError(`cannot ${by} ${plural(count, unit)}: ${reason}`, {
    hints: [`nothing has changed; see: ${commandToList(record)}${isByTurn ? ' --turns' : ''}`],
  });
}
