/**
 * Finds the content of every file of a session folder, reading only files that may have changed.
 *
 * A file is read again unless its size, times, inode and mode are those of the last scan, and both times are before that
 * scan began. mtime alone is not enough: `mv`, `cp -p`, `tar` and `rsync -a` keep it; ctime and inode show the change. A
 * change within the same clock tick as the last scan could leave all of them equal, hence the second condition. The clock
 * is that of the file system, which may differ from the system's (file-clock.ts).
 */
import { lstatSync } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { errorCode, failureReason } from '../../errors.ts';
import { treeMode } from '../../git/modes.ts';
import { reportProgress } from '../../process/progress.ts';
import { isUnder, underAny } from '../../snapshot/folders.ts';
import type { SnapshotManifest } from '../../snapshot/manifest.ts';
import type { TreeEntry } from '../../snapshot/tree.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import type { LastSnapshot } from '../last-snapshot.ts';
import type { Source } from '../source.ts';
import type { StatCache } from '../stat-cache/stat-cache.ts';
import { type Content, type HashedFile, IN_MEMORY, readContent, UnstableFile } from './content.ts';
import { type CachedPath, type NextCache, nextCache } from './next-cache.ts';
import { PermissionBits } from './permission-bits.ts';
import { isTooLarge, type LeftOut, type ScanOptions, tooLarge } from './scan-options.ts';
import { type Walked, walk } from './walk.ts';

/** All paths are relative to the session folder, one byte per character. */
export interface ScanResult {
  /** For the next scan; undefined if the last stat cache still holds. */
  readonly cache: NextCache | undefined;
  /** Files whose content, type or executable bit is new. */
  readonly writes: ReadonlyMap<string, TreeEntry>;
  /** Files of the last snapshot that are gone, or that a rule leaves out now. */
  readonly deletions: readonly string[];
  readonly emptyDirectories: readonly string[];
  readonly directories: ReadonlySet<string>;
  /** Paths that the git tree has under an encoded name. */
  readonly encoded: readonly string[];
  readonly permissions: PermissionBits;
  /** Left out by rule. The snapshot keeps what the last one has of a file that has become too large. */
  readonly skipped: readonly LeftOut[];
  /** Could not be captured. The snapshot keeps what the last one has there. */
  readonly failed: readonly LeftOut[];
  /** Whether the snapshot keeps what the last one has at a path. */
  readonly isRetained: (path: string) => boolean;
  /** Number of files whose content was read. */
  readonly readCount: number;
}

export async function scan(source: Source, last: LastSnapshot, options: ScanOptions): Promise<ScanResult> {
  const walked = walk(source, last, options);
  const { read, skipped, failed: unread } = await readFiles(source, walked.toRead, last, options);
  // The next scan looks at these again.
  walked.skipped.push(...skipped);
  const failed = [...walked.failed, ...unread];
  const isRetained = underAny([...failed, ...walked.skipped.filter(isTooLarge)].map(({ path }) => path));
  const mayBeDeleted = (path: string) => isUnder(path, options.topFolders) && !isRetained(path);
  const cache = options.refreshed?.cache;
  const missing = [...listMissing(last, cache, walked.kept, read)];
  const encodedFiles = listEncoded(cache, walked.kept, read);
  return {
    cache: nextCache({
      ...{ walked, read, encodedFiles, last, options, isComplete: failed.length === 0 },
      retained: missing.filter(({ path }) => !mayBeDeleted(path)),
    }),
    writes: listChanged(last, read),
    deletions: missing.map(({ path }) => path).filter(mayBeDeleted),
    emptyDirectories: walked.emptyDirectories,
    directories: new Set(walked.directories.keys()),
    encoded: [...encodedFiles, ...walked.emptyDirectories.filter(isEncoded)],
    permissions: collectPermissions(last.manifest, cache, walked, read),
    skipped: walked.skipped,
    failed,
    isRetained,
    readCount: read.size,
  };
}

/** The files of the last snapshot that were neither kept nor read. The row is -1 without a cache. */
function* listMissing(
  last: LastSnapshot,
  cache: StatCache | undefined,
  kept: Uint8Array,
  read: ReadonlyMap<string, HashedFile>,
): Generator<CachedPath> {
  if (cache === undefined) {
    for (const path of last.paths) if (!read.has(path)) yield { row: -1, path };
    return;
  }
  for (let row = kept.indexOf(0); row >= 0; row = kept.indexOf(0, row + 1)) {
    const path = cache.files.path(row);
    if (!read.has(path)) yield { row, path };
  }
}

function listChanged(last: LastSnapshot, read: ReadonlyMap<string, HashedFile>): Map<string, TreeEntry> {
  const changed = new Map<string, TreeEntry>();
  for (const [path, { stat, oid }] of read) {
    const before = last.find(path);
    const mode = treeMode(stat.mode);
    if (before?.oid !== oid || before.mode !== mode) changed.set(path, { mode, oid });
  }
  return changed;
}

/** Captured files whose name in the git tree is encoded. */
function listEncoded(
  cache: StatCache | undefined,
  kept: Uint8Array,
  read: ReadonlyMap<string, HashedFile>,
): string[] {
  const candidates = [...(cache?.directories?.encoded ?? cache?.files.paths() ?? [])];
  const isKept = (path: string) => kept[cache?.files.find(path) ?? -1] === 1;
  return [...candidates.filter(isKept), ...read.keys()].filter(isEncoded);
}

function isEncoded(path: string): boolean {
  return encodePath(path) !== path;
}

function collectPermissions(
  before: SnapshotManifest | undefined,
  cache: StatCache | undefined,
  { directories, kept }: Walked,
  read: ReadonlyMap<string, HashedFile>,
): PermissionBits {
  const permissions = new PermissionBits(before, cache?.files, kept);
  for (const [path, mode] of directories) permissions.directory(path, mode);
  for (const [path, { stat }] of read) permissions.file(path, stat);
  return permissions;
}

/** How often a file is read if it changes while it is stored. */
const ATTEMPTS = 3;

/** Files that are gone by now are in neither result. */
export async function readFiles(
  source: Source,
  paths: readonly string[],
  last: LastSnapshot,
  options: ScanOptions,
): Promise<{ read: ReadonlyMap<string, HashedFile> } & Readonly<Record<'skipped' | 'failed', LeftOut[]>>> {
  const read = new Map<string, HashedFile>();
  const [skipped, failed]: [LeftOut[], LeftOut[]] = [[], []];
  for (const [i, path] of paths.entries()) {
    reportProgress('reading files', i + 1, paths.length);
    const content = await readAndStore(source, path, last, options);
    if (typeof content === 'string') failed.push({ path, reason: content });
    else if (typeof content === 'number') skipped.push({ path, reason: tooLarge(content) });
    else if (content !== undefined) read.set(path, { stat: content.stat, oid: content.oid });
  }
  return { read, skipped, failed };
}

/**
 * The content, or the reason why there is none; undefined if the file is gone. The size of one that is too large, and no
 * longer as in the last snapshot.
 */
async function readAndStore(
  source: Source,
  path: string,
  last: LastSnapshot,
  { hash, store, requireRoom, maxFileSize }: ScanOptions,
): Promise<Content | string | number | undefined> {
  try {
    const size = last.find(path) === undefined ? lstatSync(systemPath(source.path(path))).size : 0;
    if (size > IN_MEMORY) requireRoom?.(size);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const content = readContent(source.path(path), hash, source.isInside);
      const isNew = last.find(path)?.oid !== content.oid;
      const { size: length } = content.stat;
      if (isNew && content.stat.isFile() && length > maxFileSize) return length;
      // A log that grows between the two is stored as it was first.
      const wanted = attempt === 0 ? content : { ...content, isBeginning: true as const };
      if (!isNew || (await store(path, wanted))) return content;
    }
    return 'changes all the time';
  } catch (error) {
    if (error instanceof UnstableFile) return error.message;
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    return failureReason('read', error);
  }
}
