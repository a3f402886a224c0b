/**
 * The files of a sandbox that differ from its index, and those that are untracked, found without git. It trusts the stat
 * data of the index as git does. A submodule counts as changed if it has
 * checked out another commit; agt does not look at its files.
 */
import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { readStatCache, type StatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { readRegularFile } from '../../disk/read-file.ts';
import { errorCode } from '../../errors.ts';
import { INTENT_TO_ADD, type IndexEntry, parseIndex } from '../../git/files/index-file.ts';
import { submoduleHead } from '../../git/files/submodule-head.ts';
import { openHash } from '../../git/objects/hash.ts';
import { once } from '../../once.ts';
import { type GeneralPatterns, untrackedFiles } from './untracked.ts';

/** All paths are relative to the sandbox, one byte per character. */
export interface WorkingFiles {
  readonly entries: readonly IndexEntry[];
  /** The tree of the index, if the index says it and holds nothing else. */
  readonly indexTree: string | undefined;
  /** Modified or untracked. */
  readonly present: readonly string[];
  readonly deleted: readonly string[];
  readonly untracked: number;
}

const SKIP_WORKTREE = 0x4000;
const ASSUME_VALID = 0x8000;
const TYPE = 0o170000;
const REGULAR = 0o100000;
const LINK = 0o120000;
const SUBMODULE = 0o160000;

/** Undefined if the index cannot be read here: a split index, or a damaged one. */
export function readWorkingFiles(
  sandbox: string,
  gitDir: string,
  oidLength: number,
  general: GeneralPatterns,
  statCache: string,
): WorkingFiles | undefined {
  const cache = once(() => readCacheIfUsable(statCache));
  try {
    const file = join(gitDir, 'index');
    const written = lstatSync(file).mtimeMs;
    const bytes = readRegularFile(file);
    const { entries, split, tree } = parseIndex(bytes, oidLength);
    if (split) return undefined;
    return compare(sandbox, bytes, { entries, tree, written, general, cache });
  } catch {
    return undefined;
  }
}

/** Whether the sandbox has anything that a commit with this tree does not have. */
export function differsFrom({ indexTree, present, deleted }: WorkingFiles, tree: string): boolean {
  return indexTree !== tree || present.length + deleted.length > 0;
}

interface Index {
  readonly entries: readonly IndexEntry[];
  readonly tree: string | undefined;
  /** When git wrote the index. */
  readonly written: number;
  readonly general: GeneralPatterns;
  /** agt's own stat data, for files that are as young as the index. */
  readonly cache: () => StatCache | undefined;
}

function readCacheIfUsable(path: string): StatCache | undefined {
  try {
    return readStatCache(path);
  } catch {
    return undefined;
  }
}

function compare(sandbox: string, bytes: Buffer, index: Index): WorkingFiles {
  const { entries, tree, general } = index;
  const root = Buffer.from(sandbox).toString('latin1');
  const files = new Set<string>();
  const directories = new Set<string>();
  const present = new Set<string>();
  const deleted = new Set<string>();
  let isPlain = true;
  for (const entry of entries) {
    const { path, stage, flags } = entry;
    files.add(path);
    addParents(directories, path);
    isPlain &&= stage === 0 && (flags & INTENT_TO_ADD) === 0;
    const isTrusted = (flags & (SKIP_WORKTREE | ASSUME_VALID)) !== 0;
    const state = isTrusted ? 'same' : stateOf(root, bytes, entry, index);
    if (state === 'gone') deleted.add(path);
    else if (state === 'changed' || stage > 0) present.add(path);
  }
  const untracked = untrackedFiles(sandbox, { files, directories }, general);
  return {
    entries,
    indexTree: isPlain ? tree : undefined,
    present: [...present, ...untracked],
    deleted: [...deleted],
    untracked: untracked.length,
  };
}

function addParents(directories: Set<string>, path: string): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const parent = path.slice(0, end);
    if (directories.has(parent)) return;
    directories.add(parent);
  }
}

type State = 'same' | 'changed' | 'gone';

function stateOf(root: string, bytes: Buffer, entry: IndexEntry, { written, cache }: Index): State {
  const type = entry.mode & TYPE;
  const path = `${root}/${entry.path}`;
  if (type === SUBMODULE) {
    const head = submoduleHead(Buffer.from(path, 'latin1').toString());
    return head === undefined || head === entry.oid ? 'same' : 'changed';
  }
  if (type !== REGULAR && type !== LINK) return 'same'; // a directory of a sparse index
  const stat = lstatIfThere(path);
  if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) return 'gone';
  if (stat.isSymbolicLink() !== (type === LINK)) return 'changed';
  if (type === REGULAR && ((stat.mode & 0o100) !== 0) !== ((entry.mode & 0o100) !== 0)) return 'changed';
  // A file that is as young as the index may have changed since, at the same time of the file system's clock.
  if (hasSameStat(bytes, entry.offset, stat) && (stat.mtimeMs < written || isCached(cache(), entry, stat)))
    return 'same';
  return hasSameContent(path, stat, entry.oid) ? 'same' : 'changed';
}

function isCached(cache: StatCache | undefined, { path, oid }: IndexEntry, stat: Stats): boolean {
  const row = cache?.files.find(`sandbox/${path}`) ?? -1;
  return (
    cache !== undefined &&
    row >= 0 &&
    cache.files.isSame(row, stat, cache.clock) &&
    cache.files.oid(row) === oid
  );
}

function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(Buffer.from(path, 'latin1'), { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Offsets in an entry: gitformat-index(5). git compares neither the device nor, by default, more than this. */
function hasSameStat(bytes: Buffer, offset: number, stat: Stats): boolean {
  const time = (at: number) =>
    bytes.readUInt32BE(offset + at) * 1000 + bytes.readUInt32BE(offset + at + 4) / 1e6;
  return (
    bytes.readUInt32BE(offset + 36) === stat.size % 2 ** 32 &&
    bytes.readUInt32BE(offset + 20) === stat.ino % 2 ** 32 &&
    isSameTime(time(8), stat.mtimeMs) &&
    isSameTime(time(0), stat.ctimeMs)
  );
}

/** Node gives milliseconds as a floating-point number, which is exact to about a microsecond. */
function isSameTime(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.001;
}

/** Larger files are not read: their stat data differ, so they count as changed. */
const LARGEST_READ = 16 * 1024 * 1024;

function hasSameContent(path: string, stat: Stats, oid: string): boolean {
  if (stat.size > LARGEST_READ) return false;
  const raw = Buffer.from(path, 'latin1');
  const content = stat.isSymbolicLink() ? readlinkSync(raw, 'buffer') : readFileSync(raw);
  if (blobName(content, oid) === oid) return true;
  // core.autocrlf or an attribute may have put the carriage returns there.
  if (!content.includes('\r\n')) return false;
  return blobName(Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'), oid) === oid;
}

function blobName(content: Buffer, like: string): string {
  const algorithm = like.length === 64 ? 'sha256' : 'sha1';
  return openHash(algorithm).update(`blob ${content.length}\0`).update(content).digest();
}
