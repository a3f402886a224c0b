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

export function watchSessions(repository: Repository, options: WatchOptions) {
  const { ids, now, onEvent, intervalMs, debounceMs } = options;
  const sessions = new Map<SessionId, WatchedSession>();
  const pause = new InterruptibleSleep();
  const waiting: (() => Promise<void>)[] = [];
  let stopped = false;
  /** True if sessions may have been created or removed. */
  let recordsChanged = false;

  const activeRecords = () => listRecords(repository).records.filter(isCapturedByItself);

  /** If the kernel refuses to watch the records, they are read again periodically. */
  const watchRecords = (): (() => void) => {
    const changed = () => {
      recordsChanged = true;
      pause.wake();
    };
    try {
      const dir = recordsDirectory(repository.agtDir);
      mkdirSync(dir, { recursive: true });
      const watcher = watch(dir, changed).on('error', () => undefined);
      return () => watcher.close();
    } catch {
      const timer = setInterval(changed, intervalMs);
      return () => clearInterval(timer);
    }
  };

  /** Drops sessions that are gone, and starts to watch new ones. */
  const updateSessions = () => {
    recordsChanged = false;
    const wanted = activeRecords().filter(({ session_id: id }) => ids === undefined || ids.includes(id));
    for (const record of wanted) {
      if (sessions.get(record.session_id)?.isGone()) forget(record.session_id);
      if (!sessions.has(record.session_id)) begin(record);
    }
    for (const id of new Set(sessions.keys()).difference(
      new Set(wanted.map(({ session_id }) => session_id)),
    )) {
      forget(id);
      onEvent({ kind: 'dropped', id });
    }
  };

  const begin = (record: SessionRecord) => {
    const facts = frontFactsFile(repository.agtDir, record.session_id);
    const session = new WatchedSession(record, options, () => {
      // The front need not look, and asks at once.
      rmSync(facts, { force: true });
      pause.wake();
    });
    sessions.set(record.session_id, session);
    watchFolder(session);
  };

  const forget = (id: SessionId) => {
    sessions.get(id)?.close();
    sessions.delete(id);
  };

  const watchFolder = (session: WatchedSession) => {
    if (session.watchFolder())
      onEvent({ kind: 'watching', id: session.record.session_id, reason: session.reason });
  };

  const captureOrSleep = async () => {
    const first = waiting.shift();
    if (first !== undefined) return first();
    const [next] = [...sessions.values()].sort((a, b) => a.due - b.due);
    const waitMs = (next?.due ?? Number.POSITIVE_INFINITY) - Date.now();
    if (next !== undefined && waitMs <= 0) await capture(next);
    else await pause.sleep(Number.isFinite(waitMs) ? waitMs : undefined);
  };

  /** Waits `waitMs` for another agt that is working on the session. Returns true if the capture was complete. */
  const capture = async (session: WatchedSession, waitMs = 0): Promise<boolean> => {
    const { record } = session;
    const id = record.session_id;
    session.captureStarted();
    watchFolder(session);
    if (session.reason !== undefined) session.retryAfter(intervalMs);
    try {
      const result = await autocommit(new Session(repository, record), { now: now(), waitMs });
      const complete = result.failed.length === 0;
      if (!complete) session.retryAfter(intervalMs);
      onEvent({ kind: 'captured', record, result });
      return complete;
    } catch (error) {
      const busy = isBusy(error);
      session.retryAfter(busy ? debounceMs : intervalMs);
      const isActive = activeRecords().some(({ session_id }) => session_id === id);
      if (!busy && isActive) onEvent({ kind: 'failed', id, error });
      return false;
    }
  };

  const captureAsked = async <T>(id: SessionId | undefined, action: () => Promise<T | undefined>) => {
    const session = id === undefined ? undefined : sessions.get(id);
    session?.captureStarted();
    if (session !== undefined) watchFolder(session);
    let result: T | undefined;
    try {
      result = await action();
      return result;
    } finally {
      if (result === undefined) session?.retryAfter(debounceMs);
    }
  };

  return {
    /** Makes `run` return after a last capture. */
    stop(): void {
      stopped = true;
      pause.wake();
    },

    /**
     * Captures a session for somebody who asks, before those that are due. `action` returns undefined if it could not; the
     * session is then captured again.
     */
    captureFor<T>(id: SessionId | undefined, action: () => Promise<T | undefined>): Promise<T | undefined> {
      return new Promise((resolve, reject) => {
        waiting.push(() => captureAsked(id, action).then(resolve, reject));
        pause.wake();
      });
    },

    /** Returns when stopped, or when no named session is left. True if the last captures were complete. */
    async run(): Promise<boolean> {
      const stopWatchingRecords = watchRecords();
      try {
        updateSessions();
        while (!stopped && (ids === undefined || sessions.size > 0)) {
          await captureOrSleep();
          if (recordsChanged) updateSessions();
        }
        let complete = true;
        for (const session of sessions.values())
          if (!(await capture(session, LAST_CAPTURE_WAIT_MS))) complete = false;
        return complete;
      } finally {
        stopWatchingRecords();
        for (const session of sessions.values()) session.close();
      }
    },
  };
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
