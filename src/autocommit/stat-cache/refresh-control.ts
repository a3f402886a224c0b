/** How the threads of one refresh divide the work and wait for each other, in memory that they share. */
const [TAKEN, ENTERED, LEFT, CLOSED] = [0, 1, 2, 3];
const WORDS = 4;
/** The main thread gives up on a thread that has not finished by then. */
const PATIENCE_MS = 30_000;
/** How often it looks at the clock meanwhile. */
const CHECK_MS = 100;

export class RefreshControl {
  readonly bytes: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(bytes = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.bytes = bytes;
    this.words = new Int32Array(bytes);
  }

  /** The number of the next batch that no thread has taken. */
  takeBatch(): number {
    return Atomics.add(this.words, TAKEN, 1);
  }

  /** A thread starts to work. False if it comes too late. `thread` is below 32. */
  enter(thread: number): boolean {
    Atomics.or(this.words, ENTERED, 1 << thread);
    return Atomics.load(this.words, CLOSED) === 0;
  }

  /** A thread has finished. */
  leave(thread: number): void {
    Atomics.or(this.words, LEFT, 1 << thread);
    Atomics.notify(this.words, LEFT);
  }

  /** Lets no other thread enter, and waits until those that entered have left. */
  close(): void {
    Atomics.store(this.words, CLOSED, 1);
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const left = Atomics.load(this.words, LEFT);
      const entered = Atomics.load(this.words, ENTERED);
      if ((entered & ~left) === 0 || Date.now() > deadline) return;
      Atomics.wait(this.words, LEFT, left, CHECK_MS);
    }
  }
}
