/** Tries again while other processes are in the way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AgtError, EXIT } from '../errors.ts';

/** Short enough that a user does not notice it; an autocommit takes longer. */
const PAUSE_MS = 50;

/** Tries again while another agt holds a lock that `action` needs. @throws the error of the last try */
export async function retryWhileBusy<T>(longestMs: number, action: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + longestMs; ; ) {
    try {
      return await action();
    } catch (error) {
      if (!isBusy(error) || Date.now() >= deadline) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

export function isBusy(error: unknown): boolean {
  return error instanceof AgtError && error.exitCode === EXIT.busy;
}

/** git needs a moment to replace refs or packs. */
const CHANGE_PAUSE_MS = 200;
const CHANGE_ATTEMPTS = 5;

/**
 * For work that can be done again: git fails if another process deletes a ref or replaces a pack that it has just seen.
 * @throws the error of the last try
 */
export async function retryAfterChange<T>(action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      const mayPass = error instanceof AgtError && error.exitCode === EXIT.git;
      if (!mayPass || attempt === CHANGE_ATTEMPTS) throw error;
    }
    await sleep(CHANGE_PAUSE_MS * attempt);
  }
}
