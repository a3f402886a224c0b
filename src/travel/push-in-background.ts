/** The process that `agt.push` starts (session/push-later.ts): without a word, also if the remote cannot be reached. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from '../disk/lock.ts';
import { AgtError } from '../errors.ts';
import { tipRef } from '../filter/agent-refs.ts';
import { resolveObject } from '../git/run/git.ts';
import { pushLocks } from '../layout.ts';
import { isBusy } from '../session/lock.ts';
import { Session } from '../session/session.ts';
import { copyOn, readShares, withCopy, writeShares } from '../session/share-file.ts';
import { readKeys } from './keys.ts';
import { type PushRequest, pushSession } from './push.ts';
import { newShare } from './share.ts';

type Request = Pick<PushRequest, 'env'> & { readonly remote: string; readonly now: () => Date };

/** Until the remote has every snapshot. A process that waits already does it. */
export async function pushInBackground(session: Session, request: Request): Promise<void> {
  const { repository, id } = session;
  const every = 1000 * repository.settings.pushEvery;
  const lock = pushLocks(repository.agtDir, id).waiting;
  await withLock(lock, `the push of session "${id}"`, async () => {
    for (let tip = ''; tip !== (await newest(session)); ) {
      const last = Date.parse(readShares(session).copies[0]?.pushed_at ?? '') || 0;
      await sleep(Math.max(0, Math.min(every, last + every - request.now().getTime())));
      tip = await newest(session);
      if (copyOn(session, request.remote).isDeleted) return;
      if (!(await tryPush(session, request))) return;
    }
  }).catch((error: unknown) => {
    if (!isBusy(error)) throw error;
  });
}

async function newest({ git, id }: Session): Promise<string> {
  return (await resolveObject(git, tipRef(id))) ?? '';
}

/** A failure is for `agt status`. The next snapshot tries again. */
async function tryPush(session: Session, { env, remote, now }: Request): Promise<boolean> {
  const time = now();
  try {
    const { copy } = copyOn(session, remote);
    if (copy?.plain === undefined && (await readKeys(env)) === undefined)
      throw new AgtError('you have no key yet: agt key new');
    // A key or a password that somebody would have to type.
    const git = { ...session.git, env: { ...session.git.env, GIT_TERMINAL_PROMPT: '0' } };
    const quiet = new Session({ ...session.repository, git }, session.record);
    const words = { release: false, again: false, dryRun: false, asItIs: true };
    await pushSession(quiet, { env, remote, now: time, ...words });
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const shares = readShares(session);
    const share = shares.copies[0] ?? newShare(remote);
    writeShares(session, withCopy(shares, { ...share, failed: { at: time.toISOString(), reason } }));
    return false;
  }
}
