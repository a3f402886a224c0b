/**
 * Keeps every session from being captured while unreachable objects are removed. `git fast-import` reuses an object
 * that is there already, however old and unreachable; one that is removed between that and the move of the ref would
 * be missing. What git's own commands reuse they make young first, so that the time of grace protects it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AgtError, EXIT } from '../../errors.ts';
import type { SessionId } from '../id.ts';
import { withSessionLock } from '../lock.ts';
import { listRecords } from '../record.ts';
import type { Repository } from '../repository.ts';

/** How long captures that are under way are waited for. */
const PATIENCE_MS = 60_000;
const BETWEEN_TRIES_MS = 100;

/** @throws AgtError with exit code 75 where a session stays busy. */
export async function withQuietSessions<T>(repository: Repository, action: () => Promise<T>): Promise<T> {
  const { records } = listRecords(repository);
  const ids = records.filter(({ state }) => state !== 'removed').map((record) => record.session_id);
  return lockAll(repository, ids, Date.now() + PATIENCE_MS, action);
}

function lockAll<T>(
  repository: Repository,
  [id, ...others]: readonly SessionId[],
  until: number,
  action: () => Promise<T>,
): Promise<T> {
  if (id === undefined) return action();
  return whenFree(repository, id, until, () => lockAll(repository, others, until, action));
}

/** The session's lock, waited for. @throws AgtError with exit code 75 where it stays busy. */
export function withPatience<T>(repository: Repository, id: SessionId, action: () => Promise<T>): Promise<T> {
  return whenFree(repository, id, Date.now() + PATIENCE_MS, action);
}

async function whenFree<T>(
  repository: Repository,
  id: SessionId,
  until: number,
  action: () => Promise<T>,
): Promise<T> {
  for (;;) {
    let locked = false;
    try {
      return await withSessionLock(repository, id, () => {
        locked = true;
        return action();
      });
    } catch (error) {
      const isBusy = !locked && error instanceof AgtError && error.exitCode === EXIT.busy;
      if (!isBusy || Date.now() > until) throw error;
    }
    await sleep(BETWEEN_TRIES_MS);
  }
}
