/** Notes in the metadata of a session: which command runs in it, and that agt or the agent has failed there. */
import { processIsGone } from '../disk/lock-owner.ts';
import { isActive } from '../filter/session-file.ts';
import { isBusy, type LockedSession, withSessionLock } from '../session/lock.ts';
import { failed, refuseAway } from '../session/operation.ts';
import type { Owner } from '../session/owner.ts';
import { type Failure, readRecord, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';

type Named = Pick<Session, 'repository' | 'id'>;

interface Taking {
  readonly waitMs?: number | undefined;
  /** Whether a program of this name is an agent: others do not take the place of one. */
  readonly isAgent?: (program: string) => boolean;
}

/** Another command that runs in the session stays its owner. */
export function takeOwnership(session: Named, owner: Owner, taking: Taking = {}): Promise<void> {
  const isFree = (present: Owner | undefined) => present === undefined || processIsGone(present);
  return changeOwner(session, (present) => (isFree(present) ? owner : present), taking);
}

export function endOwnership(session: Named, pid: number | undefined, waitMs?: number): Promise<void> {
  return changeOwner(session, (present) => (present?.pid === pid ? undefined : present), { waitMs });
}

/** `change` gets the present owner. If it returns that one, nothing is written. */
async function changeOwner(
  { repository, id }: Named,
  change: (present: Owner | undefined) => Owner | undefined,
  { waitMs, isAgent = () => true }: Taking,
): Promise<void> {
  const present = readRecord(repository, id)?.owner;
  if (change(present) === present) return;
  const write = async (session: LockedSession) => {
    const record = session.read();
    if (record === undefined || !isActive(record)) return;
    const { owner: before, ...rest } = record;
    const owner = change(before);
    if (owner === undefined) return session.write(rest);
    const keeps = isAgent(rest.agent ?? '') && !isAgent(owner.command);
    session.write({ ...rest, owner, ...(!keeps && { agent: owner.command }) });
  };
  await withSessionLock({ repository, id }, write, { waitMs });
}

/** The agent whose event came: perhaps a shell that owns the session has started it. */
export async function noteAgent({ repository, id }: Named, agent: string): Promise<void> {
  const isNew = (one: SessionRecord | undefined) => one !== undefined && isActive(one) && one.agent !== agent;
  if (!isNew(readRecord(repository, id))) return;
  await withSessionLock({ repository, id }, async (session) => {
    const record = session.read();
    if (record !== undefined && isNew(record)) session.write({ ...record, agent });
  });
}

/**
 * agt could not record a step: the next complete autocommit makes the session active again. Never throws: on a full disk agt
 * cannot write this down either, and its caller reports the first error.
 */
export async function markFailed(session: Session, error: unknown, now: Date): Promise<void> {
  if (isBusy(error)) return;
  const reason = error instanceof Error ? error.message : String(error);
  await writeFailure(session, { at: now.toISOString(), reason, of_turn: false }).catch(() => {}); // the disk is full, or the metadata are damaged
}

/** A turn of the agent has failed; the session is active again when it goes on. @throws AgtError if that cannot be written */
export async function failAgent(session: Session, reason: string, now: Date): Promise<void> {
  await writeFailure(session, { at: now.toISOString(), reason, of_turn: true });
}

function writeFailure({ repository, id }: Session, failure: Failure): Promise<void> {
  return withSessionLock({ repository, id }, async (session) => {
    const record = session.read();
    if (record === undefined || !isActive(record)) return;
    refuseAway(record);
    session.write(failed(record, failure));
  });
}
