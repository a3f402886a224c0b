/**
 * Reads git's index in process: versions 2, 3 and 4 of gitformat-index(5). A split index (extension `link`) keeps most
 * entries in another file. This module only reports that; the caller then asks git for a whole index.
 */
import { openHash } from '../objects/hash.ts';

export interface IndexEntry {
  /** Offset of the entry in the file. The entry begins with its stat data. */
  readonly offset: number;
  /** One byte per character. */
  readonly path: string;
  readonly mode: number;
  readonly oid: string;
  /** 0, or 1 to 3 in a conflict. */
  readonly stage: number;
  /** assume-valid, skip-worktree and intent-to-add, with the bits that the two flag words use. */
  readonly flags: number;
}

interface IndexContent {
  readonly entries: IndexEntry[];
  /** The conflicts that were resolved, from which git can make them again. */
  readonly resolved: ResolvedEntry[];
  readonly split: boolean;
  /** The tree that the index stands for, if git has computed it since the last change of an entry. */
  readonly tree: string | undefined;
  /** Offset of the first extension, after the last entry. */
  readonly end: number;
}

export type ResolvedEntry = Pick<IndexEntry, 'path' | 'mode' | 'oid' | 'stage'>;

interface IndexSummary {
  /** Covers the meaning of all entries. It does not depend on their stat data or on the version of the file. */
  readonly digest: string;
  /** Whether the index names objects that `git write-tree` leaves out: of a conflict, or of a mere intent to add. */
  readonly hasMoreThanTree: boolean;
  readonly split: boolean;
}

/** Signature, version and number of entries, four bytes each. */
const HEADER_LENGTH = 12;
/** Bytes of an entry before its object name: the stat data, which include the mode. */
export const STAT_LENGTH = 40;
/** Offset of the mode in an entry. */
const MODE_OFFSET = 24;
const MODE_LENGTH = 4;
export const ASSUME_UNCHANGED = 0x8000;
export const SKIP_WORKTREE = 0x4000;
/** A second flag word follows. */
const EXTENDED = 0x4000;
/** In the second flag word. */
export const INTENT_TO_ADD = 0x2000;
/** The length of the path in the first flag word; this value means "so long or longer". */
const NAME_MASK = 0x0fff;

/** @throws RangeError or SyntaxError if the bytes are not an index. */
export function parseIndex(bytes: Buffer, oidLength: number): IndexContent {
  const entries: IndexEntry[] = [];
  const end = walkEntries(bytes, oidLength, (entry) => {
    const { offset, stage, flags } = entry;
    entries.push({
      offset,
      path: entry.pathBytes.toString('latin1', entry.pathStart, entry.pathEnd),
      mode: bytes.readUInt32BE(offset + MODE_OFFSET),
      oid: bytes.toString('hex', offset + STAT_LENGTH, offset + STAT_LENGTH + oidLength),
      stage,
      flags,
    });
  });
  const resolved = readResolved(findExtension(bytes, end, oidLength, 'REUC'), oidLength);
  const tree = readCachedTree(findExtension(bytes, end, oidLength, 'TREE'), oidLength);
  const split = findExtension(bytes, end, oidLength, 'link') !== undefined;
  return { entries, resolved, split, tree, end };
}

/** The first entry of the extension `TREE` is the root: an empty path, the number of entries or -1, a name. */
function readCachedTree(extension: Buffer | undefined, oidLength: number): string | undefined {
  const header = /^\0(-?\d+) \d+\n/.exec(extension?.toString('latin1', 0, 40) ?? '');
  if (extension === undefined || header === null || header[1]?.startsWith('-')) return undefined;
  return extension.toString('hex', header[0].length, header[0].length + oidLength);
}

/** Makes no string or object for an entry, because an index may hold a million of them. @throws as parseIndex. */
export function summarizeIndex(bytes: Buffer, oidLength: number): IndexSummary {
  const hash = new BufferedHash();
  let hasMoreThanTree = false;
  const fixed = Buffer.alloc(3);
  const end = walkEntries(bytes, oidLength, (entry) => {
    const { offset, stage, flags } = entry;
    hasMoreThanTree ||= stage > 0 || (flags & INTENT_TO_ADD) !== 0;
    fixed[0] = stage;
    fixed[1] = flags >> 8;
    fixed[2] = flags & 0xff;
    hash.update(bytes, offset + MODE_OFFSET, offset + MODE_OFFSET + MODE_LENGTH);
    hash.update(bytes, offset + STAT_LENGTH, offset + STAT_LENGTH + oidLength);
    hash.update(fixed, 0, fixed.length);
    hash.update(entry.pathBytes, entry.pathStart, entry.pathEnd);
    hash.update(NUL, 0, NUL.length);
  });
  const hasExtension = (name: string) => findExtension(bytes, end, oidLength, name) !== undefined;
  hasMoreThanTree ||= hasExtension('REUC');
  return { digest: hash.digest(), hasMoreThanTree, split: hasExtension('link') };
}

const NUL = Buffer.alloc(1);
/** Bytes that are collected before they are hashed: a call for each field of each entry costs more than the hash. */
const HASH_BUFFER = 65_536;

class BufferedHash {
  private readonly hash = openHash('sha1');
  private readonly buffer = Buffer.alloc(HASH_BUFFER);
  private length = 0;

  update(source: Buffer, start: number, end: number): void {
    if (this.length + end - start > HASH_BUFFER) this.flush();
    if (end - start > HASH_BUFFER) {
      this.hash.update(source.subarray(start, end));
      return;
    }
    for (let offset = start; offset < end; offset++) this.buffer[this.length++] = source[offset] as number;
  }

  digest(): string {
    this.flush();
    return this.hash.digest();
  }

  private flush(): void {
    this.hash.update(this.buffer.subarray(0, this.length));
    this.length = 0;
  }
}

/** The entry that walkEntries is reading. It reuses one object for all entries. */
interface CurrentEntry {
  offset: number;
  stage: number;
  flags: number;
  /** The path is from `pathStart` to `pathEnd` in this buffer. */
  pathBytes: Buffer;
  pathStart: number;
  pathEnd: number;
}

/** Returns the offset after the last entry. @throws RangeError or SyntaxError if the bytes are not an index. */
function walkEntries(bytes: Buffer, oidLength: number, visit: (entry: CurrentEntry) => void): number {
  if (bytes.length === 0) return 0;
  if (bytes.toString('latin1', 0, 4) !== 'DIRC') throw new SyntaxError('not an index');
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) throw new SyntaxError(`unknown index version ${version}`);
  const count = bytes.readUInt32BE(8);
  const path = new PrefixedPath();
  const entry: CurrentEntry = { offset: 0, stage: 0, flags: 0, pathBytes: bytes, pathStart: 0, pathEnd: 0 };
  let offset = HEADER_LENGTH;
  for (let i = 0; i < count; i++) {
    entry.offset = offset;
    const pathOffset = readFlags(bytes, offset + STAT_LENGTH + oidLength, entry);
    offset =
      version === 4
        ? path.read(bytes, pathOffset, entry)
        : readPaddedPath(bytes, pathOffset, oidLength, entry);
    visit(entry);
  }
  if (offset + oidLength > bytes.length) throw new RangeError('index is cut off');
  return offset;
}

/** Returns the offset of the path, which follows the flags. */
function readFlags(bytes: Buffer, offset: number, entry: CurrentEntry): number {
  const word = bytes.readUInt16BE(offset);
  const isExtended = (word & EXTENDED) !== 0;
  entry.stage = (word >> 12) & 3;
  entry.flags = (word & ASSUME_UNCHANGED) | (isExtended ? bytes.readUInt16BE(offset + 2) : 0);
  return offset + (isExtended ? 4 : 2);
}

/** Versions 2 and 3: the whole path, then NULs up to a multiple of eight bytes. Returns the offset of the next entry. */
function readPaddedPath(bytes: Buffer, pathOffset: number, oidLength: number, entry: CurrentEntry): number {
  const length = bytes.readUInt16BE(entry.offset + STAT_LENGTH + oidLength) & NAME_MASK;
  entry.pathStart = pathOffset;
  entry.pathEnd = length < NAME_MASK ? pathOffset + length : bytes.indexOf(0, pathOffset);
  return entry.offset + ((entry.pathEnd - entry.offset + 8) & ~7);
}

/** Version 4: an entry says how many bytes to drop from the end of the previous path, and what to append instead. */
class PrefixedPath {
  private bytes = Buffer.alloc(4096);
  private length = 0;

  /** Returns the offset of the next entry. */
  read(source: Buffer, offset: number, entry: CurrentEntry): number {
    const [dropped, start] = readVariableWidth(source, offset);
    const end = source.indexOf(0, start);
    const kept = Math.max(0, this.length - dropped);
    this.length = kept + end - start;
    if (this.length > this.bytes.length) this.bytes = Buffer.concat([this.bytes, Buffer.alloc(this.length)]);
    source.copy(this.bytes, kept, start, end);
    entry.pathBytes = this.bytes;
    entry.pathEnd = this.length;
    return end + 1;
  }
}

/** The encoding of numbers that version 4 shares with the offsets in a pack. */
function readVariableWidth(bytes: Buffer, start: number): [value: number, next: number] {
  let offset = start;
  let byte = bytes.readUInt8(offset++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = bytes.readUInt8(offset++);
    value = ((value + 1) << 7) | (byte & 0x7f);
  }
  return [value, offset];
}

/** Each extension is a name of four bytes, a size and the content. The checksum ends the file. */
export function* extensionsIn(bytes: Buffer, start: number, oidLength: number) {
  for (let offset = start; offset + 8 <= bytes.length - oidLength; ) {
    const end = offset + 8 + bytes.readUInt32BE(offset + 4);
    yield { name: bytes.toString('latin1', offset, offset + 4), whole: bytes.subarray(offset, end) };
    offset = end;
  }
}

function findExtension(bytes: Buffer, start: number, oidLength: number, wanted: string): Buffer | undefined {
  return extensionsIn(bytes, start, oidLength)
    .find(({ name }) => name === wanted)
    ?.whole.subarray(8);
}

/** The extension `REUC`: path, three modes in octal, each ended by NUL; then a name for each mode that is not 0. */
function readResolved(extension: Buffer | undefined, oidLength: number): ResolvedEntry[] {
  const found: ResolvedEntry[] = [];
  let offset = 0;
  const readText = () => {
    const end = extension?.indexOf(0, offset) ?? -1;
    if (extension === undefined || end < 0) throw new SyntaxError('damaged extension REUC');
    const text = extension.toString('latin1', offset, end);
    offset = end + 1;
    return text;
  };
  while (extension !== undefined && offset < extension.length) {
    const path = readText();
    const modes = [1, 2, 3].map((stage) => ({ stage, mode: Number.parseInt(readText(), 8) }));
    for (const { stage, mode } of modes.filter(({ mode }) => mode !== 0)) {
      found.push({ path, stage, mode, oid: extension.toString('hex', offset, offset + oidLength) });
      offset += oidLength;
    }
  }
  return found;
}
