/** Finds the sandbox of a session whose repository or folder was moved or copied, and connects them again. */
import { existsSync, lstatSync, readlinkSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { readSmallFile } from '../disk/read-file.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { AgtError, attempt } from '../errors.ts';
import { gitDirOf, listRegistrations, worktreeGitDir } from '../git/files/discover-repository.ts';
import { readHeadFile } from '../git/files/head-file.ts';
import { subdirectories } from '../git/files/ref-files.ts';
import {
  doubleRegistrations,
  leadTo,
  registrationOf,
  worktreeOf,
} from '../git/files/worktree-registrations.ts';
import { inPlaceFile } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import { type LockedSession, withSessionLock } from './lock.ts';
import { isAttached, listRecords, type SessionRecord, sessionFolder } from './record.ts';
import { isOutOfSight } from './sandbox-place.ts';
import type { Session } from './session.ts';
import { isEnded } from './state.ts';

export interface FoundSandbox {
  /** Absolute. */
  readonly sandbox: string;
  /** Its registration in this repository. */
  readonly registration: string;
  /** Whether its `.git` is a directory: somebody has made a repository there. */
  readonly hasGitDirectory: boolean;
}

/** Undefined if git's links do not say where it is. */
export async function findAgain(session: Session): Promise<FoundSandbox | undefined> {
  const sandbox = await placeNow(session);
  if (sandbox === undefined) return undefined;
  const registration = registrationFor(session, sandbox);
  if (registration === undefined || !existsSync(join(registration, 'HEAD'))) return undefined;
  return { sandbox, registration, hasGitDirectory: isDirectory(join(sandbox, '.git')) };
}

/** That of this repository for a sandbox that is not where it was, or not as git has made it. */
export function registrationFor({ repository, record, place }: Session, sandbox: string): string | undefined {
  // An agt that was killed while it connected may have led it to the new place already.
  const known = [record.sandbox, sandbox].map((path) => registrationOf(repository.commonDir, path));
  const [found] = known.filter((one) => one !== undefined);
  return found ?? (place === 'taken' ? undefined : registrationNamedBy(repository, sandbox));
}

/** The place in the metadata, unless that is gone or belongs to the original of this copy. */
async function placeNow(session: Session): Promise<string | undefined> {
  const place = session.place;
  if (place === 'no link' || place === 'broken link') return session.record.sandbox;
  if (place === 'not a directory' || place === 'unmounted') return undefined;
  const usual = await usualPlace(session);
  // A copy without session folders gets the usual place, and a restore fills it.
  if (usual !== session.record.sandbox && (place === 'elsewhere' || isDirectory(usual))) return usual;
  const renamed = renamedFolder(session, await session.repository.sessionsDir());
  return renamed === undefined ? undefined : join(renamed, 'sandbox');
}

/** The folder of a session that has not ended, if it is missing and somebody gave it another name in `sessionsDir`. */
export function renamedFolder(session: Session, sessionsDir: string): string | undefined {
  if (isEnded(session.record) || session.place !== 'missing') return undefined;
  return subdirectories(sessionsDir)
    .filter((name) => !name.startsWith('.')) // so begin the folders that a removal has renamed
    .map((name) => join(sessionsDir, name))
    .find((path) => isRenamed(session, join(path, 'sandbox')) && !isFolderOfOther(session, path));
}

/** Whether the metadata of another session name the folder. */
export function isFolderOfOther({ repository, id }: Session, folder: string): boolean {
  const { records } = listRecords(repository);
  return records.some((other) => other.session_id !== id && sessionFolder(other) === folder);
}

/** git itself lets the registration of a worktree that has moved lead to the new place after a day: HEAD still tells. */
function isRenamed({ repository, record }: Session, sandbox: string): boolean {
  const named = isDirectory(sandbox) ? registrationNamedBy(repository, sandbox) : undefined;
  if (named === undefined) return false;
  const known = registrationOf(repository.commonDir, record.sandbox);
  if (known !== undefined) return named === known;
  return readHeadFile(named)?.ref === record.work_branch;
}

async function usualPlace({ repository, record: { session_id } }: Session): Promise<string> {
  return join(await repository.sessionsDir(), session_id, 'sandbox');
}

/** With the place for a missing sandbox: beside the repository as it is now. @throws AgtError if it has moved */
export async function placeToRestore(session: Session): Promise<SessionRecord> {
  if (session.place !== 'missing') return session.record;
  await refuseMovedSandbox(session);
  return { ...session.record, sandbox: await usualPlace(session) };
}

/** @throws AgtError if the sandbox is not at its place, but at another one. */
export async function refuseMovedSandbox(session: Session): Promise<void> {
  if (isEnded(session.record) || session.place !== 'missing') return;
  const found = await findAgain(session);
  if (found === undefined) return;
  throw new AgtError(`the sandbox of "${session.id}" has moved to ${found.sandbox}`, {
    hints: ['connect it again: agt doctor --fix'],
  });
}

/** The registration of this repository that has the name in the `.git` file, which leads to the old place. */
function registrationNamedBy({ commonDir }: Repository, sandbox: string): string | undefined {
  const named = worktreeGitDir(sandbox);
  if (named === undefined || basename(dirname(named)) !== 'worktrees') return undefined;
  const path = join(commonDir, 'worktrees', basename(named));
  return existsSync(path) ? path : undefined;
}

/**
 * Connects the sandbox, or the checkout of a session in place, if it has moved with its repository. A folder that somebody
 * has given another name, or a repository in it, is left to `agt doctor --fix`. Returns the metadata.
 */
export async function followMove(session: LockedSession): Promise<SessionRecord> {
  const { record } = session;
  if (!mayHaveMoved(session)) return record;
  if (record.checkout !== undefined) {
    const found = await findCheckoutAgain(session);
    if (found !== undefined) connectCheckout(session, found);
  } else {
    const found = await findAgain(session);
    if (found === undefined || found.hasGitDirectory) return record;
    if (basename(dirname(found.sandbox)) === record.session_id) connect(session, found);
  }
  return session.read() ?? record;
}

function mayHaveMoved({ record, repository, place }: Session): boolean {
  if (isEnded(record) || isAttached(record) || isOutOfSight(repository, place)) return false;
  return ['missing', 'not a directory', 'broken link'].includes(place);
}

/**
 * For every command on a session. While another agt works on it, and where agt cannot write, it stays as it is. A checkout
 * that moved with a session in place waits for `agt doctor --fix`.
 */
export async function connectAgain(session: Session): Promise<Session> {
  if (session.record.checkout !== undefined || !mayHaveMoved(session)) return session;
  const follow = async (locked: LockedSession) => session.with(await followMove(locked));
  return withSessionLock(session, follow, { waitMs: 0 }).catch(() => session);
}

/** Writes both links and the metadata. */
export function connect(session: LockedSession, { sandbox, registration }: FoundSandbox): void {
  const { commonDir } = session.repository;
  leadTo(registration, `${sandbox}/.git`);
  if (isDirectory(sandbox)) writeFileAtomic(join(sandbox, '.git'), `gitdir: ${registration}\n`);
  // Somebody has added the worktree anew.
  const isDouble = (gitDir: string) => worktreeOf(gitDir) === sandbox;
  for (const gitDir of doubleRegistrations(commonDir).filter(isDouble)) removeTree(gitDir);
  session.write({ ...session.record, sandbox });
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

export interface FoundCheckout {
  /** Absolute. */
  readonly checkout: string;
  /** The link to it. */
  readonly sandbox: string;
}

/** Whether nothing is at the place of the checkout, and no other checkout has the session. */
export function isCheckoutGone({ repository, record: { session_id, checkout = '' } }: Session): boolean {
  return !isThere(checkout) && checkoutWith(repository, session_id) === undefined;
}

/**
 * After the repository was moved or copied: `agt-in-place` in a git directory names the session, and git's links lead from
 * there to the worktree. Undefined if no checkout of this repository has the session.
 */
export async function findCheckoutAgain(session: Session): Promise<FoundCheckout | undefined> {
  const { repository, record } = session;
  const checkout = checkoutWith(repository, record.session_id);
  if (checkout === undefined) return undefined;
  // A copy leaves the session folder to the original.
  const isOwn = session.place !== 'elsewhere' && isThere(session.folder);
  const sandbox = isOwn ? record.sandbox : await usualPlace(session);
  const found = lstatSync(sandbox, { throwIfNoEntry: false });
  return found === undefined || found.isSymbolicLink() ? { checkout, sandbox } : undefined;
}

function checkoutWith({ commonDir, worktree }: Repository, id: string): string | undefined {
  for (const gitDir of [commonDir, ...listRegistrations(commonDir)]) {
    if (readSmallFile(inPlaceFile(gitDir)) !== id) continue;
    const places = [worktreeOf(gitDir), worktree];
    const place = places.find((one) => one !== undefined && isSame(gitDirOf(one), gitDir));
    if (place !== undefined) return place;
  }
  return undefined;
}

/** Writes the link, the note for the guard and the metadata. */
export function connectCheckout(session: LockedSession, { checkout, sandbox }: FoundCheckout): void {
  for (const name of ['xdg', 'config']) makeDirectories(join(sandbox, '..', name));
  if (!isThere(sandbox) || readlinkSync(sandbox) !== checkout) {
    rmSync(sandbox, { force: true });
    symlinkSync(checkout, sandbox);
  }
  writeFileAtomic(inPlaceFile(gitDirOf(checkout) ?? join(checkout, '.git')), session.id);
  session.write({ ...session.record, checkout, sandbox });
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isSame(a: string | undefined, b: string): boolean {
  return attempt(() => a !== undefined && realpathSync(a) === realpathSync(b)) ?? false;
}
