/**
 * Reads git's index in process (versions 2, 3 and 4; gitformat-index(5)): the entries with the flags that carry
 * meaning. Stat data are given as they stand. The split index (extension `link`) keeps most entries in another file;
 * it is reported, and the caller asks git for a whole one.
 */
import { createHash } from 'node:crypto';

export interface IndexEntry {
  /** Where it begins in the file, with its stat data. */
  readonly at: number;
  /** One byte per character. */
  readonly path: string;
  readonly mode: number;
  readonly oid: string;
  /** 0, or 1 to 3 in a conflict. */
  readonly stage: number;
  /** assume-valid, skip-worktree and intent-to-add, as they stand in the two flag words. */
  readonly flags: number;
}

export interface IndexContent {
  readonly entries: IndexEntry[];
  readonly split: boolean;
}

export interface IndexSummary {
  /** Of all that its entries mean, whatever their stat data are and in which version they are written. */
  readonly digest: string;
  readonly conflicted: boolean;
  readonly split: boolean;
}

const ASSUME_VALID = 0x8000;
const EXTENDED = 0x4000;
const NAME_MASK = 0x0fff;
/** Bytes of an entry before its object name; the mode is among them. */
const STAT_LENGTH = 40;
const MODE_AT = 24;

/** @throws RangeError or SyntaxError for what is no index. */
export function parseIndex(bytes: Buffer, oidLength: number): IndexContent {
  const entries: IndexEntry[] = [];
  const split = walkEntries(bytes, oidLength, ({ at, stage, flags, path, from, to }) => {
    entries.push({
      at,
      path: path.toString('latin1', from, to),
      mode: bytes.readUInt32BE(at + MODE_AT),
      oid: bytes.toString('hex', at + STAT_LENGTH, at + STAT_LENGTH + oidLength),
      stage,
      flags,
    });
  });
  return { entries, split };
}

/** Without a string or an object for each entry, of which there may be very many. @throws as parseIndex. */
export function summarizeIndex(bytes: Buffer, oidLength: number): IndexSummary {
  const hash = createHash('sha1');
  const gathered = Buffer.alloc(GATHERED);
  let length = 0;
  const flush = () => {
    hash.update(gathered.subarray(0, length));
    length = 0;
  };
  const put = (from: Buffer, start: number, end: number) => {
    if (length + end - start > GATHERED) flush();
    if (end - start > GATHERED) hash.update(from.subarray(start, end));
    else for (let at = start; at < end; at++) gathered[length++] = from[at] as number;
  };
  let conflicted = false;
  const numbers = Buffer.alloc(4);
  const split = walkEntries(bytes, oidLength, ({ at, stage, flags, path, from, to }) => {
    conflicted ||= stage > 0;
    numbers[0] = stage;
    numbers[1] = flags >> 8;
    numbers[2] = flags & 0xff;
    put(bytes, at + MODE_AT, at + MODE_AT + 4);
    put(bytes, at + STAT_LENGTH, at + STAT_LENGTH + oidLength);
    put(numbers, 0, 3);
    put(path, from, to);
    put(NUL, 0, 1);
  });
  flush();
  return { digest: hash.digest('hex'), conflicted, split };
}

/** To hash at once. */
const GATHERED = 65_536;
const NUL = Buffer.alloc(1);

/** An entry where it stands; good until the next one. Its path is from `from` to `to` in `path`. */
interface Place {
  at: number;
  stage: number;
  flags: number;
  path: Buffer;
  from: number;
  to: number;
}

/** Whether it is a split index. @throws RangeError or SyntaxError for what is no index. */
function walkEntries(bytes: Buffer, oidLength: number, visit: (place: Place) => void): boolean {
  if (bytes.length === 0) return false;
  if (bytes.toString('latin1', 0, 4) !== 'DIRC') throw new SyntaxError('not an index');
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) throw new SyntaxError(`index version ${version} is not known`);
  const count = bytes.readUInt32BE(8);
  const paths = new SharedPrefix();
  const place: Place = { at: 0, stage: 0, flags: 0, path: bytes, from: 0, to: 0 };
  let at = 12;
  for (let i = 0; i < count; i++) {
    place.at = at;
    at += STAT_LENGTH + oidLength;
    const word = bytes.readUInt16BE(at);
    at += 2;
    let extended = 0;
    if (word & EXTENDED) {
      extended = bytes.readUInt16BE(at);
      at += 2;
    }
    place.stage = (word >> 12) & 3;
    place.flags = (word & ASSUME_VALID) | extended;
    if (version === 4) {
      const [strip, next] = readOffset(bytes, at);
      const end = bytes.indexOf(0, next);
      paths.replaceEnd(strip, bytes, next, end);
      place.path = paths.bytes;
      place.to = paths.length;
      at = end + 1;
    } else {
      const length = word & NAME_MASK;
      place.from = at;
      place.to = length < NAME_MASK ? at + length : bytes.indexOf(0, at);
      at = place.at + ((place.to - place.at + 8) & ~7);
    }
    visit(place);
  }
  return hasExtension(bytes, at, oidLength, 'link');
}

/** In version 4 a path begins as the one before it, but for so many bytes at its end. */
class SharedPrefix {
  bytes = Buffer.alloc(4096);
  length = 0;

  replaceEnd(strip: number, from: Buffer, start: number, end: number): void {
    const kept = Math.max(0, this.length - strip);
    this.length = kept + end - start;
    if (this.length > this.bytes.length) this.bytes = Buffer.concat([this.bytes, Buffer.alloc(this.length)]);
    from.copy(this.bytes, kept, start, end);
  }
}

/** The variable-width number that version 4 shares with pack offsets. */
function readOffset(bytes: Buffer, start: number): [value: number, next: number] {
  let at = start;
  let byte = bytes.readUInt8(at++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = bytes.readUInt8(at++);
    value = ((value + 1) << 7) | (byte & 0x7f);
  }
  return [value, at];
}

function hasExtension(bytes: Buffer, start: number, oidLength: number, wanted: string): boolean {
  for (let at = start; at + 8 <= bytes.length - oidLength; at += 8 + bytes.readUInt32BE(at + 4)) {
    if (bytes.toString('latin1', at, at + 4) === wanted) return true;
  }
  return false;
}
