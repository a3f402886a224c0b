/** When to capture files that keep changing: some time after the last change, but not too long after the first. */
export class Debounce {
  private readonly afterLast: number;
  private readonly afterFirst: number;
  private firstChange: number | undefined;
  private lastChange = 0;

  /** All times are in milliseconds. */
  constructor(afterLast: number, afterFirst: number) {
    this.afterLast = afterLast;
    this.afterFirst = afterFirst;
  }

  changed(now: number): void {
    this.firstChange ??= now;
    this.lastChange = now;
  }

  /** A capture has started; it includes all changes so far. */
  started(): void {
    this.firstChange = undefined;
  }

  /** When to capture; undefined if nothing has changed. */
  due(): number | undefined {
    if (this.firstChange === undefined) return undefined;
    return Math.min(this.lastChange + this.afterLast, this.firstChange + this.afterFirst);
  }
}
