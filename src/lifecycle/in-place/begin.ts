/** `agt session new --working-copy in-place`: a session in the user's own checkout, for agents that can work only there. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../../disk/lock.ts';
import { AgtError } from '../../errors.ts';
import { stashRef } from '../../filter/agent-refs.ts';
import { isActive } from '../../filter/session-file.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { gitAnswer, gitBytes, inDirectory, resolveObject } from '../../git/run/git.ts';
import { checkoutLockFile } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { sessionContaining } from '../../session/find-session.ts';
import { checkId, generateId, type SessionId } from '../../session/id.ts';
import { listRecords, readRecord } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { readOperation } from '../../snapshot/git-dir-files.ts';
import { createSession, requireFreeId, type SessionToCreate } from '../create.ts';
import { removeSession } from '../remove.ts';
import { resolveStartPoint } from '../start-point.ts';
import { undoCreation } from '../undo-creation.ts';
import { inPlace, refuseOtherGit } from './checkout.ts';
import { aboutSetAside, enterCheckout } from './set-aside.ts';

/** Another agt captures the checkout and switches its branch. */
const LONGEST_WAIT_MS = 60_000;

interface InPlaceRequest extends Pick<SessionToCreate, 'now' | 'snapshots'> {
  readonly id: string | undefined;
  readonly profile: string | undefined;
  /** Revert an earlier session in the same checkout. */
  readonly replace: boolean;
  /** The agent goes on with the user's uncommitted work. */
  readonly withChanges: boolean;
}

/**
 * @returns `work`: readable paths of the user's uncommitted work; unless the agent has it, it comes back when
 * the session ends. `kept`: where work is that somebody did after an earlier agt was killed.
 * @throws AgtError if the checkout is on no branch, or in the middle of something. Then nothing has changed.
 */
export async function newSessionInPlace(repository: Repository, request: InPlaceRequest) {
  const id = request.id === undefined ? generateId(request.now) : checkId(request.id);
  const checkout = requireCheckout(repository);
  const lock = checkoutLockFile(repository.agtDir, gitDirOf(checkout) ?? checkout);
  const action = () => begin(repository, { ...request, id, checkout });
  return withLock(lock, `the checkout ${checkout}`, action, LONGEST_WAIT_MS);
}

async function begin(
  repository: Repository,
  request: InPlaceRequest & { readonly id: SessionId; readonly checkout: string },
) {
  const { id, checkout } = request;
  const kept = await finishKilled(repository, checkout, request.now);
  if (readRecord(repository, id) !== undefined) await requireFreeId(repository, id);
  await requireNothingSetAside(repository, id);
  const replaced = listRecords(repository).records.find(
    (record) => isActive(record) && record.checkout === checkout,
  );
  if (replaced !== undefined) await replace(new Session(repository, replaced), request);
  await requireQuiet(repository, checkout);
  const start = await resolveStartPoint(repository, undefined, checkout);
  let work: readonly string[] = [];
  const record = await createSession(repository, {
    ...request,
    workCommit: start.commit,
    userBranch: start.userBranch,
    fill: async (session) => {
      work = await enterCheckout(inPlace(session), request.now, request.withChanges);
    },
  });
  return { record, replaced, work, kept };
}

/** An agt that was killed while it began or ended a session has left the checkout between two branches. */
async function finishKilled(repository: Repository, checkout: string, now: Date): Promise<string[]> {
  const kept: string[] = [];
  for (const record of listRecords(repository).records.filter((one) => one.checkout === checkout)) {
    if (record.intent?.operation === 'create') {
      const work = await undoCreation(new Session(repository, record));
      if (work !== undefined) kept.push(`${record.session_id}: ${work}`);
    }
    if (record.intent?.operation === 'remove')
      await removeSession(new Session(repository, record), { force: false, now });
  }
  return kept;
}

/** @throws AgtError while work of the user that could not be put back is under the ref that this session would use. */
async function requireNothingSetAside({ git }: Repository, id: string): Promise<void> {
  const ref = stashRef(id);
  if ((await resolveObject(git, ref)) === undefined) return;
  throw new AgtError(`${ref} still has uncommitted work of yours from before an earlier session "${id}"`, {
    hints: [...aboutSetAside(ref), 'or choose another id'],
  });
}

function requireCheckout(repository: Repository): string {
  const checkout = repository.worktree;
  if (checkout === undefined)
    throw new AgtError('there is no checkout here to work in', {
      hints: ['change to one, or leave out in-place'],
    });
  const around = sessionContaining(repository, checkout);
  if (around === undefined || around.checkout !== undefined) return checkout;
  throw new AgtError(`this is the sandbox of session "${around.session_id}", not your own checkout`, {
    hints: ['it needs no session in place: the agent can work here'],
  });
}

async function replace(session: Session, request: InPlaceRequest): Promise<void> {
  if (!request.replace) {
    throw new AgtError(`session "${session.id}" works in this checkout`, {
      hints: [`end it first: agt session remove ${session.id}; without --no-replace agt reverts it`],
    });
  }
  const reason = 'a new session began in the same checkout';
  await removeSession(session, { force: false, now: request.now, outcome: 'reverted', reason });
}

/** @throws AgtError unless the checkout is on a branch, without a conflict and without an operation in progress. */
async function requireQuiet(repository: Repository, checkout: string): Promise<void> {
  const git = inDirectory(repository.git, checkout);
  await refuseOtherGit({ checkout });
  if ((await gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD'])) === undefined) {
    throw new AgtError('HEAD is detached in your checkout: agt could not return to a branch', {
      hints: ['check out a branch: git switch <branch>, or git switch -c <new branch>'],
    });
  }
  const directory = gitDirOf(checkout) ?? checkout;
  const isAm = existsSync(join(directory, 'rebase-apply/applying'));
  const operation = isAm ? 'am' : readOperation(directory);
  if (operation !== null) {
    throw new AgtError(`${isAm ? 'a git am' : `a ${operation}`} is in progress in your checkout`, {
      hints: [
        `finish it first, or give it up: git ${operation === 'bisect' ? 'bisect reset' : `${operation} --abort`}`,
      ],
    });
  }
  if ((await gitBytes(git, ['ls-files', '--unmerged', '-z'])).length > 0) {
    throw new AgtError('the index of your checkout has conflicts', {
      hints: ['resolve them and git add the files; see: git status'],
    });
  }
}
