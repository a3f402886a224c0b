/** Waits for another agt that holds a lock. */
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
