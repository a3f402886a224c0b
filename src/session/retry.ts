/** Waits for whoever works on a session. */
import { AgtError, EXIT } from '../errors.ts';

const PAUSE_MS = 50;

/** Tries again while another agt is at work, for so many milliseconds. @throws whatever the last try throws. */
export async function retryWhileBusy<T>(longest: number, action: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + longest; ; ) {
    try {
      return await action();
    } catch (error) {
      if (!isBusy(error) || Date.now() >= end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

export function isBusy(error: unknown): boolean {
  return error instanceof AgtError && error.exitCode === EXIT.busy;
}
