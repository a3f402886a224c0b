/** The stat cache for the next scan. */
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import type { TreeEntry } from '../../snapshot/tree.ts';
import type { LastSnapshot } from '../last-snapshot.ts';
import type { CachedDirectories } from '../stat-cache/cached-directories.ts';
import { type CachedFiles, CachedFilesBuilder } from '../stat-cache/cached-files.ts';
import type { StatCache } from '../stat-cache/stat-cache.ts';
import type { HashedFile } from './content.ts';
import { rulesText, type ScanOptions } from './scan-options.ts';
import type { Walked } from './walk.ts';

export type NextCache = Pick<StatCache, 'files' | 'directories'>;

/** A file of the last snapshot; `row` is -1 without a cache. */
export interface CachedPath {
  readonly row: number;
  readonly path: string;
}

export interface ScanFindings {
  readonly walked: Walked;
  readonly read: ReadonlyMap<string, HashedFile>;
  readonly encodedFiles: readonly string[];
  readonly last: LastSnapshot;
  readonly options: ScanOptions;
  /** Whether everything in the scanned folders could be examined and read. */
  readonly isComplete: boolean;
  /** Files that the new snapshot takes over from the last one unseen: unreadable, or not in the scanned folders. */
  readonly retained: readonly CachedPath[];
}

/** Undefined if it would be equal to the last one. */
export function nextCache(findings: ScanFindings): NextCache | undefined {
  const { walked, options } = findings;
  const before = options.refreshed?.cache;
  const { valid, outdated } = splitRetained(findings);
  const filesAreSame = before !== undefined && walked.toRead.length === 0 && !valid.includes(0);
  const directories = cacheDirectories(findings);
  if (filesAreSame && !walked.hasNewTimes && areSame(directories, before.directories)) return undefined;
  return { files: filesAreSame ? before.files : cacheFiles(findings, valid, outdated), directories };
}

/**
 * The rows of the last cache that hold for the next scan, marked by 1, and the files whose stat data do not: with the
 * new clock, a change in the clock tick of the last scan would go unnoticed.
 */
function splitRetained({ walked, options, retained }: ScanFindings): {
  valid: Uint8Array;
  outdated: string[];
} {
  const before = options.refreshed?.cache;
  const valid = walked.kept.slice();
  const outdated: string[] = [];
  for (const { row, path } of retained) {
    if (before?.files.isOlder(row, before.clock)) valid[row] = 1;
    else outdated.push(path);
  }
  return { valid, outdated };
}

/** Undefined after a scan that has not seen everything. */
function cacheDirectories(findings: ScanFindings): CachedDirectories | undefined {
  const { walked, encodedFiles, options, isComplete } = findings;
  if (!isComplete || options.topFolders !== TOP_FOLDERS) return undefined;
  const excluded = [...walked.skipped.map(({ path }) => path), ...walked.leftOut].sort();
  return walked.directoriesToCache.build(excluded, encodedFiles, rulesText(options));
}

function areSame(a: CachedDirectories | undefined, b: CachedDirectories | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

/** The last cache with what was read. New files come last; if none come or go, no row moves. */
function cacheFiles(
  { read, last, options }: ScanFindings,
  valid: Uint8Array,
  outdated: readonly string[],
): CachedFiles {
  const before = options.refreshed?.cache.files;
  const changed = new Map<number, HashedFile>();
  const isMapped = (path: string) => options.mapped?.has(path) === true;
  const added: [string, HashedFile][] = [];
  for (const [path, file] of read) {
    const row = isMapped(path) ? -1 : (before?.find(path) ?? -1);
    if (row < 0) added.push([path, file]);
    else changed.set(row, file);
  }
  const updated = before?.replacing(changed);
  for (const row of changed.keys()) valid[row] = 1;
  if (updated !== undefined && added.length + outdated.length === 0 && !valid.includes(0)) return updated;

  const oidLength = options.hash === 'sha256' ? 32 : 20;
  const builder = new CachedFilesBuilder(oidLength, valid.length + outdated.length + added.length);
  if (updated !== undefined) copyValid(builder, updated, valid);
  for (const path of outdated) {
    const { mode, oid } = last.find(path) as TreeEntry;
    builder.addUnread(path, Number.parseInt(mode, 8), oid);
  }
  for (const [path, { stat, oid }] of added) {
    if (isMapped(path)) builder.addUnread(path, stat.mode, oid);
    else builder.add(path, stat, oid);
  }
  return builder.build();
}

function copyValid(builder: CachedFilesBuilder, files: CachedFiles, valid: Uint8Array): void {
  for (let start = 0; start < valid.length; ) {
    const zero = valid.indexOf(0, start);
    const end = zero < 0 ? valid.length : zero;
    builder.copy(files, start, end);
    start = end + 1;
  }
}
