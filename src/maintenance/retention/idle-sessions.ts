/** Waits until no agt uses a session: agt deletes objects only while no capture runs (see README.md). */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLocked, withLock } from '../../disk/lock.ts';
import { AgtError, EXIT } from '../../errors.ts';
import { locksDirectory, pruneLockFile } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { idProblem } from '../../session/id.ts';
import { lockedName } from '../../session/lock.ts';

/** `agt gc` waits at most this long for each lock: a capture of a large folder takes a while. */
export const LONGEST_WAIT_MS = 60_000;
const POLL_MS = 50;

/**
 * Runs `action` while no session is in use. A command that starts now waits for the lock that this function
 * takes (session/lock.ts), also if it creates a session. This function waits for commands that started
 * earlier.
 * @throws AgtError with exit code 75 if a session stays in use.
 */
export function withIdleSessions<T>(repository: Repository, action: () => Promise<T>): Promise<T> {
  return withLock(pruneLockFile(repository.agtDir), 'the object store', async () => {
    const locks = locksDirectory(repository.agtDir);
    for (const id of readdirSync(locks).filter((name) => idProblem(name) === undefined)) {
      const deadline = Date.now() + LONGEST_WAIT_MS;
      while (await isLocked(join(locks, id))) {
        if (Date.now() > deadline) throw busy(lockedName(repository, id));
        await sleep(POLL_MS);
      }
    }
    return action();
  });
}

function busy(name: string): AgtError {
  return new AgtError(`another agt is using ${name}`, {
    exitCode: EXIT.busy,
    hints: ['agt deleted no objects; try again in a moment'],
  });
}
