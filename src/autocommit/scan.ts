/**
 * Finds what every file of a session folder holds, reading only what may have changed.
 *
 * A file is read again unless its size, times, inode and mode are those of the last scan and both its times lie before
 * that scan began. mtime alone is not enough: `mv`, `cp -p`, `tar` and `rsync -a` keep it; ctime and inode tell. What
 * changed within the same tick as the last scan could look the same after it, hence the second condition. The clock is
 * the file system's: the process's own may differ.
 */
import { lstatSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../errors.ts';
import type { CaptureTarget } from './capture.ts';
import { type Content, type HashName, readContent, UnstableFile } from './content.ts';
import type { Previous } from './previous.ts';
import type { ScanManifest, ScannedFile } from './scan-manifest.ts';
import { type Skipped, type Walked, walk } from './walk.ts';

export interface ScanOptions {
  readonly hash: HashName;
  readonly maxFileSize: number;
  /** Top-level folders. */
  readonly tops: readonly string[];
  /** Unix seconds. */
  readonly rereadSince: number | undefined;
  /** Takes content that the last state does not hold; false when the file has changed meanwhile. */
  readonly keep: (path: string, content: Content) => Promise<boolean>;
}

export interface Scanned {
  readonly files: Map<string, ScannedFile>;
  readonly walked: Walked;
  readonly skipped: readonly Skipped[];
  /** The file system's clock before the walk, in milliseconds. */
  readonly clock: number;
}

const ATTEMPTS = 3;

export async function scan(
  target: CaptureTarget,
  previous: Previous,
  options: ScanOptions,
): Promise<Scanned> {
  const folder = Buffer.from(target.folder).toString('latin1');
  const clock = readClock(target.folder);
  const walked = walk(folder, options.tops);
  const skipped = [...walked.skipped];
  const files = new Map<string, ScannedFile>();
  for (const [path, stat] of walked.files) {
    const known = previous.cache?.files.get(path);
    if (
      known !== undefined &&
      isSame(known, stat, previous.cache as ScanManifest) &&
      !isLate(stat, options)
    ) {
      files.set(path, known);
    } else if (stat.isFile() && stat.size > options.maxFileSize) {
      skipped.push({ path, reason: `is larger than agt.maxFileSize (${stat.size} bytes)` });
    } else {
      const found = await readFile(folder, path, previous, options);
      if (typeof found === 'string') skipped.push({ path, reason: found });
      else if (found !== undefined) files.set(path, found);
    }
  }
  for (const path of walked.files.keys()) if (!files.has(path)) walked.files.delete(path);
  return { files, walked, skipped, clock };
}

/** The file as it was read, or why it was not; undefined where it is gone. */
async function readFile(
  folder: string,
  path: string,
  previous: Previous,
  options: ScanOptions,
): Promise<ScannedFile | string | undefined> {
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const content = readContent(`${folder}/${path}`, options.hash);
      const isNew = previous.files.get(path)?.oid !== content.oid;
      if (!isNew || (await options.keep(path, content))) return describe(content.stat, content.oid);
    }
    return 'it changes all the time';
  } catch (error) {
    if (error instanceof UnstableFile) return error.message;
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EIO' || code === 'ELOOP' || code === 'ENXIO') {
      return `cannot be read (${code})`;
    }
    throw error;
  }
}

function describe(stat: Stats, oid: string): ScannedFile {
  return { mtime: stat.mtimeMs, ctime: stat.ctimeMs, size: stat.size, ino: stat.ino, mode: stat.mode, oid };
}

function isSame(known: ScannedFile, stat: Stats, cache: ScanManifest): boolean {
  return (
    known.mtime === stat.mtimeMs &&
    known.ctime === stat.ctimeMs &&
    known.size === stat.size &&
    known.ino === stat.ino &&
    known.mode === stat.mode &&
    known.ctime < cache.clock &&
    known.mtime < cache.clock
  );
}

function isLate(stat: Stats, { rereadSince }: ScanOptions): boolean {
  return rereadSince !== undefined && stat.mtimeMs >= rereadSince * 1000;
}

/** What the file system of the session folder calls now. */
function readClock(folder: string): number {
  const probe = join(folder, `.agt-clock-${process.pid}`);
  try {
    writeFileSync(probe, '');
    return lstatSync(probe).mtimeMs;
  } finally {
    rmSync(probe, { force: true });
  }
}
