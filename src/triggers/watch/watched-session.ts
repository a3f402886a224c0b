/** One session of `agt watch`: whether the kernel watches its folder, and when to capture it next. */
import { errorCode } from '../../errors.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { type FolderWatcher, watchFolder } from './folder-watcher.ts';

/** By the kernel's error. */
const LIMITS: Readonly<Record<string, string>> = {
  ENOSPC: "the kernel's limit of watched directories is reached (fs.inotify.max_user_watches)",
  EMFILE: "the kernel's limit of watchers is reached (fs.inotify.max_user_instances)",
};

const IN_PLACE = 'it works in your own checkout';

const NOT_TRIED = '';

export interface WatchTimes {
  /** Milliseconds without a change before a capture. */
  readonly debounceMs: number;
  /** Milliseconds: from the first change to the capture at most, and between two attempts. */
  readonly intervalMs: number;
}

export class WatchedSession {
  readonly record: SessionRecord;
  private readonly debounce: Debounce;
  private readonly onFirstChange: () => void;
  /** Why the kernel does not watch the folder; undefined if it does. */
  reason: string | undefined = NOT_TRIED;
  private folder: FolderWatcher | undefined;
  /** When to capture even if no change is known. At first now, since files may have changed before. */
  private retryTime = Date.now();

  constructor(record: SessionRecord, { debounceMs, intervalMs }: WatchTimes, onFirstChange: () => void) {
    this.record = record;
    this.debounce = new Debounce(debounceMs, intervalMs);
    this.onFirstChange = onFirstChange;
  }

  /** When to capture next, in milliseconds since 1970; infinite if nothing has changed. */
  get due(): number {
    return Math.min(this.debounce.due() ?? Number.POSITIVE_INFINITY, this.retryTime);
  }

  /** True if the watched folder was deleted or replaced. */
  isGone(): boolean {
    return this.folder?.isGone() === true;
  }

  /** Makes the kernel watch the folder. Returns true if `reason` changed. */
  watchFolder(): boolean {
    const before = this.reason;
    if (this.record.checkout !== undefined) {
      this.reason = IN_PLACE;
      return before !== IN_PLACE;
    }
    // A limit lasts longer than a capture, and trying again would take all watches that are left.
    if (before !== undefined && Object.values(LIMITS).includes(before)) return false;
    try {
      this.folder?.rebuildIfNeeded();
      const { record } = this;
      this.folder ??= watchFolder(sessionFolder(record), record.sandbox, () => this.changed());
      this.reason = undefined;
    } catch (error) {
      this.close();
      this.reason = LIMITS[errorCode(error)] ?? (error as Error).message;
    }
    return this.reason !== before;
  }

  captureStarted(): void {
    this.debounce.started();
    this.retryTime = Number.POSITIVE_INFINITY;
  }

  retryAfter(ms: number): void {
    this.retryTime = Date.now() + ms;
  }

  close(): void {
    this.folder?.close();
    this.folder = undefined;
  }

  /** Only the first change wakes the loop. Later changes put the capture off, and the loop checks `due` again then. */
  private changed(): void {
    const isFirst = this.debounce.due() === undefined;
    this.debounce.changed(Date.now());
    if (isFirst) this.onFirstChange();
  }
}

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
