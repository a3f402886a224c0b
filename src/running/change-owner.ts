/** Writes down which command runs in a session. */
import { isActive } from '../filter/session-file.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import type { Owner } from '../session/owner.ts';
import { readRecord } from '../session/record.ts';

/** `change` gets the present owner. If it returns that one, nothing is written. */
export async function changeOwner(
  repository: Repository,
  id: SessionId,
  change: (present: Owner | undefined) => Owner | undefined,
  waitMs?: number,
): Promise<void> {
  const present = readRecord(repository, id)?.owner;
  if (change(present) === present) return;
  const write = async (session: LockedSession) => {
    const record = session.read();
    if (record === undefined || !isActive(record)) return;
    const { owner: before, ...rest } = record;
    const owner = change(before);
    session.write(owner === undefined ? rest : { ...rest, owner });
  };
  await withSessionLock({ repository, id }, write, { waitMs });
}
