/**
 * The owner of a session: the command that `agt session run` has started in it. An owner that has ended by itself is no
 * longer named. So if metadata name one that is gone, somebody has killed it together with its agt.
 */
import { identify, type ProcessIdentity, processIsGone } from '../disk/lock-owner.ts';
import { AgtError } from '../errors.ts';

export interface Owner extends ProcessIdentity {
  /** The name of the program, without its arguments: those may hold secrets. */
  readonly command: string;
  readonly at: string;
}

export function ownerOf(pid: number, command: string, now: Date): Owner {
  return { ...identify(pid), command, at: now.toISOString() };
}

/** @throws AgtError while the owner runs: it would lose the folder that it works in. */
export function refuseRunning(
  { session_id: id, owner }: { readonly session_id: string; readonly owner?: Owner },
  way: string,
): void {
  if (owner === undefined || processIsGone(owner)) return;
  throw new AgtError(`"${owner.command}" runs in session "${id}" (process ${owner.pid})`, {
    hints: ['wait until it has ended, or end it', way],
  });
}
