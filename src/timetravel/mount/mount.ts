/**
 * `agt session mount`: a snapshot as a folder that nobody can change. As root, a process of agt serves the files from git's
 * objects, so that it takes no time and no room. Otherwise agt writes a copy.
 */
import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { checkOutSnapshot } from '../../checkout/apply.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { entriesOf } from '../../disk/folder-entries.ts';
import { withLock } from '../../disk/lock.ts';
import { identify } from '../../disk/lock-owner.ts';
import { systemPath } from '../../disk/long-path.ts';
import { makeDirectories } from '../../disk/make-directories.ts';
import { isMountPoint } from '../../disk/mounts.ts';
import { hasProc } from '../../disk/platform.ts';
import { AgtError, isAgtError, succeeds } from '../../errors.ts';
import { mountedRef } from '../../filter/agent-refs.ts';
import { type Git, gitText } from '../../git/run/git.ts';
import { mountPoints, mountsLockFile } from '../../layout.ts';
import { endMount } from '../../lifecycle/mounted/end-mount.ts';
import {
  listMountRecords,
  type MountRecord,
  type MountWay,
  mountState,
  readMount,
  writeMount,
} from '../../lifecycle/mounted/mount-record.ts';
import type { Repository } from '../../repository/repository.ts';
import { sessionContaining } from '../../session/find-session.ts';
import { USUAL_WAIT_MS, withSessionLock } from '../../session/lock.ts';
import type { Session } from '../../session/session.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { FUSE_DEVICE, startServer } from './serve.ts';

export interface MountRequest {
  readonly snapshot: Snapshot;
  /** As the user wrote it, relative to `cwd`; undefined for a directory beside the sessions. */
  readonly directory: string | undefined;
  readonly cwd: string;
  /** Write a copy also where a file system can be mounted. */
  readonly copy: boolean;
  readonly now: Date;
}

export interface Mounted {
  readonly record: MountRecord;
  /** Why it is a copy; undefined if it is none, or the user asked for one. */
  readonly reason: string | undefined;
}

export async function mountSnapshot(session: Session, request: MountRequest): Promise<Mounted> {
  const problem = request.copy ? undefined : fuseProblem();
  const way = request.copy || problem !== undefined ? 'copy' : 'files';
  const mountAs = async (as: MountWay, reason: string | undefined): Promise<Mounted> => {
    const lock = mountsLockFile(session.repository.agtDir);
    const make = () => claim(session, { ...request, way: as });
    const { record, isNew } = await withLock(lock, 'the mounts of this repository', make, USUAL_WAIT_MS);
    if (!isNew) return { record, reason: undefined };
    return { record: await makeMount(session, record, request.snapshot), reason };
  };
  try {
    return await mountAs(way, problem);
  } catch (error) {
    // A container may have the device, and forbid to mount.
    if (way === 'copy' || !(error instanceof AgtError) || !/^mount\(8\) failed/.test(error.message))
      throw error;
    return mountAs('copy', error.message);
  }
}

/** Finds the mount that there is already, or writes the record of a new one, so that no other agt uses its directory. */
async function claim(
  { repository, id }: Session,
  { way, ...request }: MountRequest & { readonly way: MountWay },
): Promise<{ readonly record: MountRecord; readonly isNew: boolean }> {
  await clearEnded(repository);
  const { commit } = request.snapshot;
  const points = mountPoints(repository.agtDir, await repository.sessionsDir());
  const same = request.directory === undefined ? findSame(repository, points, id, commit) : undefined;
  if (same !== undefined) return { record: same, isNew: false };
  const missing =
    request.directory === undefined ? [] : missingAbove(resolve(request.cwd, request.directory));
  const directory = chooseDirectory(repository, request, join(points, `${id}@${commit.slice(0, 10)}`));
  const name = randomBytes(8).toString('hex');
  const made_directory = !existsSync(directory);
  const mounted_at = request.now.toISOString();
  const parents = missing.length === 0 ? {} : { made_parents: missing.map((path) => realpathSync(path)) };
  const wanted = { name, session: id, commit, directory, way, made_directory, ...parents, mounted_at };
  const record: MountRecord = { ...wanted, process: identify(process.pid) };
  writeMount(repository.agtDir, record);
  return { record, isNew: true };
}

/** Those of another boot, or that somebody ended, leave a record, a ref and a directory; killed ones are of no use. */
async function clearEnded(repository: Repository): Promise<void> {
  for (const record of listMountRecords(repository.agtDir)) {
    if (!['gone', 'dead'].includes(mountState(repository.agtDir, record))) continue;
    await endMount(repository, record).catch((error: unknown) => {
      if (!isAgtError(error)) throw error; // doctor names it
    });
  }
}

function findSame({ agtDir }: Repository, points: string, id: string, commit: string) {
  return listMountRecords(agtDir).find(
    (record) =>
      record.session === id &&
      record.commit === commit &&
      dirname(record.directory) === points &&
      mountState(agtDir, record) === 'serving',
  );
}

/** Why agt cannot mount a file system here; undefined if it can try. */
function fuseProblem(): string | undefined {
  if (process.platform !== 'linux') return 'only Linux can mount it without more software';
  if (!hasProc()) return 'there is no /proc, where agt sees what is mounted';
  if (process.geteuid?.() !== 0) return 'only root can mount a file system';
  const isThere = succeeds(() => accessSync(FUSE_DEVICE, constants.R_OK | constants.W_OK));
  return isThere ? undefined : `there is no ${FUSE_DEVICE}; load the kernel module: modprobe fuse`;
}

/** The absolute path, links resolved. @throws AgtError unless agt may mount there */
function chooseDirectory(repository: Repository, { directory, cwd }: MountRequest, standard: string): string {
  if (directory !== undefined) return requireUsable(repository, resolve(cwd, directory));
  const used = new Set(listMountRecords(repository.agtDir).map((record) => record.directory));
  for (let n = 1; ; n++) {
    const path = inRealParent(n === 1 ? standard : `${standard}-${n}`);
    if (!used.has(path)) return requireUsable(repository, path);
  }
}

/** The innermost first. */
function missingAbove(path: string): string[] {
  const parent = dirname(path);
  return existsSync(parent) ? [] : [parent, ...missingAbove(parent)];
}

/** Makes the parent. */
function inRealParent(path: string): string {
  makeDirectories(dirname(path));
  return join(realpathSync(dirname(path)), basename(path));
}

/** @throws AgtError unless it is an empty directory, or nothing, and outside of what agt captures */
function requireUsable(repository: Repository, given: string): string {
  const path = inRealParent(given);
  if (isMountPoint(path)) throw unusable(path, 'something is mounted there');
  const isBeingMade = listMountRecords(repository.agtDir).some(
    (one) => one.directory === path && !one.served && mountState(repository.agtDir, one) === 'making',
  );
  if (isBeingMade) throw unusable(path, 'another agt is mounting a snapshot there');
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isDirectory()) throw unusable(path, 'it is no directory');
  if (stat !== undefined && readdirSync(path).length > 0) throw unusable(path, 'it is not empty');
  const around = sessionContaining(repository, path);
  if (around !== undefined)
    throw unusable(path, `agt would capture its files with session "${around.session_id}"`);
  if (`${path}/`.startsWith(`${repository.commonDir}/`)) throw unusable(path, 'it is in the git directory');
  return path;
}

function unusable(path: string, reason: string): AgtError {
  return new AgtError(`cannot mount a snapshot at ${path}: ${reason}`, {
    hints: ['name another directory, or none: agt chooses one beside the sessions'],
  });
}

const READ_ONLY = 0o555;

async function makeMount(session: Session, record: MountRecord, snapshot: Snapshot): Promise<MountRecord> {
  const { git, agtDir } = session.repository;
  const { name, commit, directory, way, made_directory } = record;
  failurePoint('mount: recorded');
  try {
    // While agt gc deletes objects, nobody takes the lock.
    await withSessionLock(session, () => gitText(git, ['update-ref', mountedRef(name), commit]));
    failurePoint('mount: kept');
    if (made_directory) makeDirectories(directory);
    failurePoint('mount: directory made');
    if (way === 'files') await startServer(agtDir, name, git.env);
    else {
      const { process: _, ...made } = record;
      writeMount(agtDir, { ...made, complete_at: await copySnapshot(git, snapshot, directory) });
      failurePoint('mount: copied');
      if (made_directory) chmodSync(directory, READ_ONLY);
    }
  } catch (error) {
    await endMount(session.repository, record);
    throw error;
  }
  return readMount(agtDir, name) ?? record;
}

/** Returns the time of the last change of a file. */
async function copySnapshot(git: Git, { commit, time }: Snapshot, directory: string): Promise<number> {
  const seconds = Math.floor(time.getTime() / 1000);
  await checkOutSnapshot(git, commit, directory, () => seconds);
  const top = Buffer.from(directory).toString('latin1');
  return Math.max(...entriesOf(top).map(({ name }) => protect(`${top}/${name}`)));
}

const WRITE = 0o222;

/** Takes every right to write. Returns the time of the last change of a file. */
function protect(path: string): number {
  let last = 0;
  const stat = lstatSync(systemPath(path));
  if (stat.isDirectory())
    for (const { name } of entriesOf(path)) last = Math.max(last, protect(`${path}/${name}`));
  if (stat.isFile() || stat.isDirectory()) chmodSync(systemPath(path), stat.mode & 0o7777 & ~WRITE);
  return stat.isDirectory() ? last : Math.max(last, lstatSync(systemPath(path)).ctimeMs);
}
