/**
 * Finds what every file of a session folder holds, reading only what may have changed.
 *
 * A file is read again unless its size, times, inode and mode are those of the last scan and both its times lie before
 * that scan began. mtime alone is not enough: `mv`, `cp -p`, `tar` and `rsync -a` keep it; ctime and inode tell. What
 * changed within the same tick as the last scan could look the same after it, hence the second condition. The clock is
 * the file system's: the process's own may differ.
 */
import { errorCode } from '../errors.ts';
import type { CaptureTarget } from './capture.ts';
import { type Content, type HashName, readContent, UnstableFile } from './content.ts';
import { failureReason, underAny } from './failure.ts';
import { readFileClock } from './file-clock.ts';
import type { IgnoreFile } from './ignore-file.ts';
import { NoticedModes } from './noticed-modes.ts';
import type { PlaceCheck } from './place-check.ts';
import { type Previous, treeMode } from './previous.ts';
import { type ScanTable, ScanTableBuilder, type StatData } from './scan-table.ts';
import { isUnder } from './tops.ts';
import { encodePath } from './tree-names.ts';
import type { TreeEntry } from './tree-state.ts';
import { isRegular, walk } from './walk.ts';
import type { WalkedAhead } from './walk-ahead.ts';

export interface ScanOptions {
  readonly hash: HashName;
  readonly maxFileSize: number;
  /** Top-level folders. */
  readonly tops: readonly string[];
  readonly ignore: IgnoreFile | undefined;
  /** Unix seconds. */
  readonly rereadSince: number | undefined;
  readonly isHere: PlaceCheck;
  readonly ahead: WalkedAhead | undefined;
  /** Takes content that the last state does not hold; false when the file has changed meanwhile. */
  readonly keep: (path: string, content: Content) => Promise<boolean>;
}

export interface Skipped {
  /** Relative to the session folder, one byte per character. */
  readonly path: string;
  readonly reason: string;
}

export interface Scanned {
  /** What the next scan may rely on; undefined where it is what the last scan left. */
  readonly table: ScanTable | undefined;
  /** Files whose content, type or executable bit is new. */
  readonly writes: Map<string, TreeEntry>;
  /** Files of the last state that are no more, or that a rule leaves out now. */
  readonly deletions: string[];
  readonly emptyDirectories: readonly string[];
  readonly directories: ReadonlySet<string>;
  /** Paths that stand in the tree under another name. */
  readonly encoded: readonly string[];
  readonly modes: NoticedModes;
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
  const clock = options.ahead?.clock ?? readFileClock(target.folder);
  const ahead = await options.ahead?.records;
  const { cache } = previous;
  const table = cache?.files;
  const kept = table === undefined ? undefined : new Uint8Array(table.names.length);
  const pending: string[] = [];
  const modes = new NoticedModes(previous.manifest);
  const skipped: Skipped[] = [];
  const failed: Skipped[] = [];
  const emptyDirectories: string[] = [];
  const directories = new Set<string>();
  const encoded: string[] = [];
  const note = (path: string) => {
    if (encodePath(path) !== path) encoded.push(path);
  };

  walk(
    folder,
    options.tops,
    {
      file: (path, stat) => {
        const row = table?.find(path) ?? -1;
        if (row >= 0 && table?.isSame(row, stat, cache?.clock ?? 0) && !isLate(stat, options)) {
          (kept as Uint8Array)[row] = 1;
          note(path);
          modes.file(path, stat);
        } else if (isRegular(stat) && stat.size > options.maxFileSize) {
          skipped.push({ path, reason: `is larger than agt.maxFileSize (${stat.size} bytes)` });
        } else pending.push(path);
      },
      directory: (path, mode, empty) => {
        directories.add(path);
        modes.directory(path, mode);
        if (!empty) return;
        emptyDirectories.push(path);
        note(path);
      },
      skipped: (path, reason) => void skipped.push({ path, reason }),
      failed: (path, reason) => void failed.push({ path, reason }),
      ignores: options.ignore?.ignores,
    },
    ahead,
  );

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
    note(path);
    modes.file(path, found.stat);
    const before = previous.find(path);
    const mode = treeMode(found.stat.mode);
    if (before?.oid !== found.oid || before.mode !== mode) writes.set(path, { mode, oid: found.oid });
  }

  const stands = underAny(failed.map(({ path }) => path));
  const deletions: string[] = [];
  const unseen: string[] = [];
  for (const [row, path] of previous.paths.entries()) {
    if (kept?.[row] === 1 || read.has(path)) continue;
    if (isUnder(path, options.tops) && !stands(path)) deletions.push(path);
    else if (kept !== undefined && table?.isOlder(row, cache?.clock ?? 0)) kept[row] = 1;
    else unseen.push(path);
  }
  const isAsBefore =
    table !== undefined && pending.length === 0 && deletions.length === 0 && unseen.length === 0;
  return {
    table: isAsBefore ? undefined : newTable(previous, kept, unseen, read, options.hash),
    writes,
    deletions,
    emptyDirectories,
    directories,
    encoded,
    modes,
    skipped,
    failed,
    stands,
    clock,
    read: read.size,
  };
}

/** Every file of the new state. What is known of `unseen` would not tell them from what they have become. */
function newTable(
  previous: Previous,
  kept: Uint8Array | undefined,
  unseen: readonly string[],
  read: ReadonlyMap<string, Seen>,
  hash: HashName,
): ScanTable {
  const before = previous.cache?.files;
  const expected = (before?.names.length ?? 0) + unseen.length + read.size;
  const builder = new ScanTableBuilder(hash === 'sha256' ? 32 : 20, expected);
  if (before !== undefined) {
    for (const row of before.names.keys()) if (kept?.[row] === 1) builder.copy(before, row);
  }
  for (const path of unseen) {
    const { mode, oid } = previous.find(path) as TreeEntry;
    builder.addUnseen(path, Number.parseInt(mode, 8), oid);
  }
  for (const [path, { stat, oid }] of read) builder.add(path, stat, oid);
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

function isLate(stat: StatData, { rereadSince }: ScanOptions): boolean {
  return rereadSince !== undefined && stat.mtimeMs >= rereadSince * 1000;
}
