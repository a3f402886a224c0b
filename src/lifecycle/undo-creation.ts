/** Undoes a creation of a session that was killed. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { observeFiles } from '../autocommit/observe.ts';
import { systemPath } from '../disk/long-path.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, attempt, listSome, SOME } from '../errors.ts';
import { tipRef } from '../filter/agent-refs.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { registrationOf } from '../git/files/worktree-registrations.ts';
import { type Git, gitAnswer, resolveObject, runGit } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { complete } from '../session/operation.ts';
import { readRecord } from '../session/record.ts';
import { putOnWorkBranch } from '../session/register-worktree.ts';
import { Session } from '../session/session.ts';
import { captureSession, captureTarget } from '../workspace/capture-session.ts';
import { ensureWorktree } from '../workspace/ensure-worktree.ts';
import { deleteCaptured, readable } from './delete-folder.ts';
import { undoEntering } from './in-place/set-aside.ts';
import { removeSession } from './remove.ts';

/** Makes an id free that only an unfinished creation has. @throws AgtError while another agt creates the session. */
export async function undoUnfinishedCreation(repository: Repository, id: SessionId): Promise<void> {
  const record = readRecord(repository, id);
  if (record?.intent?.operation === 'create') await undoCreation(new Session(repository, record));
}

/**
 * Removes a session that agt did not finish creating. If somebody has worked in it, agt captures the work
 * first and keeps the branches, as for any removed session.
 * @returns where that work is. @throws AgtError if the user's uncommitted work stays set aside
 */
export async function undoCreation(session: Session): Promise<string | undefined> {
  const { id, record } = session;
  const now = new Date();
  const { hasWork, trouble } = await withSessionLock(session, (locked) =>
    captureWork(locked.with(record), now),
  );
  await removeSession(session, { force: !hasWork, deleteBranch: !hasWork, now });
  if (trouble !== undefined) throw trouble;
  if (!hasWork) return undefined;
  return `agt kept what was changed since then on ${shortBranch(record.branch)}; agt undo ${id} brings it back`;
}

interface Captured {
  readonly hasWork: boolean;
  /** Why something of the user's stays set aside. */
  readonly trouble?: AgtError | undefined;
}

async function captureWork(session: LockedSession, now: Date): Promise<Captured> {
  if (session.read()?.intent?.operation !== 'create')
    throw new AgtError(`another agt is using session "${session.id}"`);
  if (session.record.checkout !== undefined) return workInCheckout(session);
  if (!(await hasWork(session))) return { hasWork: false };
  await mendWorktree(session);
  await captureSession(session.with({ ...session.record, state: 'active' }), { now, label: 'before doctor' });
  complete(session, 'create');
  return { hasWork: true };
}

/** A git that was killed may have left a registration with which no git can work. */
async function mendWorktree(session: Session): Promise<void> {
  const { repository, record, sandboxGit: git } = session;
  const head = await resolveObject(git, 'HEAD^{commit}');
  const isBroken = (head ?? (await gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD']))) === undefined;
  const registration = isBroken ? registrationOf(repository.commonDir, record.sandbox) : undefined;
  if (registration !== undefined) rmSync(registration, { recursive: true, force: true });
  await ensureWorktree(session);
  if (isBroken) await putOnWorkBranch(session);
}

/** Returns to the user's branch, unless somebody has worked in the session. */
async function workInCheckout(session: LockedSession): Promise<Captured> {
  const { git } = session.repository;
  const tip = await resolveObject(git, session.record.work_branch);
  const isLinked = session.place === 'here';
  const hasCommits = tip !== undefined && tip !== session.record.from_commit;
  const nothing = { trouble: undefined };
  const undone = !isLinked ? nothing : hasCommits ? undefined : await undoEntering(session);
  if (undone === undefined) {
    complete(session, 'create');
    return { hasWork: true };
  }
  const { checkout: _, ...rest } = session.record;
  const left = await deleteCaptured(session, false);
  if (left.paths.length > 0)
    throw new AgtError(`${session.folder} contains files that agt did not capture`, {
      hints: [`move them away: ${listSome(readable(left).paths)}`],
    });
  session.write({ ...rest, working_copy: 'worktree' });
  return { hasWork: false, ...undone };
}

/** Whether there are commits or files that the session did not start with and that are in no other place. */
async function hasWork(session: Session): Promise<boolean> {
  const tip = await resolveObject(session.git, session.record.work_branch);
  if (tip !== undefined && tip !== session.record.from_commit) return true;
  return existsSync(session.folder) && (await uncapturedFiles(session)).length > 0;
}

/** agt writes a restored file under such a name first. */
const TEMPORARY = /(^|\/)\.agt-\d+\.tmp$/;

/**
 * Some of the files that would be lost with the folder: readable paths, relative to it. A file is safe if it is in the last
 * snapshot, if git checks it out from the start commit, or if it is a copy of a file in the user's worktree. If agt was
 * killed while it wrote a file, the content is only the beginning of one of those.
 */
export async function uncapturedFiles(session: Session): Promise<string[]> {
  const { git } = session.repository;
  const tip = (await resolveObject(git, tipRef(session.id))) ?? session.record.from_commit;
  const { last, scanned } = await observeFiles(git, captureTarget(session), tip);
  const found = [...scanned.skipped, ...scanned.failed].map(({ path }) => path);
  for (const [path, { oid }] of scanned.writes) {
    if (found.length >= SOME) break; // one is reason enough to delete nothing
    const captured = last.find(path)?.oid;
    if (oid === captured || TEMPORARY.test(path)) continue;
    if (!(await isElsewhere(session, path, captured))) found.push(path);
  }
  return found.map(displayPath);
}

/** Whether the file is the beginning of a file that is stored in another place. `captured` is a blob. */
async function isElsewhere(session: Session, path: string, captured: string | undefined): Promise<boolean> {
  const { git, record } = session;
  const content = readIfThere(Buffer.from(`${session.folder}/`).toString('latin1') + path);
  if (content === undefined) return false;
  if (content.length === 0) return true;
  const isBeginningOf = (whole: Buffer | undefined) =>
    whole?.subarray(0, content.length).equals(content) === true;
  if (captured !== undefined && isBeginningOf(await catFile(git, 'blob', captured))) return true;
  if (!path.startsWith('sandbox/')) return false;
  const inside = path.slice('sandbox/'.length);
  if (/[\x80-\xff]/.test(inside)) return false; // an argument of git would be encoded as UTF-8 once more
  if (isBeginningOf(await catFile(git, '--filters', `${record.from_commit}:${inside}`))) return true;
  const worktree = await gitAnswer(git, ['rev-parse', '--show-toplevel']);
  return worktree !== undefined && isBeginningOf(readIfThere(join(worktree, inside)));
}

async function catFile(git: Git, ...args: string[]): Promise<Buffer | undefined> {
  const run = await runGit(git, ['cat-file', ...args]);
  return run.exitCode === 0 ? run.stdout : undefined;
}

function readIfThere(path: string): Buffer | undefined {
  return attempt(() => readFileSync(systemPath(path)));
}
