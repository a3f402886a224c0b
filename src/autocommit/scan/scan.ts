/**
 * Finds what every file of a session folder holds, reading only what may have changed.
 *
 * A file is read again unless its size, times, inode and mode are those of the last scan and both its times lie before
 * that scan began. mtime alone is not enough: `mv`, `cp -p`, `tar` and `rsync -a` keep it; ctime and inode tell. What
 * changed within the same tick as the last scan could look the same after it, hence the second condition. The clock is
 * the file system's: the process's own may differ.
 */

import { readFileClock } from '../../disk/file-clock.ts';
import { errorCode } from '../../errors.ts';
import { failureReason, underAny } from '../../snapshot/failure.ts';
import { isUnder, TOP_FOLDERS } from '../../snapshot/folders.ts';
import { textOf } from '../../snapshot/ignore-file.ts';
import type { TreeEntry } from '../../snapshot/tree.ts';
import { type Previous, treeMode } from '../last-snapshot.ts';
import type { CaptureTarget } from '../request.ts';
import type { ScanManifest } from '../stat-cache/scan-manifest.ts';
import type { ScanTable } from '../stat-cache/scan-table.ts';
import { ScanTableBuilder } from '../stat-cache/scan-table-builder.ts';
import { type Content, type HashName, readContent, UnstableFile } from './content.ts';
import { lookAgain, lookAtAll } from './look.ts';
import type { PermissionBits } from './permission-bits.ts';
import type { ScanOptions, Skipped } from './scan-options.ts';

export interface Scanned {
  /** What the next scan may rely on; undefined where it is what the last scan left. */
  readonly known: Pick<ScanManifest, 'files' | 'places'> | undefined;
  /** Files whose content, type or executable bit is new. */
  readonly writes: Map<string, TreeEntry>;
  /** Files of the last state that are no more, or that a rule leaves out now. */
  readonly deletions: string[];
  readonly emptyDirectories: readonly string[];
  readonly directories: ReadonlySet<string>;
  /** Paths that stand in the tree under another name. */
  readonly encoded: readonly string[];
  readonly modes: PermissionBits;
  /** Left out by rule. */
  readonly skipped: readonly Skipped[];
  /** What could not be captured: what the last state has there stays. */
  readonly failed: readonly Skipped[];
  /** Whether a path is one that could not be captured, or lies under one. */
  readonly stands: (path: string) => boolean;
  /** The file system's clock before the walk, in milliseconds. */
  readonly clock: number;
  /** How many files' contents were read. */
  readonly read: number;
}

/** Content that was read, without the bytes. */
type Seen = Pick<Content, 'stat' | 'oid'>;

const ATTEMPTS = 3;

export async function scan(
  target: CaptureTarget,
  previous: Previous,
  options: ScanOptions,
): Promise<Scanned> {
  const folder = Buffer.from(target.folder).toString('latin1');
  const { confirming } = options;
  const clock = confirming?.clock ?? readFileClock(target.folder);
  const isOfTip = confirming !== undefined && confirming.manifest === previous.cache;
  const differences = isOfTip ? await confirming.finish() : undefined;
  const looked =
    (differences && lookAgain(folder, previous, differences, options)) ??
    lookAtAll(folder, previous, options);
  const { notes, kept, pending, failed, modes } = looked;

  const writes = new Map<string, TreeEntry>();
  const read = new Map<string, Seen>();
  for (const path of pending) {
    const found = await readFile(folder, path, previous, options);
    if (found === undefined) continue;
    if (typeof found === 'string') {
      failed.push({ path, reason: found });
      continue;
    }
    read.set(path, { stat: found.stat, oid: found.oid });
    notes.file(path);
    modes.file(path, found.stat);
    const before = previous.find(path);
    const mode = treeMode(found.stat.mode);
    if (before?.oid !== found.oid || before.mode !== mode) writes.set(path, { mode, oid: found.oid });
  }

  const stands = underAny(failed.map(({ path }) => path));
  const table = previous.cache?.files;
  const deletions: string[] = [];
  const unseen: string[] = [];
  for (const [row, path] of notKept(previous, kept)) {
    if (read.has(path)) continue;
    if (isUnder(path, options.tops) && !stands(path)) deletions.push(path);
    else if (table?.isOlder(row, previous.cache?.clock ?? 0)) kept[row] = 1;
    else unseen.push(path);
  }
  const isAsBefore =
    table !== undefined && pending.length === 0 && deletions.length === 0 && unseen.length === 0;
  const isWhole = failed.length === 0 && options.tops === TOP_FOLDERS;
  const known = {
    files: isAsBefore ? table : newTable(previous, kept, unseen, read, options.hash),
    places: isWhole ? notes.finish(textOf(options.ignore)) : undefined,
  };
  return {
    known: isAsBefore && !looked.news ? undefined : known,
    writes,
    deletions,
    emptyDirectories: notes.emptyDirectories,
    directories: notes.directories,
    encoded: notes.encoded,
    modes,
    skipped: notes.skipped,
    failed,
    stands,
    clock,
    read: read.size,
  };
}

/** The files of the last state that are not known to be as they were; the row is -1 without a table. */
function* notKept({ cache, paths }: Previous, kept: Uint8Array): Generator<[row: number, path: string]> {
  if (cache === undefined) for (const path of paths) yield [-1, path];
  else
    for (let row = kept.indexOf(0); row >= 0; row = kept.indexOf(0, row + 1))
      yield [row, cache.files.path(row)];
}

/** Every file of the new state. What is known of `unseen` would not tell them from what they have become. */
function newTable(
  previous: Previous,
  kept: Uint8Array,
  unseen: readonly string[],
  read: ReadonlyMap<string, Seen>,
  hash: HashName,
): ScanTable {
  const before = previous.cache?.files;
  const rows = new Map<number, Seen>();
  const added: [string, Seen][] = [];
  for (const [path, seen] of read) {
    const row = before?.find(path) ?? -1;
    if (row < 0) added.push([path, seen]);
    else rows.set(row, seen);
  }
  const updated = before?.replacing(rows);
  const standing = kept.slice();
  for (const row of rows.keys()) standing[row] = 1;
  if (updated !== undefined && added.length + unseen.length === 0 && !standing.includes(0)) return updated;

  const builder = new ScanTableBuilder(
    hash === 'sha256' ? 32 : 20,
    kept.length + unseen.length + added.length,
  );
  if (updated !== undefined) {
    for (let from = 0; from < standing.length; ) {
      const to = standing.indexOf(0, from);
      builder.copy(updated, from, to < 0 ? standing.length : to);
      from = to < 0 ? standing.length : to + 1;
    }
  }
  for (const path of unseen) {
    const { mode, oid } = previous.find(path) as TreeEntry;
    builder.addUnseen(path, Number.parseInt(mode, 8), oid);
  }
  for (const [path, { stat, oid }] of added) builder.add(path, stat, oid);
  return builder.build();
}

/** The file as it was read, or why it was not; undefined where it is gone. */
async function readFile(
  folder: string,
  path: string,
  previous: Previous,
  options: ScanOptions,
): Promise<Content | string | undefined> {
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const content = readContent(`${folder}/${path}`, options.hash, options.isHere);
      const isNew = previous.find(path)?.oid !== content.oid;
      if (!isNew || (await options.keep(path, content))) return content;
    }
    return 'changes all the time';
  } catch (error) {
    if (error instanceof UnstableFile) return error.message;
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    return failureReason('read', error);
  }
}
