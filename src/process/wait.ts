/** Waits without an event loop: nothing else happens in this process meanwhile. */
export function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** False if it is not done in time. All times are in milliseconds. */
export function waitUntil(isDone: () => boolean, longest: number, poll: number): boolean {
  const deadline = Date.now() + longest;
  while (!isDone()) {
    if (Date.now() > deadline) return false;
    pause(poll);
  }
  return true;
}
