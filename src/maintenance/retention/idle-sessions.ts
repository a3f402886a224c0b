/**
 * Waiting for others. `git fast-import` reuses an object that is there already, however old and unreachable; one that is
 * removed between that and the move of the ref would be missing. So objects are removed only while nobody captures. What
 * git's own commands reuse they make young first, so that the time of grace protects it.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLocked, withLock } from '../../disk/lock.ts';
import { AgtError, EXIT } from '../../errors.ts';
import { locksDirectory, pruneLockFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { idProblem } from '../../session/id.ts';

/** How long whoever is at work is waited for. */
export const LONGEST_WAIT_MS = 60_000;
const BETWEEN_TRIES_MS = 50;

/**
 * Runs `action` while nobody works on any session, also on none that is made meanwhile: who comes now waits for the
 * lock that is taken here (../lock.ts), and who came before is waited for.
 * @throws AgtError with exit code 75 where a session stays busy.
 */
export function withIdleSessions<T>(repository: Repository, action: () => Promise<T>): Promise<T> {
  return withLock(pruneLockFile(repository.agtDir), 'the object store', async () => {
    const dir = locksDirectory(repository.agtDir);
    for (const id of readdirSync(dir).filter((name) => idProblem(name) === undefined)) {
      const until = Date.now() + LONGEST_WAIT_MS;
      while (isLocked(join(dir, id))) {
        if (Date.now() > until) throw busy(id);
        await sleep(BETWEEN_TRIES_MS);
      }
    }
    return action();
  });
}

function busy(id: string): AgtError {
  return new AgtError(`session "${id}" is being worked on by another agt`, {
    exitCode: EXIT.busy,
    hints: ['no objects were removed; try again in a moment'],
  });
}
