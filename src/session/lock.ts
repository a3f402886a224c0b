/**
 * One process at a time changes a session; and none does while unreachable objects are removed, or what a capture is
 * about to refer to might go (retention/quiet.ts).
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { isLocked, withLock } from '../disk/lock.ts';
import { AgtError, EXIT } from '../errors.ts';
import { pruneLockFile, sessionLockFile } from '../repository/layout.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from './id.ts';

/** How long the removal of objects is waited for: it takes seconds. */
const PATIENCE_MS = 15_000;
const BETWEEN_LOOKS_MS = 50;

/** @throws AgtError with exit code 75 while another process holds it. */
export async function withSessionLock<T>(
  repository: Repository,
  id: SessionId,
  action: () => Promise<T>,
): Promise<T> {
  const pruning = pruneLockFile(repository.agtDir);
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    while (isLocked(pruning) && Date.now() < until) await sleep(BETWEEN_LOOKS_MS);
    // Looked at again under the session's lock: whoever removes objects takes its own lock first, then looks at these.
    const done = await withLock(sessionLockFile(repository.agtDir, id), `session "${id}"`, async () =>
      isLocked(pruning) ? undefined : { result: await action() },
    );
    if (done !== undefined) return done.result;
    if (Date.now() < until) continue;
    throw new AgtError('agt gc is removing objects', {
      exitCode: EXIT.busy,
      hints: ['try again in a moment'],
    });
  }
}
