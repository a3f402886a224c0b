/**
 * Gives the entries of an index new stat data, so that git need not read files that somebody has just written with
 * the content that the index names.
 *
 * git trusts an entry only if the file is older than the index, in whole seconds. So the index must be written after
 * the files were examined, and a file that should be trusted must be at least a second older.
 */
import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, lutimesSync } from 'node:fs';
import { IN_INDEX } from '../modes.ts';
import {
  ASSUME_UNCHANGED,
  extensionsIn,
  INTENT_TO_ADD,
  type IndexEntry,
  parseIndex,
  SKIP_WORKTREE,
  STAT_LENGTH,
} from './index-file.ts';

/** The stat data of an entry's file; 'as before' if the index has them; undefined: git must read the file. */
export type StatOf = (entry: IndexEntry) => BigIntStats | 'as before' | undefined;

/** Undefined for a split index, whose entries are in another file. @throws as parseIndex. */
export function withStatData(bytes: Buffer, oidLength: number, statOf: StatOf): Buffer | undefined {
  const { entries, split, end } = parseIndex(bytes, oidLength);
  if (split) return undefined;
  const head = Buffer.from(bytes.subarray(0, end));
  for (const entry of entries) {
    const stat = isOrdinary(entry) ? statOf(entry) : 'as before';
    if (stat !== 'as before') writeStat(head, entry.offset, stat);
  }
  return withChecksum([head, ...keptExtensions(bytes, end, oidLength)], oidLength);
}

/** For a folder whose files have the times and sizes of those that the index knows, and other inodes. */
export function withStatOfCopy(bytes: Buffer, oidLength: number, folder: string): Buffer | undefined {
  const top = Buffer.from(`${folder}/`).toString('latin1');
  return withStatData(bytes, oidLength, ({ offset, path }) => {
    const stat = lstatSync(Buffer.from(top + path, 'latin1'), { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    const own = Buffer.alloc(STAT_LENGTH);
    writeStat(own, 0, stat);
    const isSame = [MTIME, MTIME + 4, SIZE].every(
      (field) => own.readUInt32BE(field) === bytes.readUInt32BE(offset + field),
    );
    return isSame ? stat : undefined;
  });
}

/** git compares the file of any other entry in a way of its own, or not at all. */
function isOrdinary({ stage, flags, mode }: IndexEntry): boolean {
  return (
    stage === 0 &&
    (flags & (HIDDEN | INTENT_TO_ADD)) === 0 &&
    mode !== IN_INDEX.submodule &&
    mode !== IN_INDEX.directory
  );
}

/** git does not look at the file. */
const HIDDEN = ASSUME_UNCHANGED | SKIP_WORKTREE;
/** From here on git keeps the size modulo 2^32, and versions of git differ in what a remainder of 0 means. */
const TOO_LARGE = 2n ** 32n;
const BITS = 0xffffffffn;
const BILLION = 1_000_000_000n;

/**
 * In the order of gitformat-index(5); the mode stays. Zeros say that git has not looked at the file yet. The size
 * stays then: git need not read a file of another size to know that it is modified.
 */
function writeStat(bytes: Buffer, offset: number, found: BigIntStats | undefined): void {
  const stat = found !== undefined && found.size < TOO_LARGE ? found : undefined;
  const put = (field: number, value: bigint) =>
    bytes.writeUInt32BE(Number(BigInt.asUintN(64, value) & BITS), offset + field);
  const time = (field: number, ns = 0n) => {
    put(field, ns / BILLION);
    put(field + 4, ns % BILLION);
  };
  time(0, stat?.ctimeNs);
  time(8, stat?.mtimeNs);
  put(16, stat?.dev ?? 0n);
  put(20, stat?.ino ?? 0n);
  put(28, stat?.uid ?? 0n);
  put(32, stat?.gid ?? 0n);
  if (stat !== undefined) put(36, stat.size);
}

/** They hold for one worktree at one time, or name offsets of entries: untracked files, file system monitor. */
const DROPPED = ['UNTR', 'FSMN', 'EOIE', 'IEOT'];

function keptExtensions(bytes: Buffer, start: number, oidLength: number): Buffer[] {
  const all = [...extensionsIn(bytes, start, oidLength)];
  return all.filter(({ name }) => !DROPPED.includes(name)).map(({ whole }) => whole);
}

function withChecksum(parts: readonly Buffer[], oidLength: number): Buffer {
  const hash = createHash(oidLength === 32 ? 'sha256' : 'sha1');
  for (const part of parts) hash.update(part);
  return Buffer.concat([...parts, hash.digest()]);
}

export function secondsOf(ns: bigint): number {
  return Number(ns / BILLION);
}

/** Gives a file that was changed in the second `now` or later an mtime in the second before. Returns its new stat data. */
export function setBack(path: string | Buffer, { atimeMs, mtimeNs }: BigIntStats, now: number): BigIntStats {
  const fraction = Math.min(Number(mtimeNs % BILLION) / 1e9, MOST_OF_A_SECOND);
  lutimesSync(path, Number(atimeMs) / 1000, now - 1 + fraction);
  return lstatSync(path, { bigint: true });
}

/** A number of seconds since 1970 with a larger fraction would be rounded up. */
const MOST_OF_A_SECOND = 0.999999;

/** Whether git reads the file of an entry, because it may have changed after the index was written. */
export function isRacy(bytes: Buffer, { offset }: IndexEntry, indexMtimeMs: number): boolean {
  return bytes.readUInt32BE(offset + MTIME) >= Math.floor(indexMtimeMs / 1000);
}

/** The newest mtime of an entry's file, in whole seconds; 0 without entries. @throws as parseIndex. */
export function newestEntry(bytes: Buffer, oidLength: number): number {
  const { entries } = parseIndex(bytes, oidLength);
  return entries.reduce((newest, { offset }) => Math.max(newest, bytes.readUInt32BE(offset + MTIME)), 0);
}

/** Whether a file has the stat data of its entry, to the nanosecond. */
export function hasStat(bytes: Buffer, { offset }: IndexEntry, stat: BigIntStats): boolean {
  const own = Buffer.from(bytes.subarray(offset, offset + STAT_LENGTH));
  writeStat(own, 0, stat);
  return own.equals(bytes.subarray(offset, offset + STAT_LENGTH));
}

const MTIME = 8;
const SIZE = 36;
