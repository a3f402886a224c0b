/** Other processes are in the way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AgtError, EXIT } from '../errors.ts';

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
