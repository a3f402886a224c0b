/**
 * A fork by a clone of a folder. Of the source as it is now: an agent may write there while agt clones. So agt looks at the
 * source once more: if it still equals the snapshot that agt made before, so does the clone. Otherwise agt compares the
 * clone itself, whose inodes the kernel has not read yet, and writes the files of the snapshot if they differ. Of an older
 * snapshot: a clone of the nearest frozen moment, and what differs, which is quicker than to write every file.
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  lchownSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { digestOfCapturedIndex, loadStatCache } from '../../autocommit/last-snapshot.ts';
import type { Observation } from '../../autocommit/observe.ts';
import { CachedFilesBuilder } from '../../autocommit/stat-cache/cached-files.ts';
import { readStatCache, type StatCache, writeStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { applyPlan } from '../../checkout/apply.ts';
import { type CheckoutPlan, prepareCheckout } from '../../checkout/plan.ts';
import { restoreIndex } from '../../checkout/sandbox-git-dir.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { systemPath } from '../../disk/long-path.ts';
import { parentPath } from '../../disk/path-bytes.ts';
import { removeAt, removeOnly } from '../../disk/remove-tree.ts';
import { AgtError, attempt } from '../../errors.ts';
import { worktreeGitDir } from '../../git/files/discover-repository.ts';
import { summarizeIndex } from '../../git/files/index-file.ts';
import { fieldsOf, type Git, gitText } from '../../git/run/git.ts';
import { momentFiles, statCacheFile } from '../../layout.ts';
import { runProgram } from '../../process/program.ts';
import { isWhole } from '../../providers/choose.ts';
import type { Repository } from '../../repository/repository.ts';
import { isOwnMount, type WorkspaceFields } from '../../session/provider.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { isTemporaryEntry, TOP_FOLDERS } from '../../snapshot/folders.ts';
import { IGNORE_FILE, restoreIgnoreFile } from '../../snapshot/ignore-file.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import { diffSnapshots } from '../../snapshot/tree.ts';
import { captureTarget, observeSession } from '../../workspace/capture-session.ts';
import { type ClonedIndex, type CloneSource, copyStatCache } from '../../workspace/clone.ts';
import { listMoments, type Moment } from '../../workspace/moments.ts';
import type { ForkOrigin } from './fork-origin.ts';

export interface ForkSource extends CloneSource {
  /** Makes the snapshot of the clone. False if that is not possible: then agt writes all files. */
  readonly finish: (fork: Session) => Promise<boolean>;
}

/** Undefined if the source is no folder of that provider, or if agt knows of no folder that is near to the snapshot. */
export async function sourceToClone(
  source: Session,
  { provider }: WorkspaceFields,
  origin: ForkOrigin,
): Promise<ForkSource | undefined> {
  if (source.record.token === undefined || source.record.provider !== provider) return undefined;
  return origin.isCurrent ? folderNow(source, origin) : nearestMoment(source, origin);
}

function folderNow(source: Session, { content, workCommit }: ForkOrigin): ForkSource | undefined {
  const { cache } = loadStatCache(captureTarget(source));
  if (cache?.commit !== content.commit) return undefined;
  const clone = {
    folder: source.folder,
    index: capturedIndex(source.record.sandbox, cache.index.digest, content.commit.length / 2),
    statCache: statCacheFile(source.repository.agtDir, source.id),
    commit: workCommit,
  };
  const finish = async (fork: Session) => {
    if (clone.index === undefined) await restoreIndex(fork.git, content, fork.record.sandbox);
    return isExactClone(source, fork, content, clone);
  };
  return { ...clone, finish };
}

/** The index of a sandbox, if the snapshot has it. */
function capturedIndex(sandbox: string, digest: string, oidLength: number): ClonedIndex | undefined {
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) return undefined;
  return attempt(() => {
    const file = join(gitDir, 'index');
    // The older time: git may replace the index in between.
    const { mtimeMs } = statSync(file);
    const bytes = readFileSync(file);
    const summary = summarizeIndex(bytes, oidLength);
    if (summary.digest !== digest || summary.split) return undefined;
    return { mtimeMs, copyTo: (path: string) => writeFileSync(path, bytes) };
  });
}

/** Whether the clone has the files of the snapshot. Content that no snapshot holds goes. */
async function isExactClone(
  source: Session,
  fork: Session,
  content: SnapshotMetadata,
  clone: CloneSource,
): Promise<boolean> {
  try {
    copyStatCache(fork, clone);
    for (const session of [source, fork]) {
      const found = await observeSession(session);
      const { cache } = found.last;
      if (!isSame(found, content) || cache === undefined || (session === source && hasBorders(cache)))
        continue;
      const folder = Buffer.from(fork.folder).toString('latin1');
      for (const { path } of found.scanned.skipped) removeAt(`${folder}/${path}`);
      return true;
    }
    return false;
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

/** Whether a directory was of another file system: a frozen folder has nothing of what is in it. */
function hasBorders({ directories }: StatCache): boolean {
  return directories === undefined || directories.paths.some((_, row) => directories.isBorder(row));
}

interface NearMoment {
  readonly moment: Moment;
  readonly cache: StatCache;
  readonly statCache: string;
  /** From there to the snapshot. */
  readonly plan: CheckoutPlan;
  /** Paths in the frozen folder that its own snapshot does not have. */
  readonly skipped: readonly string[];
}

/** Undefined if agt keeps none whose content is whole. */
async function nearestMoment(
  { repository, record }: Session,
  { content, workCommit }: ForkOrigin,
): Promise<ForkSource | undefined> {
  const moments = listMoments(repository.agtDir, record).filter(({ token }) => isWhole(token));
  if (moments.length === 0) return undefined;
  const exact = moments.findLast(({ commit }) => commit === content.commit);
  const candidates = exact === undefined ? await neighbours(repository, moments, content.commit) : [exact];
  const found: NearMoment[] = [];
  for (const moment of candidates) {
    const { statCache } = momentFiles(repository.agtDir, record.session_id, moment.number);
    found.push(...(await readMoment(repository.git, moment, statCache, content)));
  }
  const planSize = ({ plan }: NearMoment) => plan.deletions.length + plan.writes.length + plan.modes.size;
  const [near] = found.sort((a, b) => planSize(a) - planSize(b));
  if (near === undefined) return undefined;
  const clone = { folder: near.moment.token.path, index: undefined, statCache: near.statCache };
  const finish = (fork: Session) => finishMoment(fork, near, content);
  return { ...clone, commit: workCommit, finish };
}

/** The last one before the snapshot and the first one after it. */
async function neighbours(
  { git }: Repository,
  moments: readonly Moment[],
  commit: string,
): Promise<Moment[]> {
  const time = Number(await gitText(git, ['log', '-1', '--format=%ct', commit])) * 1000;
  const isBefore = ({ made }: Moment) => Date.parse(made) <= time;
  const around = [moments.findLast(isBefore), moments.find((moment) => !isBefore(moment))];
  return around.filter((moment) => moment !== undefined);
}

/** None if the moment is of no use: its stat cache is damaged, or `agt gc --thin` has dropped its snapshot. */
async function readMoment(
  git: Git,
  moment: Moment,
  statCache: string,
  wanted: SnapshotMetadata,
): Promise<NearMoment[]> {
  try {
    const cache = readStatCache(statCache);
    if (cache?.commit !== moment.commit || hasBorders(cache)) return [];
    const content = await readSnapshotMetadata(git, moment.commit);
    // The clone has nothing that was not captured: finishMoment removes it.
    const whole = (snapshot: SnapshotMetadata) => ({ ...snapshot, skipped: [] });
    const plan = await prepareCheckout(git, whole(content), whole(wanted), TOP_FOLDERS);
    return [{ moment, cache, statCache, plan, skipped: content.skipped }];
  } catch {
    return [];
  }
}

/** Nobody could change the clone of a moment. */
async function finishMoment(
  { git, repository, record, folder }: Session,
  { cache, plan, skipped }: NearMoment,
  content: SnapshotMetadata,
): Promise<boolean> {
  try {
    const path = Buffer.from(folder).toString('latin1');
    for (const entry of skipped) removeAt(`${path}/${entry}`);
    const { changed, refused } = await applyPlan(git, plan, { path, isCaptured: () => true });
    rmSync(join(folder, IGNORE_FILE), { force: true });
    restoreIgnoreFile(folder, content.manifest.agtignore);
    if (changed.length + refused.length > 0) return false;
    failurePoint('fork: files written');
    await restoreIndex(git, content, record.sandbox);
    const derived = await deriveStatCache(git, cache, content.commit);
    writeStatCache(statCacheFile(repository.agtDir, record.session_id), derived);
    return true;
  } catch {
    return false;
  }
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
