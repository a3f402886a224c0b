/**
 * Only one process at a time changes a session, and none does while `agt gc` deletes unreachable objects: a
 * capture could refer to one of those (maintenance/retention/prune.ts).
 */
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLocked, withLock } from '../disk/lock.ts';
import { AgtError, EXIT } from '../errors.ts';
import { shadowRef, tipRef, workRef } from '../filter/agent-refs.ts';
import { readSessionFile } from '../filter/session-file.ts';
import { breakStaleLocks } from '../git/files/ref-locks.ts';
import { pruneLockFile, sessionLockFile } from '../layout.ts';
import { holdInterrupts, throwIfInterrupted } from '../process/interrupts.ts';
import { folderOfNamespace, type Repository } from '../repository/repository.ts';
import type { SessionId } from './id.ts';
import { ensureWorkspace } from './provider.ts';
import { pushLater } from './push-later.ts';
import { deleteRecord, readRecord, type SessionRecord, writeRecord } from './record.ts';
import { Session } from './session.ts';

/** `agt gc` deletes objects within seconds. A command on a session waits at most this long for it. */
const LONGEST_WAIT_FOR_GC_MS = 15_000;
/** Hooks and watchers capture in the background, and that takes seconds. */
export const USUAL_WAIT_MS = 10_000;
const POLL_MS = 50;

/** A session of which perhaps only the name is known. */
interface NamedSession {
  readonly repository: Repository;
  readonly id: SessionId;
  readonly record?: SessionRecord;
}

/** A session that this process has locked: only `withSessionLock` makes one. Every change takes one. */
class LockedSession extends Session {
  private current: SessionRecord | undefined;

  constructor({ repository, id, record }: NamedSession, current?: SessionRecord) {
    super(repository, record, id);
    this.current = current;
  }

  /** As somebody has first read it under the lock. */
  override get record(): SessionRecord {
    this.current ??= this.read() ?? this.given;
    if (this.current === undefined) throw new AgtError(`no session "${this.id}"`);
    return this.current;
  }

  /** The current metadata; undefined if there are none. */
  read(): SessionRecord | undefined {
    return readRecord(this.repository, this.id);
  }

  write(record: SessionRecord): void {
    const holds = isShort(record);
    if (holds) holdInterrupts(true);
    writeRecord(this.repository, record);
    if (!holds) holdInterrupts(false);
  }

  forget(): void {
    deleteRecord(this.repository, this.id);
    holdInterrupts(false);
  }

  override with(record: SessionRecord): LockedSession {
    return new LockedSession({ repository: this.repository, id: this.id }, record);
  }
}

export type { LockedSession };

/** An acceptance or a deletion of snapshots is not cut by Ctrl-C: nobody has to finish it. */
function isShort({ intent }: SessionRecord): boolean {
  if (intent?.operation === 'remove') return intent.outcome === 'accepted';
  return intent?.operation === 'accept' || intent?.operation === 'drop';
}

/** @throws AgtError with exit code 75 while another process holds the lock, for longer than `waitMs`. */
export async function withSessionLock<T>(
  named: NamedSession,
  action: (session: LockedSession) => Promise<T>,
  { mount = true, waitMs = USUAL_WAIT_MS, dryRun = false } = {},
): Promise<T> {
  const { repository, id } = named;
  refuseFromNamespace(repository, id);
  const pruneLock = pruneLockFile(repository.agtDir);
  const deadline = Date.now() + LONGEST_WAIT_FOR_GC_MS;
  for (;;) {
    while ((await isLocked(pruneLock)) && Date.now() < deadline) {
      await sleep(POLL_MS);
      throwIfInterrupted();
    }
    // Check again under the session's lock: agt gc takes its own lock first and then waits for the sessions'
    // locks.
    const done = await withLock(
      sessionLockFile(repository.agtDir, id),
      () => lockedName(repository, id),
      async () => {
        if (await isLocked(pruneLock)) return undefined;
        await breakRefLocks(repository, id);
        if (mount) mountAgain(repository, id);
        try {
          return { result: await action(new LockedSession(named)) };
        } finally {
          holdInterrupts(false);
        }
      },
      waitMs,
    );
    if (done !== undefined) {
      if (!dryRun) await pushLater(repository, id).catch(() => undefined); // the next one tries again
      return done.result;
    }
    if (Date.now() < deadline) continue;
    throw new AgtError('agt gc is deleting objects', {
      exitCode: EXIT.busy,
      hints: ['try again in a few seconds'],
    });
  }
}

/** For messages: an attached folder is no session to the user. */
export function lockedName({ agtDir }: Repository, id: string): string {
  const record = readSessionFile(agtDir, id) as Partial<SessionRecord> | undefined;
  return record?.working_copy === 'attached' ? `the folder ${record.checkout}` : `session "${id}"`;
}

/** An ended session has no folder, and one in creation may have half of it. */
function mountAgain({ agtDir }: Repository, id: SessionId): void {
  const record = readSessionFile(agtDir, id);
  if (record?.token === undefined || record.state === 'creating') return;
  ensureWorkspace(record);
}

/** Where the git directory stands at another path, git would write that path into other sandboxes. @throws AgtError */
export function refuseFromNamespace({ commonDir }: Repository, id: SessionId): void {
  const folder = folderOfNamespace(commonDir);
  if (folder === undefined || basename(folder) === id) return;
  throw new AgtError(`session "${id}" cannot be changed from inside of "${basename(folder)}"`, {
    hints: [`a command of that session runs at the user's own path; call agt outside of it`],
  });
}

/** A killed agt or git may have left git's locks on the refs of this session. Now nobody else changes them. */
async function breakRefLocks(repository: Repository, id: SessionId): Promise<void> {
  const { commonDir, prefixes, git } = repository;
  const branches = prefixes.flatMap((pair) => [shadowRef(pair, id), workRef(pair, id)]);
  const refs = [tipRef(id), ...branches];
  const locks = refs.map((ref) => join(commonDir, `${ref}.lock`));
  await breakStaleLocks(locks, async () => [commonDir, join(await repository.sessionsDir(), id), git.cwd]);
}

export function isBusy(error: unknown): boolean {
  return error instanceof AgtError && error.exitCode === EXIT.busy;
}

/** Does nothing where another process is at work. */
export async function unlessBusy(action: () => Promise<unknown>): Promise<void> {
  await action().catch((error: unknown) => {
    if (!isBusy(error)) throw error;
  });
}

/** git needs a moment to replace refs or packs. */
const CHANGE_PAUSE_MS = 200;
const CHANGE_ATTEMPTS = 5;

/** For work that can be repeated: git fails if another process deletes a ref or a pack that it has just seen. */
export async function retryAfterChange<T>(action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      const mayPass = error instanceof AgtError && error.exitCode === EXIT.git;
      if (!mayPass || attempt === CHANGE_ATTEMPTS) throw error;
    }
    await sleep(CHANGE_PAUSE_MS * attempt);
  }
}
