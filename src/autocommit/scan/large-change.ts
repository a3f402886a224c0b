/**
 * A change that is large enough to freeze the folder first, which takes some 15 milliseconds: while agt reads so much, an
 * agent may write, and the snapshot would mix two moments. A small change is read in less time than that.
 */
const MOST_FILES = 256;
const MOST_BYTES = 32 * 1024 * 1024;

/** Thrown by a scan as soon as it has found that much to read, before it has read anything. */
export class LargeChange extends Error {}

/** @throws LargeChange */
export function refuseLargeChange(files: number, bytes: number): void {
  if (files > MOST_FILES || bytes > MOST_BYTES) throw new LargeChange();
}
