/** A sleep that `wake` ends early. A `wake` that comes before the sleep ends the next sleep at once. */
export class InterruptibleSleep {
  private woken = false;
  private endSleep: (() => void) | undefined;

  wake(): void {
    this.woken = true;
    this.endSleep?.();
  }

  /** Sleeps for `ms` milliseconds; undefined: until `wake`. */
  async sleep(ms: number | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    if (!this.woken) {
      await new Promise<void>((resolve) => {
        this.endSleep = resolve;
        if (ms !== undefined) timer = setTimeout(resolve, ms);
      });
    }
    clearTimeout(timer);
    this.endSleep = undefined;
    this.woken = false;
  }
}
