/**
 * Makes the stat cache of a sandbox that git has just checked out, so that the first autocommit reads no file. git wrote
 * every file itself and noted its stat data in the index. Files that differ from their blob (converted.ts) or were not
 * written are left for the autocommit to read.
 *
 * The same works for the first snapshot of a user's own checkout, if the index is the one that the start commit was made
 * of. There, git's rule about racy files counts: the index does not show a change in the clock tick in which it was written.
 *
 * If anything is unexpected, no cache is made, and the autocommit reads everything.
 */
import { existsSync, lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { clockAfter, readFileClock } from '../../disk/file-clock.ts';
import { systemPath } from '../../disk/long-path.ts';
import { parentPath } from '../../disk/path-bytes.ts';
import { readRegularFile } from '../../disk/read-file.ts';
import { worktreeGitDir } from '../../git/files/discover-repository.ts';
import { INTENT_TO_ADD, type IndexEntry, parseIndex } from '../../git/files/index-file.ts';
import { hasStat, isRacy, type StatOf, setBack, withStatData } from '../../git/files/index-stat.ts';
import { IN_INDEX } from '../../git/modes.ts';
import { type GitConfig, readGitConfig } from '../../git/run/config.ts';
import { type Git, inDirectory } from '../../git/run/git.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { examineDirectories } from './cached-directories.ts';
import { type CachedFiles, CachedFilesBuilder, type StatData } from './cached-files.ts';
import { listConverted } from './converted.ts';
import { writeStatCache } from './stat-cache.ts';

/** Paths are absolute. */
export interface Seed {
  /** The session folder. */
  readonly folder: string;
  readonly sandbox: string;
  readonly commonDir: string;
  /** The file to write. */
  readonly statCache: string;
  /** The commit that git checked out. */
  readonly commit: string;
  /** The index when the commit was made, for a checkout in which people work. */
  readonly index?: IndexBytes;
  /** git's configuration in the sandbox, if the caller has read it. */
  readonly config?: GitConfig | undefined;
}

/** To be called before anybody works in the sandbox. */
export async function seedStatCache(git: Git, seed: Seed): Promise<void> {
  const { folder, sandbox, commonDir, statCache, commit } = seed;
  const config = seed.config ?? (await readGitConfig(inDirectory(git, sandbox)));
  const index = seed.index ?? settleIndex(seed, config);
  if (index === undefined) return;
  const { bytes } = index;
  const { entries, split } = parseIndex(bytes, commit.length / 2);
  if (split || entries.some(({ stage, mode }) => stage > 0 || mode === IN_INDEX.directory)) return;
  const paths = entries.map(({ path }) => path);
  const converted = await listConverted(inDirectory(git, sandbox), commonDir, paths, config);
  if (converted === 'all') return;

  const { files, unstorable } = seedFiles(seed, bytes, entries, converted);
  const clock = await clockAfter(index.ctimeMs, folder);
  // From now on every change gives a directory a time at or after the clock.
  const made = listDirectories(entries);
  const { builder, excluded } = examineDirectories(folder, made, (path) => files.find(path) >= 0);
  const others = TOP_FOLDERS.filter((top) => !made.has(top));
  const directories = builder.build([...others, ...excluded], [], '');
  const captured = { digest: '', stat: '' }; // so that the first snapshot captures the index
  writeStatCache(statCache, { commit, clock, index: captured, files, directories, unstorable });
}

function seedFiles(
  { sandbox, commit, index }: Seed,
  bytes: Buffer,
  entries: readonly IndexEntry[],
  converted: ReadonlySet<string>,
): { files: CachedFiles; unstorable: string[] } {
  // A file that has changed then or later may differ from what the index says.
  const trustedBefore = index?.mtimeMs ?? Number.POSITIVE_INFINITY;
  const modes = sampleModes(entries, bytes, sandbox);
  const files = new CachedFilesBuilder(commit.length / 2, entries.length);
  const unstorable: string[] = [];
  for (const entry of entries) {
    const path = `sandbox/${entry.path}`;
    const mode = modes.get(entry.mode);
    if ((entry.flags & INTENT_TO_ADD) !== 0) continue; // the commit does not have it
    if (entry.mode === IN_INDEX.submodule || encodePath(path) !== path) unstorable.push(path);
    else if (mode === undefined || entry.flags !== 0 || converted.has(entry.path))
      files.addUnread(path, entry.mode, entry.oid);
    else {
      const stat = statOf(bytes, entry);
      const isTrusted = stat.mtimeMs < trustedBefore && stat.ctimeMs < trustedBefore;
      if (isTrusted) files.add(path, { ...stat, mode }, entry.oid);
      else files.addUnread(path, entry.mode, entry.oid);
    }
  }
  return { files: files.build(), unstorable };
}

/** Every directory that holds an entry of the index, relative to the session folder. */
function listDirectories(entries: readonly IndexEntry[]): Set<string> {
  const directories = new Set<string>();
  for (const { path } of entries) {
    let directory = parentPath(`sandbox/${path}`);
    while (directory !== '' && !directories.has(directory)) {
      directories.add(directory);
      directory = parentPath(directory);
    }
  }
  return directories;
}

/** The stat data of an index entry, in the order of gitformat-index(5). */
function statOf(bytes: Buffer, { offset }: IndexEntry): Omit<StatData, 'mode'> {
  const time = (field: number) =>
    bytes.readUInt32BE(offset + field) * 1000 + bytes.readUInt32BE(offset + field + 4) / 1e6;
  return {
    ctimeMs: time(0),
    mtimeMs: time(8),
    ino: bytes.readUInt32BE(offset + 20),
    size: bytes.readUInt32BE(offset + 36),
  };
}

/** How many files of a mode to try. */
const SAMPLES = 5;

/** The st_mode of each mode in the index, from a file whose other stat data are those in the index. */
function sampleModes(entries: readonly IndexEntry[], bytes: Buffer, sandbox: string): Map<number, number> {
  const root = Buffer.from(sandbox).toString('latin1');
  const modes = new Map<number, number>();
  const tried = new Map<number, number>();
  for (const entry of entries) {
    const { mode, path, flags } = entry;
    const tries = tried.get(mode) ?? 0;
    if (mode === IN_INDEX.submodule || flags !== 0 || modes.has(mode) || tries === SAMPLES) continue;
    tried.set(mode, tries + 1);
    const stat = lstatSync(systemPath(`${root}/${path}`), { throwIfNoEntry: false });
    const noted = statOf(bytes, entry);
    const names = ['mtimeMs', 'ctimeMs', 'size', 'ino'] as const;
    if (stat !== undefined && names.every((name) => noted[name] === stat[name])) modes.set(mode, stat.mode);
  }
  return modes;
}

export interface IndexBytes {
  readonly bytes: Buffer;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** @throws Error without a regular file. */
export function readIndexBytes(gitDir: string): IndexBytes {
  const path = join(gitDir, 'index');
  const { mtimeMs, ctimeMs } = lstatSync(path);
  return { bytes: readRegularFile(path), mtimeMs, ctimeMs };
}

/**
 * Makes git's index vouch for every file after a checkout. git reads a file again that changed in the second in which the
 * index was written; after a quick checkout these are all files. They get an mtime of the second before, as long as nobody
 * else works there. Any later change then shows. Returns the index as it is then; undefined if the sandbox is no linked
 * worktree.
 */
function settleIndex(
  { sandbox, folder, commonDir, commit }: Seed,
  config: GitConfig,
): IndexBytes | undefined {
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) return undefined;
  const index = readIndexBytes(gitDir);
  const now = Math.floor(readFileClock(folder) / 1000);
  const root = Buffer.from(sandbox).toString('latin1');
  // A hook runs after the index was written, and may have changed a file in the same clock tick.
  const trustedBefore = hasCheckoutHook({ sandbox, commonDir, config })
    ? index.mtimeMs
    : Number.POSITIVE_INFINITY;
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
  const bytes = withStatData(index.bytes, commit.length / 2, statOf);
  if (bytes === undefined || isSettled) return index;
  writeFileAtomic(join(gitDir, 'index'), bytes, { cache: true });
  return readIndexBytes(gitDir);
}

export function hasCheckoutHook({
  sandbox,
  commonDir,
  config,
}: Pick<Seed, 'sandbox' | 'commonDir'> & { readonly config: GitConfig }): boolean {
  const named = config
    .get('core.hookspath')
    ?.at(-1)
    ?.replace(/^~(?=\/)/, homedir());
  const directory = named === undefined ? join(commonDir, 'hooks') : resolve(sandbox, named);
  const isConfigured = [...config.keys()].some((key) => /^hook\..*\.event$/s.test(key));
  return isConfigured || existsSync(join(directory, 'post-checkout'));
}
