/** What the threads that confirm a scan together tell each other, in memory that they share. */
const [TAKEN, ENTERED, LEFT, CLOSED] = [0, 1, 2, 3];
const WORDS = 4;
/** A thread that does not come back for so long never will. */
const PATIENCE_MS = 30_000;

export class ConfirmControl {
  readonly bytes: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(bytes = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.bytes = bytes;
    this.words = new Int32Array(bytes);
  }

  /** The next stretch that nobody has taken. */
  take(): number {
    return Atomics.add(this.words, TAKEN, 1);
  }

  /** False where the others have finished without this thread. Threads have small numbers. */
  enter(thread: number): boolean {
    Atomics.or(this.words, ENTERED, 1 << thread);
    return Atomics.load(this.words, CLOSED) === 0;
  }

  leave(thread: number): void {
    Atomics.or(this.words, LEFT, 1 << thread);
    Atomics.notify(this.words, LEFT);
  }

  /** Keeps out who has not entered yet, and waits for the others: whether each has left, by its number. */
  close(): (thread: number) => 'stayed out' | 'left' | 'lost' {
    Atomics.store(this.words, CLOSED, 1);
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const left = Atomics.load(this.words, LEFT);
      const entered = Atomics.load(this.words, ENTERED);
      if ((entered & ~left) === 0 || Date.now() > until) {
        const has = (bits: number, thread: number) => (bits & (1 << thread)) !== 0;
        return (thread) => (!has(entered, thread) ? 'stayed out' : has(left, thread) ? 'left' : 'lost');
      }
      Atomics.wait(this.words, LEFT, left, 100);
    }
  }
}
