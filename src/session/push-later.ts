/**
 * `agt.push`: when the lock of a session with new snapshots is released, a process of its own pushes the session
 * (travel/push.ts). It waits until `agt.pushEvery` has passed since the last push, and takes the snapshots
 * that come meanwhile.
 */
import { isLocked } from '../disk/lock.ts';
import { attempt } from '../errors.ts';
import { tipRef } from '../filter/agent-refs.ts';
import { findObject } from '../git/objects/object-reader.ts';
import { pushLocks } from '../layout.ts';
import { startAgt } from '../process/invocation.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from './id.ts';
import { isAttached, readRecord, type SessionRecord } from './record.ts';
import { copyOn } from './share-file.ts';
import { isEnded } from './state.ts';

export async function pushLater(repository: Repository, id: SessionId): Promise<void> {
  const { agtDir, git } = repository;
  if (!(await recordToPush(repository, id)) || (await isLocked(pushLocks(agtDir, id).waiting))) return;
  // The agent's call ends before. Nobody is there to type a password.
  startAgt(['session', 'push', id, '--later'], git.cwd, { ...git.env, GIT_TERMINAL_PROMPT: '0' });
}

/** As the disk has it now, if `agt.push` is to send a snapshot of the session, or its state. */
export async function recordToPush(
  repository: Repository,
  id: SessionId,
): Promise<SessionRecord | undefined> {
  const { settings, git } = repository;
  if (!settings.enabled || settings.push === '' || !Number.isFinite(settings.pushEvery)) return undefined;
  const record = attempt(() => readRecord(repository, id));
  if (record === undefined || isAttached(record) || record.away !== undefined) return undefined;
  const { copy, isDeleted } = copyOn({ repository, id }, settings.push);
  if (isDeleted || (copy === undefined && isEnded(record))) return undefined;
  // Since its end, agt gc alone has changed it.
  if (isEnded(record) && copy?.state === record.state) return undefined;
  const tip = await findObject(git, tipRef(id));
  const isSaid = (copy?.state ?? record.state) === record.state && copy?.refs['tip'] === tip;
  // The tip of a new session is the commit where it began.
  return tip === undefined || tip === record.from_commit || isSaid ? undefined : record;
}
