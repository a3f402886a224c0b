/**
 * Captures sessions as their files change, until stopped; one capture at a time. If the kernel does not watch a folder,
 * its session is captured periodically. If a capture fails, it is retried. A removed session is dropped. If no sessions
 * were named, new sessions are watched as well.
 */

import { mkdirSync, rmSync, watch } from 'node:fs';
import type { CaptureResult } from '../../autocommit/capture.ts';
import { isCapturedByItself } from '../../filter/session-file.ts';
import { frontFactsFile, recordsDirectory } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionId } from '../../session/id.ts';
import { isBusy } from '../../session/lock.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { autocommit } from '../autocommit.ts';
import { WatchedSession, type WatchTimes } from './watched-session.ts';

/**
 * How long the last capture waits for another agt that is working on the session: long enough for most autocommits, and
 * not so long that agt seems to hang after Ctrl-C.
 */
const LAST_CAPTURE_WAIT_MS = 10_000;

export type WatchEvent =
  /** `reason`: why the session is captured periodically; undefined if the kernel watches its folder. */
  | { readonly kind: 'watching'; readonly id: SessionId; readonly reason: string | undefined }
  | { readonly kind: 'captured'; readonly record: SessionRecord; readonly result: CaptureResult }
  | { readonly kind: 'failed'; readonly id: SessionId; readonly error: unknown }
  | { readonly kind: 'dropped'; readonly id: SessionId };

export interface WatchOptions extends WatchTimes {
  /** Undefined: all active sessions. */
  readonly ids: readonly SessionId[] | undefined;
  readonly now: () => Date;
  readonly onEvent: (event: WatchEvent) => void;
}

export class SessionWatcher {
  private readonly repository: Repository;
  private readonly options: WatchOptions;
  private readonly sessions = new Map<SessionId, WatchedSession>();
  private readonly pause = new InterruptibleSleep();
  private readonly waiting: (() => Promise<void>)[] = [];
  private stopped = false;
  /** True if sessions may have been created or removed. */
  private recordsChanged = false;

  constructor(repository: Repository, options: WatchOptions) {
    this.repository = repository;
    this.options = options;
  }

  /** Makes `run` return after a last capture. */
  stop(): void {
    this.stopped = true;
    this.pause.wake();
  }

  /**
   * Captures a session for somebody who asks, before those that are due. `capture` returns undefined if it could not; the
   * session is then captured again.
   */
  captureFor<T>(id: SessionId | undefined, capture: () => Promise<T | undefined>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push(() => this.captureAsked(id, capture).then(resolve, reject));
      this.pause.wake();
    });
  }

  private async captureAsked<T>(
    id: SessionId | undefined,
    capture: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const session = id === undefined ? undefined : this.sessions.get(id);
    session?.captureStarted();
    if (session !== undefined) this.watchFolder(session);
    let result: T | undefined;
    try {
      result = await capture();
      return result;
    } finally {
      if (result === undefined) session?.retryAfter(this.options.debounceMs);
    }
  }

  /** Returns when stopped, or when no named session is left. True if the last captures were complete. */
  async run(): Promise<boolean> {
    const stopWatchingRecords = this.watchRecords();
    try {
      this.updateSessions();
      while (!this.stopped && (this.options.ids === undefined || this.sessions.size > 0)) {
        await this.captureOrSleep();
        if (this.recordsChanged) this.updateSessions();
      }
      return await this.captureAll();
    } finally {
      stopWatchingRecords();
      for (const session of this.sessions.values()) session.close();
    }
  }

  /** If the kernel refuses to watch the records, they are read again periodically. */
  private watchRecords(): () => void {
    const changed = () => {
      this.recordsChanged = true;
      this.pause.wake();
    };
    try {
      const dir = recordsDirectory(this.repository.agtDir);
      mkdirSync(dir, { recursive: true });
      const watcher = watch(dir, changed).on('error', () => undefined);
      return () => watcher.close();
    } catch {
      const timer = setInterval(changed, this.options.intervalMs);
      return () => clearInterval(timer);
    }
  }

  /** Drops sessions that are gone, and starts to watch new ones. */
  private updateSessions(): void {
    this.recordsChanged = false;
    const { ids } = this.options;
    const wanted = this.activeRecords().filter(
      ({ session_id }) => ids === undefined || ids.includes(session_id),
    );
    for (const record of wanted) {
      if (this.sessions.get(record.session_id)?.isGone()) this.forget(record.session_id);
      if (!this.sessions.has(record.session_id)) this.begin(record);
    }
    const wantedIds = new Set(wanted.map(({ session_id }) => session_id));
    for (const id of [...this.sessions.keys()].filter((id) => !wantedIds.has(id))) {
      this.forget(id);
      this.options.onEvent({ kind: 'dropped', id });
    }
  }

  private begin(record: SessionRecord): void {
    const facts = frontFactsFile(this.repository.agtDir, record.session_id);
    const session = new WatchedSession(record, this.options, () => {
      // The front need not look, and asks at once.
      rmSync(facts, { force: true });
      this.pause.wake();
    });
    this.sessions.set(record.session_id, session);
    this.watchFolder(session);
  }

  private forget(id: SessionId): void {
    this.sessions.get(id)?.close();
    this.sessions.delete(id);
  }

  private watchFolder(session: WatchedSession): void {
    if (!session.watchFolder()) return;
    this.options.onEvent({ kind: 'watching', id: session.record.session_id, reason: session.reason });
  }

  private async captureOrSleep(): Promise<void> {
    const first = this.waiting.shift();
    if (first !== undefined) return first();
    const next = this.nextDue();
    const waitMs = next === undefined ? undefined : next.due - Date.now();
    if (next !== undefined && waitMs !== undefined && waitMs <= 0) await this.capture(next.session);
    else await this.pause.sleep(waitMs);
  }

  private nextDue(): { session: WatchedSession; due: number } | undefined {
    const dues = [...this.sessions.values()].flatMap((session) =>
      session.due === undefined ? [] : [{ session, due: session.due }],
    );
    return dues.sort((a, b) => a.due - b.due)[0];
  }

  private async captureAll(): Promise<boolean> {
    let complete = true;
    for (const session of this.sessions.values()) {
      if (!(await this.capture(session, LAST_CAPTURE_WAIT_MS))) complete = false;
    }
    return complete;
  }

  /** Waits `waitMs` for another agt that is working on the session. Returns true if the capture was complete. */
  private async capture(session: WatchedSession, waitMs = 0): Promise<boolean> {
    const { now, onEvent, intervalMs, debounceMs } = this.options;
    const { record } = session;
    const id = record.session_id;
    session.captureStarted();
    this.watchFolder(session);
    if (session.reason !== undefined) session.retryAfter(intervalMs);
    try {
      const result = await autocommit(new Session(this.repository, record), { now: now(), waitMs });
      const complete = result.failed.length === 0;
      if (!complete) session.retryAfter(intervalMs);
      onEvent({ kind: 'captured', record, result });
      return complete;
    } catch (error) {
      const busy = isBusy(error);
      session.retryAfter(busy ? debounceMs : intervalMs);
      const isActive = this.activeRecords().some(({ session_id }) => session_id === id);
      if (!busy && isActive) onEvent({ kind: 'failed', id, error });
      return false;
    }
  }

  private activeRecords(): SessionRecord[] {
    return listRecords(this.repository).records.filter(isCapturedByItself);
  }
}

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
