/** When to capture what keeps changing: some time after the last change, and no later than so long after the first. */
export class Debounce {
  private readonly quiet: number;
  private readonly longest: number;
  private first: number | undefined;
  private last = 0;

  /** In milliseconds, as all times here. */
  constructor(quiet: number, longest: number) {
    this.quiet = quiet;
    this.longest = longest;
  }

  changed(now: number): void {
    this.first ??= now;
    this.last = now;
  }

  /** What has changed until now is being captured. */
  started(): void {
    this.first = undefined;
  }

  /** Undefined where nothing has changed. */
  due(): number | undefined {
    return this.first === undefined ? undefined : Math.min(this.last + this.quiet, this.first + this.longest);
  }
}
