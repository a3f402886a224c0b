/** A sleep that can be ended early, also before it begins. */
export class InterruptibleSleep {
  private rung = false;
  private wake: (() => void) | undefined;

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  /** Until it rings, or for so many milliseconds. */
  async sleep(ms: number | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    if (!this.rung) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        if (ms !== undefined) timer = setTimeout(resolve, ms);
      });
    }
    clearTimeout(timer);
    this.wake = undefined;
    this.rung = false;
  }
}
