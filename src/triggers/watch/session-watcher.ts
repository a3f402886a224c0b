/**
 * Captures sessions as their files change, until told to stop. One capture at a time. A session whose folder the kernel
 * will not watch is captured periodically instead; one that could not be captured is tried again; one that was removed is
 * left alone. Without named sessions, those that are made meanwhile are watched too.
 */

import { type FSWatcher, mkdirSync, watch } from 'node:fs';
import type { CaptureResult } from '../../autocommit/capture.ts';
import { errorCode } from '../../errors.ts';
import { recordsDirectory } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionId } from '../../session/id.ts';
import { listRecords, type SessionRecord, sessionFolder } from '../../session/record.ts';
import { isBusy, patiently } from '../../session/wait.ts';
import { autocommit } from '../autocommit.ts';
import { Debounce } from './debounce.ts';
import { FolderWatcher } from './folder-watcher.ts';
import { InterruptibleSleep } from './interruptible-sleep.ts';

/** How long a last capture waits for another agt that works on the session. */
const LAST_WAIT_MS = 10_000;

export type WatchEvent =
  /** `reason`: why it is captured periodically. */
  | { readonly kind: 'watching'; readonly id: SessionId; readonly reason: string | undefined }
  | { readonly kind: 'captured'; readonly record: SessionRecord; readonly result: CaptureResult }
  | { readonly kind: 'failed'; readonly id: SessionId; readonly error: unknown }
  | { readonly kind: 'dropped'; readonly id: SessionId };

export interface WatchOptions {
  /** Undefined: all that are active. */
  readonly ids: readonly SessionId[] | undefined;
  /** Milliseconds without a change before a capture. */
  readonly quiet: number;
  /** Milliseconds: from the first change to the capture at most, and between two tries. */
  readonly interval: number;
  readonly now: () => Date;
  readonly told: (event: WatchEvent) => void;
}

interface Watched {
  readonly record: SessionRecord;
  readonly debounce: Debounce;
  folder: FolderWatcher | undefined;
  /** Why the kernel does not watch it; empty where that has not been tried yet. */
  reason: string | undefined;
  /** When to capture it even if nothing is known to have changed. */
  retryAt: number | undefined;
}

export class SessionWatcher {
  private readonly repository: Repository;
  private readonly options: WatchOptions;
  private readonly sessions = new Map<SessionId, Watched>();
  private readonly alarm = new InterruptibleSleep();
  private stopped = false;
  /** Whether sessions may have come or gone. */
  private recordsChanged = false;

  private readonly recordsChange = () => {
    this.recordsChanged = true;
    this.alarm.ring();
  };

  constructor(repository: Repository, options: WatchOptions) {
    this.repository = repository;
    this.options = options;
  }

  /** Ends `run` after a last capture. */
  stop(): void {
    this.stopped = true;
    this.alarm.ring();
  }

  /** Until stopped, or until the last of the named sessions is removed. True where the last captures were complete. */
  async run(): Promise<boolean> {
    const records = this.watchRecords();
    const timer = records === undefined ? setInterval(this.recordsChange, this.options.interval) : undefined;
    try {
      this.refresh();
      while (!this.stopped && (this.options.ids === undefined || this.sessions.size > 0)) {
        const next = this.next();
        const wait = next === undefined ? undefined : next.at - Date.now();
        if (next !== undefined && (wait as number) <= 0) await this.capture(next.session);
        else await this.alarm.sleep(wait);
        if (this.recordsChanged) this.refresh();
      }
      let complete = true;
      for (const session of this.sessions.values())
        complete = (await this.capture(session, LAST_WAIT_MS)) && complete;
      return complete;
    } finally {
      records?.close();
      clearInterval(timer);
      for (const { folder } of this.sessions.values()) folder?.close();
    }
  }

  /** Undefined where the kernel refuses: the records are then read again every now and then. */
  private watchRecords(): FSWatcher | undefined {
    try {
      const dir = recordsDirectory(this.repository.agtDir);
      mkdirSync(dir, { recursive: true });
      return watch(dir, this.recordsChange).on('error', () => undefined);
    } catch {
      return undefined;
    }
  }

  private refresh(): void {
    this.recordsChanged = false;
    const { ids, told } = this.options;
    const active = listRecords(this.repository).records.filter(({ state }) => state === 'active');
    const wanted = active.filter(({ session_id }) => ids === undefined || ids.includes(session_id));
    for (const record of wanted) {
      const known = this.sessions.get(record.session_id);
      if (known?.folder?.isGone()) {
        known.folder.close();
        this.sessions.delete(record.session_id);
      }
      if (!this.sessions.has(record.session_id)) this.begin(record);
    }
    const known = new Set(wanted.map(({ session_id }) => session_id));
    for (const [id, { folder }] of this.sessions) {
      if (known.has(id)) continue;
      folder?.close();
      this.sessions.delete(id);
      told({ kind: 'dropped', id });
    }
  }

  /** What has changed before counts as changed now. */
  private begin(record: SessionRecord): void {
    const debounce = new Debounce(this.options.quiet, this.options.interval);
    const session: Watched = { record, debounce, folder: undefined, reason: '', retryAt: Date.now() };
    this.sessions.set(record.session_id, session);
    this.follow(session);
  }

  /** Sees to it that the kernel watches the folder, and tells where that has changed. */
  private follow(session: Watched): void {
    const { record, debounce, reason: before } = session;
    try {
      session.folder?.settle();
      session.folder ??= new FolderWatcher(sessionFolder(record), record.sandbox, () => {
        // A later change moves the capture further off: whoever sleeps until then looks again.
        const isFirst = debounce.due() === undefined;
        debounce.changed(Date.now());
        if (isFirst) this.alarm.ring();
      });
      session.reason = undefined;
    } catch (error) {
      session.folder?.close();
      session.folder = undefined;
      session.reason = refusal(error);
    }
    if (session.reason !== before)
      this.options.told({ kind: 'watching', id: record.session_id, reason: session.reason });
  }

  private next(): { session: Watched; at: number } | undefined {
    const times = [...this.sessions.values()].flatMap((session) =>
      [session.debounce.due(), session.retryAt]
        .filter((at) => at !== undefined)
        .map((at) => ({ session, at })),
    );
    return times.sort((a, b) => a.at - b.at)[0];
  }

  /** Another agt at work on the session is waited for, so many milliseconds. True where the capture was complete. */
  private async capture(session: Watched, wait = 0): Promise<boolean> {
    const { record, debounce } = session;
    const { now, told, interval, quiet } = this.options;
    const id = record.session_id;
    debounce.started();
    // A limit stays for longer than a capture, and finding it out again takes all the watches that there are.
    if (session.reason === undefined || !LIMITS.includes(session.reason)) this.follow(session);
    session.retryAt = session.folder === undefined ? Date.now() + interval : undefined;
    try {
      const result = await patiently(wait, () => autocommit(this.repository, record, { now: now() }));
      if (result.failed.length > 0) session.retryAt = Date.now() + interval;
      told({ kind: 'captured', record, result });
      return result.failed.length === 0;
    } catch (error) {
      const busy = isBusy(error);
      session.retryAt = Date.now() + (busy ? quiet : interval);
      const isGone = !listRecords(this.repository).records.some(
        ({ session_id, state }) => session_id === id && state === 'active',
      );
      if (!busy && !isGone) told({ kind: 'failed', id, error });
      return false;
    }
  }
}

const NO_WATCHES = "the kernel's limit of watched directories is reached (fs.inotify.max_user_watches)";
const NO_WATCHERS = "the kernel's limit of watchers is reached (fs.inotify.max_user_instances)";
const LIMITS: readonly string[] = [NO_WATCHES, NO_WATCHERS];

function refusal(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOSPC') return NO_WATCHES;
  return code === 'EMFILE' ? NO_WATCHERS : (error as Error).message;
}
