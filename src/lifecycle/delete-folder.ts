/**
 * Deletes a session folder: only what the last snapshot holds, or the user gives up. An agent may still write there. So
 * agt first moves the folder away, captures what came since the last capture, and keeps what has changed once more.
 */
import { existsSync, rmdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CaptureResult, NotCaptured } from '../autocommit/capture.ts';
import { readStatCache } from '../autocommit/stat-cache/stat-cache.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { readFileClock } from '../disk/file-clock.ts';
import { refuseMounts } from '../disk/mounts.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { holdsOnly, isRefusal, type Remaining, removeOnly, removePossible } from '../disk/remove-tree.ts';
import { AgtError, attempt, isAgtError, plural, someLines } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { isOfSubmodule } from '../git/files/discover-repository.ts';
import { dropRegistration, leadTo, registrationOf } from '../git/files/worktree-registrations.ts';
import { departingFolder, statCacheFile } from '../layout.ts';
import { providerOf } from '../providers/choose.ts';
import type { LockedSession } from '../session/lock.ts';
import { begin, inState } from '../session/operation.ts';
import { dropWorkspace, isOwnMount, moveWorkspace, removeWorkspace, tokenOf } from '../session/provider.ts';
import { removalOf, type SessionRecord, sessionFolder } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import type { Outcome } from '../session/state.ts';
import { keepSubmodules } from '../session/submodules.ts';
import { isTemporaryEntry } from '../snapshot/folders.ts';
import { BEFORE_END } from '../snapshot/format.ts';
import { IGNORE_FILE, readIgnoreFile } from '../snapshot/ignore-file.ts';
import { captureSession } from '../workspace/capture-session.ts';

export interface RemovalOptions {
  /** The last hint of a refusal, for a command that has a better one than --force. */
  readonly wayOut?: string;
  /** Delete also what agt could not capture. */
  readonly force: boolean;
  /** Delete also the branches, and so the snapshots. */
  readonly deleteBranch?: boolean;
  /** Also while the owner runs. */
  readonly running?: boolean;
  readonly now: Date;
  /** How the session ends; `removed` if there is none. */
  readonly outcome?: Outcome;
  readonly reason?: string | undefined;
}

/** @returns paths that agt leaves in the session folder: they came too late, or nobody may delete them. */
export async function deleteFolder(session: LockedSession, options: RemovalOptions): Promise<Remaining> {
  const { record, repository } = session;
  const begun = beginRemoval(session, session.place === 'here' ? 'moving' : 'deleting', options);
  if (removalOf(begun)?.phase === 'moving') await moveAndCapture(session.with(begun), options);
  const moved = departing(record);
  const place = existsSync(sessionFolder(moved)) ? moved : record;
  const left = await deleteCaptured(session.with(place), options.force);
  for (const { sandbox } of [record, moved]) {
    const registration = registrationOf(repository.commonDir, sandbox);
    if (registration === undefined) continue;
    keepSubmodules(repository, record, registration);
    dropRegistration(registration, sandbox);
  }
  failurePoint('remove: folder removed');
  const paths = [...left.paths, ...(await takeBack(record, moved))];
  return readable({ paths, refused: left.refused });
}

/** Unless an earlier command has begun it. */
export function beginRemoval(
  session: LockedSession,
  phase: 'moving' | 'returning' | 'deleting',
  { outcome, reason }: RemovalOptions,
): SessionRecord {
  if (!isActive(session.record)) return session.record;
  const end = { ...(outcome && { outcome }), ...(reason !== undefined && { reason }) };
  return begin(session, { operation: 'remove', phase, ...end });
}

export function readable({ paths, refused }: Remaining): Remaining {
  return { paths: paths.map(displayPath), refused: refused.map(displayPath) };
}

/** The record of the session while its folder is out of the way. */
function departing(record: SessionRecord): SessionRecord {
  return { ...record, sandbox: join(departingFolder(sessionFolder(record)), 'sandbox') };
}

async function moveAndCapture(session: LockedSession, { force, now, outcome = 'removed' }: RemovalOptions) {
  const { record } = session;
  const moved = departing(record);
  try {
    const place = (await move(session, moved)) ? moved : record;
    failurePoint('remove: moved away');
    await nextTick(sessionFolder(place));
    const gone = session.with({ ...place, state: 'active' });
    const captured = await captureSession(gone, { now, label: BEFORE_END[outcome], isLast: true });
    if (!force) refuseLoss(record, captured);
  } catch (error) {
    await move(session.with(moved), record);
    const { intent: _, ...active } = record;
    session.write(inState(active, 'active', { now }));
    throw error;
  }
  session.write({ ...record, intent: { operation: 'remove', ...removalOf(record), phase: 'deleting' } });
  failurePoint('remove: captured again');
}

/** False if the system refuses to move it. @throws AgtError if programs are in a folder that is a mount */
async function move(session: Session, to: SessionRecord): Promise<boolean> {
  const target = sessionFolder(to);
  try {
    if (!existsSync(target)) await moveWorkspace(tokenOf(session.record), session.folder, target);
  } catch (error) {
    if (isAgtError(error)) throw error;
    return false;
  }
  failurePoint('remove: renamed');
  const registration = registrationOf(session.repository.commonDir, session.record.sandbox);
  if (registration !== undefined) leadTo(registration, `${to.sandbox}/.git`);
  return true;
}

/** Waits until later changes have later times than everything that is there. */
export async function nextTick(folder: string): Promise<void> {
  const start = readFileClock(folder);
  for (let tries = 0; tries < LONGEST_TICK_MS && readFileClock(folder) <= start; tries++) await sleep(1);
}

/** The clocks of some file systems stand still for so long: zfs-fuse and FAT count whole seconds. */
const LONGEST_TICK_MS = 2500;

/** @throws AgtError if a capture is not complete. Files of the user's own checkout stay there. */
export function refuseLoss(
  { session_id, checkout }: SessionRecord,
  { skipped, failed }: Pick<CaptureResult, 'skipped' | 'failed'>,
  wayOut = 'delete them together with the session: --force',
): void {
  const goes = ({ path }: NotCaptured) => checkout === undefined || !path.startsWith('sandbox/');
  const lost = [...skipped, ...failed].filter(goes);
  if (lost.length === 0) return;
  const lines = lost.map(({ path, reason }) => `${path}: ${reason}`);
  // A session that goes on lands them no more than one that ends.
  const isInside = wayOut.endsWith('--keep') && lost.some(({ path }) => path.endsWith('/.git'));
  const first = isInside ? 'name repositories inside in .gitignore, and ' : '';
  throw new AgtError(`cannot capture ${plural(lost.length, 'file')} of session "${session_id}"`, {
    hints: [...someLines(lines), `move them away, or ${first}${wayOut}`],
  });
}

/** @returns what remains, one byte per character. */
export async function deleteCaptured(session: Session, force: boolean): Promise<Remaining> {
  const { repository, record, folder } = session;
  const cache = attempt(() => readStatCache(statCacheFile(repository.agtDir, session.id)));
  if (force || cache === undefined) return deleteAll(session);
  const ignore = readIgnoreFile(folder);
  const gitDir = registrationOf(repository.commonDir, record.sandbox);
  const isCaptured = (path: string, stat: Stats): boolean => {
    const row = cache.files.find(path);
    return row >= 0 && cache.files.isSame(row, stat, Number.POSITIVE_INFINITY) && stat.ctimeMs < cache.clock;
  };
  const linked = new Map<number, Stats>();
  const mayGo = (path: string, stat: Stats) => {
    const goes =
      isOwn(path, record, gitDir, folder) ||
      isCaptured(path, stat) ||
      isOtherName(stat, linked.get(stat.ino)) ||
      ignore?.ignores(path, false) === true;
    if (goes && stat.nlink > 1) linked.set(stat.ino, stat);
    return goes;
  };
  if (await dropIfCaptured(session, mayGo)) return NOTHING;
  const { paths, refused } = removePossible(folder, mayGo, isOwnMount(record));
  // It goes last: after a kill agt still needs it.
  const left = paths.filter((path) => path !== IGNORE_FILE);
  if (left.length === 0) await removeWorkspace(session, folder);
  return { paths: left, refused };
}

/** Another name of a file whose name agt has just deleted. That has changed the time and the number of names, no more. */
function isOtherName(stat: Stats, deleted: Stats | undefined): boolean {
  return (
    deleted !== undefined &&
    deleted.dev === stat.dev &&
    deleted.nlink === stat.nlink + 1 &&
    deleted.mtimeMs === stat.mtimeMs &&
    deleted.size === stat.size &&
    deleted.mode === stat.mode
  );
}

async function deleteAll(session: Session): Promise<Remaining> {
  const { folder } = session;
  try {
    await removeWorkspace(session, folder);
    return NOTHING;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return removePossible(folder, () => true, isOwnMount(session.record));
  }
}

const NOTHING: Remaining = { paths: [], refused: [] };

/** Lets the provider drop the folder at once, if all of it may go. Nobody can write there meanwhile. */
async function dropIfCaptured(session: Session, mayGo: (path: string, stat: Stats) => boolean) {
  const { repository, record, folder } = session;
  const token = tokenOf(record);
  if (token === undefined) return false;
  const provider = providerOf(token.kind);
  try {
    await provider.close?.(folder, true);
    failurePoint('remove: closed');
    refuseMounts(folder, isOwnMount(record));
    if (!holdsOnly(folder, mayGo)) return false;
    return await dropWorkspace(repository, record, folder);
  } catch {
    return false;
  } finally {
    await provider.close?.(folder, false).catch(() => undefined);
  }
}

/** A file of git or agt that a restore writes anew; the link to the user's own checkout. */
function isOwn(path: string, { checkout }: SessionRecord, gitDir: string | undefined, folder: string) {
  if (path === (checkout === undefined ? 'sandbox/.git' : 'sandbox') || isTemporaryEntry(path)) return true;
  return (
    gitDir !== undefined &&
    path.endsWith('/.git') &&
    isOfSubmodule(join(folder, Buffer.from(path, 'latin1').toString()), gitDir)
  );
}

/** Brings what remains back to its place. @returns what an agent has made there meanwhile. */
async function takeBack(record: SessionRecord, moved: SessionRecord): Promise<readonly string[]> {
  const folder = sessionFolder(record);
  const made = existsSync(folder) ? removeOnly(folder, () => false) : [];
  if (existsSync(sessionFolder(moved)) && !existsSync(folder))
    await moveWorkspace(tokenOf(record), sessionFolder(moved), folder);
  return made;
}

/** Beside an ordinary repository agt leaves no empty folder: `sessions`, and `<repository>.agt` above it. */
export function removeEmptyParents(sessions: string): void {
  const parent = dirname(sessions);
  // If that is a link, the folder that it leads to is the user's.
  const isOwn = parent.endsWith('.agt');
  attempt(() => {
    for (const directory of isOwn ? [sessions, parent] : [sessions]) rmdirSync(directory);
  }); // not empty: other sessions are there
}
