/** Writes down which command runs in a session. */
import { isActive } from '../filter/session-file.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { withSessionLock } from '../session/lock.ts';
import type { Owner } from '../session/owner.ts';
import { readRecord } from '../session/record.ts';
import { retryWhileBusy } from '../session/retry.ts';

/** Another agt may be capturing a large sandbox. */
const LONGEST_WAIT_MS = 60_000;

/** `change` gets the present owner. If it returns that one, nothing is written. */
export async function changeOwner(
  repository: Repository,
  id: SessionId,
  change: (present: Owner | undefined) => Owner | undefined,
  longestMs = LONGEST_WAIT_MS,
): Promise<void> {
  const present = readRecord(repository, id)?.owner;
  if (change(present) === present) return;
  await retryWhileBusy(longestMs, () =>
    withSessionLock(repository, id, async (session) => {
      const record = session.read();
      if (record === undefined || !isActive(record)) return;
      const { owner: before, ...rest } = record;
      const owner = change(before);
      session.write(owner === undefined ? rest : { ...rest, owner });
    }),
  );
}
