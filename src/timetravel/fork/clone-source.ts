/**
 * A fork of a session as it is now, by a clone of its folder. An agent may write there while agt clones. So agt looks at
 * the source once more: if it still equals the snapshot that agt made before, so does the clone. Otherwise agt compares
 * the clone itself, whose inodes the kernel has not read yet, and writes the files of the snapshot if they differ.
 */

import {
  chmodSync,
  constants,
  copyFileSync,
  lchownSync,
  lstatSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { digestOfCapturedIndex, loadStatCache } from '../../autocommit/last-snapshot.ts';
import type { Observation } from '../../autocommit/observe.ts';
import { CachedFilesBuilder } from '../../autocommit/stat-cache/cached-files-builder.ts';
import { type StatCache, writeStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { restoreIndex } from '../../checkout/sandbox-git-dir.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { systemPath } from '../../disk/long-path.ts';
import { parentPath } from '../../disk/path-bytes.ts';
import { removeAt, removeOnly } from '../../disk/remove-tree.ts';
import { AgtError } from '../../errors.ts';
import { worktreeGitDir } from '../../git/files/discover-repository.ts';
import { summarizeIndex } from '../../git/files/index-file.ts';
import type { Git } from '../../git/run/git.ts';
import { fieldsOf } from '../../git/run/git.ts';
import { statCacheFile } from '../../layout.ts';
import { runProgram } from '../../process/program.ts';
import type { Repository } from '../../repository/repository.ts';
import { isOwnMount, type WorkspaceFields } from '../../session/provider.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { isTemporaryEntry } from '../../snapshot/folders.ts';
import type { SnapshotMetadata } from '../../snapshot/manifest.ts';
import { diffSnapshots } from '../../snapshot/tree.ts';
import { captureTarget, observeSession } from '../../workspace/capture-session.ts';
import { type ClonedIndex, type CloneSource, copyStatCache } from '../../workspace/clone.ts';
import { finishClone, hasBorders, type NearMoment, nearestMoment } from '../near-moment.ts';
import type { ForkOrigin } from './fork-origin.ts';

/** Undefined if the source is no folder of that provider, or if its stat cache is not that of the snapshot. */
export function sourceToClone(
  session: Session,
  { provider }: WorkspaceFields,
  { content, workCommit }: ForkOrigin,
): CloneSource | undefined {
  const { repository, record: source } = session;
  const { cache } = loadStatCache(captureTarget(session));
  if (source.token === undefined || source.provider !== provider || cache?.commit !== content.commit)
    return undefined;
  return {
    folder: session.folder,
    index: capturedIndex(source.sandbox, cache.index.digest, content.commit.length / 2),
    statCache: statCacheFile(repository.agtDir, source.session_id),
    commit: workCommit,
  };
}

/** The index of a sandbox, if the snapshot has it. */
function capturedIndex(sandbox: string, digest: string, oidLength: number): ClonedIndex | undefined {
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) return undefined;
  try {
    const file = join(gitDir, 'index');
    // The older time: git may replace the index in between.
    const { mtimeMs } = statSync(file);
    const bytes = readFileSync(file);
    const summary = summarizeIndex(bytes, oidLength);
    if (summary.digest !== digest || summary.split) return undefined;
    return { mtimeMs, copyTo: (path) => writeFileSync(path, bytes) };
  } catch {
    return undefined;
  }
}

/** Whether the clone has the files of the snapshot. Content that no snapshot holds goes. */
export async function isExactClone(
  repository: Repository,
  { source, fork }: { readonly source: SessionRecord; readonly fork: SessionRecord },
  content: SnapshotMetadata,
  clone: CloneSource,
): Promise<boolean> {
  try {
    copyStatCache(new Session(repository, fork), clone);
    for (const record of [source, fork]) {
      const found = await observeSession(new Session(repository, record));
      if (
        !isSame(found, content) ||
        (record === source && (found.last.cache === undefined || hasBorders(found.last.cache)))
      )
        continue;
      const folder = Buffer.from(sessionFolder(fork)).toString('latin1');
      for (const { path } of found.scanned.skipped) removeAt(`${folder}/${path}`);
      return true;
    }
    return false;
  } catch {
    return false;
  }
}

/** A frozen moment of the source that is near to the snapshot. */
export async function momentToClone(
  { repository, record: source }: Session,
  { provider }: WorkspaceFields,
  { content, workCommit }: ForkOrigin,
): Promise<(CloneSource & { readonly near: NearMoment }) | undefined> {
  const near =
    source.token === undefined || source.provider !== provider
      ? undefined
      : await nearestMoment(repository, source, content);
  if (near === undefined) return undefined;
  const { moment, statCache } = near;
  return { folder: moment.token.path, index: undefined, statCache, commit: workCommit, near };
}

/** Makes the snapshot of the clone of a moment, which nobody could change. False if that is not possible. */
export async function finishFork(
  session: Session,
  near: NearMoment,
  content: SnapshotMetadata,
): Promise<boolean> {
  const { repository, record } = session;
  try {
    if (!(await finishClone(repository, session.folder, near, content))) return false;
    failurePoint('fork: files written');
    await restoreIndex(repository.git, content, record.sandbox);
    const cache = await deriveStatCache(repository.git, near.cache, content.commit);
    writeStatCache(statCacheFile(repository.agtDir, record.session_id), cache);
    return true;
  } catch {
    return false;
  }
}

function isSame({ last, scanned, manifest }: Observation, content: SnapshotMetadata): boolean {
  const { modes, empty_directories } = content.manifest;
  return (
    last.cache?.commit === content.commit &&
    scanned.writes.size + scanned.deletions.length + scanned.failed.length === 0 &&
    JSON.stringify([manifest.modes, manifest.empty_directories]) ===
      JSON.stringify([modes, empty_directories])
  );
}

/** Leaves what makes the folder a sandbox. */
export function emptyClone(record: SessionRecord): void {
  const isOwn = (path: string) => path === 'sandbox/.git' || (!path.includes('/') && isTemporaryEntry(path));
  removeOnly(sessionFolder(record), (path) => !isOwn(path), isOwnMount(record));
}

/**
 * Two names of one file in a session are two files in its fork, as they are when agt writes the files of a snapshot. A
 * clone on btrfs or ZFS has them as one. On overlay the kernel separates them with the first write.
 */
export async function separateNames(folder: string): Promise<void> {
  const args = [folder, '-xdev', '-type', 'f', '-links', '+1', '-print0'];
  const { exitCode, stdout, stderr } = await runProgram('find', args);
  if (exitCode !== 0) throw new AgtError(`find failed: ${stderr.trim()}`);
  for (const path of fieldsOf(stdout)) separate(path);
}

function separate(path: string): void {
  const stat = lstatSync(systemPath(path));
  if (stat.nlink === 1) return;
  const copy = systemPath(`${parentPath(path)}/.agt-${process.pid}.tmp`);
  copyFileSync(systemPath(path), copy, constants.COPYFILE_FICLONE);
  lchownSync(copy, stat.uid, stat.gid);
  chmodSync(copy, stat.mode);
  utimesSync(copy, stat.atimeMs / 1000, stat.mtimeMs / 1000);
  renameSync(copy, systemPath(path));
}

/** The stat cache of one snapshot, made from that of another one: files that differ are read by the next scan. */
async function deriveStatCache(git: Git, cache: StatCache, commit: string): Promise<StatCache> {
  if (cache.commit === commit) return cache;
  const { files } = cache;
  const differences = await diffSnapshots(git, cache.commit, commit);
  const rows = differences.map(({ path }) => files.find(path)).filter((row) => row >= 0);
  const builder = new CachedFilesBuilder(commit.length / 2, files.length + differences.length);
  let start = 0;
  for (const row of rows.sort((a, b) => a - b)) {
    builder.copy(files, start, row);
    start = row + 1;
  }
  builder.copy(files, start, files.length);
  for (const { path, after } of differences)
    if (after !== undefined) builder.addUnread(path, Number.parseInt(after.mode, 8), after.oid);
  const digest = await digestOfCapturedIndex(git, commit);
  const { clock, directories } = cache;
  return { commit, clock, index: { digest, stat: '' }, files: builder.build(), directories };
}
