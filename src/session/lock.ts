/** One process at a time changes a session. */
import { join } from 'node:path';
import { withLock } from '../state/lock.ts';
import type { SessionId } from './id.ts';
import type { Repository } from './repository.ts';

/** @throws AgtError with exit code 75 while another process holds it. */
export function withSessionLock<T>(
  repository: Repository,
  id: SessionId,
  action: () => Promise<T>,
): Promise<T> {
  return withLock(join(repository.stateDir, 'locks', id), `session "${id}"`, action);
}
