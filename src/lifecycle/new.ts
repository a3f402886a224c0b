/** `agt session new`: creates a session with an empty history and a sandbox at the start commit. */
import { rmSync } from 'node:fs';
import { seedStatCache } from '../autocommit/stat-cache/seed.ts';
import { readStatCache } from '../autocommit/stat-cache/stat-cache.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { succeeds } from '../errors.ts';
import { isCapturedByItself } from '../filter/session-file.ts';
import { type GitConfig, mayDifferInWorktrees, readGitConfig } from '../git/run/config.ts';
import { statCacheFile } from '../layout.ts';
import { type Repository, refuseHomeAndRoot } from '../repository/repository.ts';
import { checkId, generateId } from '../session/id.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import type { SessionRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { copyIncludedFiles, type Included, type SkippedFile } from '../session/worktree-include.ts';
import { AS_CHECKED_OUT, WITH_CHANGES } from '../snapshot/format.ts';
import { captureSession } from '../workspace/capture-session.ts';
import { type CloneSource, copyStatCache, warmUp } from '../workspace/clone.ts';
import { findTemplate, renewTemplate } from '../workspace/template.ts';
import { createSession, type SessionToCreate } from './create.ts';
import { resolveStartPoint, startAt } from './start-point.ts';
import {
  readCheckout,
  readUserChanges,
  readUserHead,
  requirePortable,
  takeAlong,
  type UserChanges,
} from './user-changes.ts';

export interface NewRequest extends Pick<SessionToCreate, 'now' | 'snapshots' | 'standsAt'> {
  /** agt waits for it before it changes anything. */
  readonly checked?: Promise<unknown>;
  readonly id: string | undefined;
  readonly from: string | undefined;
  readonly profile: string | undefined;
  readonly cwd: string;
  readonly showProgress: boolean;
  /** Take along the uncommitted work of the user's worktree. */
  readonly withChanges?: boolean;
  /** Look for uncommitted work that stays behind: in a large worktree git takes longer for that than agt for the session. */
  readonly looksForWork?: boolean;
}

interface StayingWork {
  /** Uncommitted paths of the user's worktree, as shown to people. */
  readonly paths: readonly string[];
  /** Why agt could not look for such paths. */
  readonly notRead?: string;
}

export interface NewSession {
  readonly record: SessionRecord;
  /** The files that agt copied into the sandbox, because `.worktreeinclude` names them. */
  readonly included: readonly string[];
  /** Those that it names and that agt did not copy. */
  readonly notIncluded: readonly SkippedFile[];
  /** Uncommitted paths of the user's worktree that are in the sandbox, as shown to people. */
  readonly taken: readonly string[];
  /** Those that are not. git may still look for them. */
  readonly staying: Promise<StayingWork>;
}

export async function newSession(repository: Repository, request: NewRequest): Promise<NewSession> {
  const id = request.id === undefined ? generateId(request.now) : checkId(request.id);
  // Before git looks for untracked files: it would walk through the whole disk.
  refuseHomeAndRoot(repository);
  const { from } = request;
  const config = readGitConfig(repository.git);
  config.catch(() => {}); // reported where it is needed
  const { start, changes: reading } = await readStart(repository, request);
  const changes = request.withChanges ? requirePortable(await reading, from) : undefined;
  await request.checked;
  let included: Included = { copied: [], skipped: [] };
  let left: readonly string[] = [];
  let source: CloneSource | undefined;
  const record = await createSession(repository, {
    ...request,
    id,
    workCommit: start.commit,
    userBranch: start.userBranch,
    from: start.session,
    fromSpec: start.spec,
    checkOut: true,
    config,
    clone: () => findTemplate(repository, start.commit, config),
    fill: async (session, { config: read, clone }) => {
      source = clone;
      const isSame = clone?.commit === start.commit;
      if (!isSame || !succeeds(() => copyStatCache(session, clone)))
        await seed(session, mayDifferInWorktrees(read) ? undefined : read);
      if (!isSame) await renewTemplate(session, read);
      included = await copyIncludedFiles(session);
      if (changes !== undefined) left = await takeAlong(session, changes);
    },
  });
  const session = new Session(repository, record);
  if (source !== undefined) await warmUp(session);
  await captureStart(session, request.now, changes !== undefined, included.copied.length > 0);
  const taken = changes?.paths.filter((path) => !left.includes(path)) ?? [];
  return {
    record,
    included: included.copied,
    notIncluded: included.skipped,
    taken: taken.map(displayPath),
    staying:
      changes === undefined ? describeStaying(reading) : Promise.resolve({ paths: left.map(displayPath) }),
  };
}

async function describeStaying(reading: Promise<UserChanges | undefined>): Promise<StayingWork> {
  try {
    return { paths: ((await reading)?.paths ?? []).map(displayPath) };
  } catch (error) {
    return { paths: [], notRead: (error as Error).message };
  }
}

/** Where somebody wants to know of the user's changes, git looks for them while agt makes the session. */
async function readStart(repository: Repository, request: NewRequest) {
  const { from, cwd } = request;
  const isWanted = request.withChanges === true || request.looksForWork === true;
  const head = from === undefined ? readUserHead(repository, cwd) : undefined;
  const needsGit = from === undefined && head === undefined;
  const checkout = from === undefined && (isWanted || needsGit) ? readCheckout(repository, cwd) : undefined;
  if (head !== undefined) {
    const changes = checkout?.then((checkedOut) => checkedOut?.changes) ?? Promise.resolve(undefined);
    changes.catch(() => {}); // reported when somebody needs it
    return { start: startAt(head), changes };
  }
  const found = await checkout;
  const start = found === undefined ? await resolveStartPoint(repository, from, cwd) : startAt(found);
  const changes =
    found?.changes ?? (isWanted ? await readUserChanges(repository, start.commit, cwd) : undefined);
  return { start, changes: Promise.resolve(changes) };
}

/** The user's changes, files that agt copied, and bytes that git changed as it checked them out are in no commit. */
async function captureStart(session: Session, now: Date, hasChanges: boolean, isMore: boolean) {
  const known = readStatCache(statCacheFile(session.repository.agtDir, session.id));
  const isAsCommitted = !hasChanges && !isMore && known?.files.hasUnread() === false;
  if (isAsCommitted || !isCapturedByItself(session.record)) return;
  const label = hasChanges ? WITH_CHANGES : AS_CHECKED_OUT;
  await withSessionLock(session, (locked) => captureSession(locked, { now, label })).catch(() => {}); // the next one says why
}

/** With a seeded stat cache the first autocommit need not read the files. If seeding fails, it reads them. */
async function seed(session: LockedSession, config: GitConfig | undefined): Promise<void> {
  const { git, repository, record, folder } = session;
  const { sandbox, from_commit: commit } = record;
  const { commonDir, agtDir } = repository;
  const statCache = statCacheFile(agtDir, session.id);
  const seeded = { folder, sandbox, commonDir, statCache, commit, config };
  await seedStatCache(git, seeded).catch(() => rmSync(statCache, { force: true }));
}
