/**
 * `agt session sweep`: reverts sessions that nobody works in any more and that nobody has accepted. A revert is a removal:
 * agt captures the session a last time, and its snapshots are kept until `agt gc`.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { processIsGone } from '../disk/lock-owner.ts';
import { systemPath } from '../disk/long-path.ts';
import { attempt, plural } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { gitText } from '../git/run/git.ts';
import { removeSession } from '../lifecycle/remove.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { isBusy } from '../session/lock.ts';
import { listRecords, readRecord, type SessionRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { isEnded } from '../session/state.ts';
import { previewCapture } from '../workspace/capture-session.ts';

export interface Abandoned {
  readonly record: SessionRecord;
  /** Why agt reverts it. */
  readonly reason: string;
}

export interface Swept extends Abandoned {
  /** Why agt could not revert it, or could not put back all that the user had before it. */
  readonly error?: unknown;
  readonly hasEnded: boolean;
}

/** `only`: among this one. */
export async function findAbandoned(
  repository: Repository,
  now: Date,
  only?: SessionId,
): Promise<Abandoned[]> {
  const found: Abandoned[] = [];
  for (const record of listRecords(repository).records) {
    if (only !== undefined && record.session_id !== only) continue;
    const reason = isHalfEnded(record) ? KILLED : await reasonToRevert(new Session(repository, record), now);
    if (reason !== undefined) found.push({ record, reason });
  }
  return found;
}

/** Goes on after a session that it cannot revert. One that another agt works on is not abandoned. */
export async function sweep(repository: Repository, now: Date, only?: SessionId): Promise<Swept[]> {
  const swept: Swept[] = [];
  for (const abandoned of await findAbandoned(repository, now, only)) {
    const { record, reason } = abandoned;
    const session = new Session(repository, record);
    if (hasEnded(session)) continue; // by another agt, meanwhile
    const ending = isHalfEnded(record) ? {} : { outcome: 'reverted' as const, reason };
    try {
      await removeSession(session, { force: false, now, ...ending });
      swept.push({ ...abandoned, hasEnded: true });
    } catch (error) {
      if (!isBusy(error)) swept.push({ ...abandoned, error, hasEnded: hasEnded(session) });
    }
  }
  return swept;
}

function hasEnded({ repository, id }: Session): boolean {
  const record = readRecord(repository, id);
  return record === undefined || (isEnded(record) && record.intent === undefined);
}

const KILLED = 'the agt that was ending it has died';

/** Its lock tells whether that agt still works. An acceptance is finished by the same command. */
export function isHalfEnded({ intent }: SessionRecord): boolean {
  return intent?.operation === 'remove' && intent.outcome !== 'accepted';
}

async function reasonToRevert(session: Session, now: Date): Promise<string | undefined> {
  const { repository, record } = session;
  const { owner, state, state_reason: why } = record;
  const { autoRevert, keepFailed, sessionTimeout } = repository.settings;
  // agt doctor first finishes another operation that was killed.
  if (!isActive(record) || record.intent !== undefined) return undefined;
  if (autoRevert !== 'always' && (autoRevert !== 'in-place' || record.checkout === undefined))
    return undefined;
  if (owner !== undefined && !processIsGone(owner)) return undefined;
  if (state === 'failed')
    return keepFailed ? undefined : `it has failed${why === undefined ? '' : `: ${why}`}`;
  if (owner !== undefined) return `its command ${owner.command} (process ${owner.pid}) has died`;
  const idle = (now.getTime() - Date.parse(record.last_activity_at)) / 1000;
  if (!(idle >= sessionTimeout)) return undefined;
  const idleFor = (now.getTime() - (await lastActivity(session, now))) / 1000;
  return idleFor >= sessionTimeout ? `nobody has worked in it for ${showTime(idleFor)}` : undefined;
}

/** Milliseconds since 1970. Files may have changed after the last autocommit. */
async function lastActivity(session: Session, now: Date): Promise<number> {
  const recorded = Date.parse(session.record.last_activity_at);
  try {
    const { commit, changes } = await previewCapture(session, { now });
    const times = changes.map(({ path }) => changeTime(join(session.folder, path)) ?? recorded);
    if (commit === undefined || commit === session.record.from_commit) return Math.max(recorded, ...times);
    const captured = 1000 * Number(await gitText(session.git, ['log', '-1', '--format=%ct', commit]));
    return Math.max(recorded, captured, ...times);
  } catch {
    return recorded; // the revert will say what is wrong
  }
}

/** Undefined for a file that is gone. */
function changeTime(path: string): number | undefined {
  return attempt(
    () => lstatSync(systemPath(Buffer.from(path).toString('latin1')), { throwIfNoEntry: false })?.ctimeMs,
  );
}

function showTime(seconds: number): string {
  if (seconds < 60) return plural(Math.floor(seconds), 'second');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  return `${Math.floor(minutes / 60)} hours`;
}
