/**
 * After git has checked out a worktree: makes its index vouch for every file. git reads a file again that changed in the
 * second in which the index was written; after a quick checkout these are all files. They get an mtime of the second
 * before, as long as nobody else works there. Any later change then shows.
 */
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { readFileClock } from '../../disk/file-clock.ts';
import { systemPath } from '../../disk/long-path.ts';
import type { IndexEntry } from '../../git/files/index-file.ts';
import { hasStat, isRacy, type StatOf, setBack, withStatData } from '../../git/files/index-stat.ts';
import type { GitConfig } from '../../git/run/config.ts';

/** Paths are absolute. */
export interface CheckedOutWorktree {
  readonly sandbox: string;
  /** The session folder. */
  readonly folder: string;
  /** The worktree's own. */
  readonly gitDir: string;
  readonly commonDir: string;
  readonly config: GitConfig;
}

export interface IndexBytes {
  readonly bytes: Buffer;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

export function readIndexBytes(gitDir: string): IndexBytes {
  const path = join(gitDir, 'index');
  const bytes = readFileSync(path);
  const { mtimeMs, ctimeMs } = lstatSync(path);
  return { bytes, mtimeMs, ctimeMs };
}

/** Returns the index as it is then. */
export function settleIndex(index: IndexBytes, oidLength: number, worktree: CheckedOutWorktree): IndexBytes {
  const { sandbox, folder, gitDir } = worktree;
  if (process.platform === 'win32') return index;
  const now = Math.floor(readFileClock(folder) / 1000);
  const root = Buffer.from(sandbox).toString('latin1');
  // A hook runs after the index was written, and may have changed a file in the same clock tick.
  const trustedBefore = hasCheckoutHook(worktree) ? index.mtimeMs : Number.POSITIVE_INFINITY;
  let isSettled = true;
  const statOf: StatOf = (entry: IndexEntry) => {
    if (!isRacy(index.bytes, entry, index.mtimeMs)) return 'as before';
    isSettled = false;
    const path = systemPath(`${root}/${entry.path}`);
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    const isUntouched =
      stat !== undefined && hasStat(index.bytes, entry, stat) && Number(stat.ctimeNs) / 1e6 < trustedBefore;
    if (!isUntouched) return undefined;
    return stat.mtimeMs < BigInt(now) * 1000n ? stat : setBack(path, stat, now);
  };
  const bytes = withStatData(index.bytes, oidLength, statOf);
  if (bytes === undefined || isSettled) return index;
  writeFileAtomic(join(gitDir, 'index'), bytes, { cache: true });
  return readIndexBytes(gitDir);
}

export function hasCheckoutHook({
  sandbox,
  commonDir,
  config,
}: Pick<CheckedOutWorktree, 'sandbox' | 'commonDir' | 'config'>): boolean {
  const named = config
    .get('core.hookspath')
    ?.at(-1)
    ?.replace(/^~(?=\/)/, homedir());
  const directory = named === undefined ? join(commonDir, 'hooks') : resolve(sandbox, named);
  const isConfigured = [...config.keys()].some((key) => /^hook\..*\.event$/s.test(key));
  return isConfigured || existsSync(join(directory, 'post-checkout'));
}
