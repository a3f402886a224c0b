/**
 * Reads git's index in process (versions 2, 3 and 4; gitformat-index(5)): the entries with the flags that carry
 * meaning. Stat data are given as they stand. The split index (extension `link`) keeps most entries in another file;
 * it is reported, and the caller asks git for a whole one.
 */

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

const ASSUME_VALID = 0x8000;
const EXTENDED = 0x4000;
const NAME_MASK = 0x0fff;
/** Bytes of an entry before its object name. */
const STAT_LENGTH = 40;

/** @throws RangeError or SyntaxError for what is no index. */
export function parseIndex(bytes: Buffer, oidLength: number): IndexContent {
  if (bytes.length === 0) return { entries: [], split: false };
  if (bytes.toString('latin1', 0, 4) !== 'DIRC') throw new SyntaxError('not an index');
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) throw new SyntaxError(`index version ${version} is not known`);
  const count = bytes.readUInt32BE(8);
  const entries: IndexEntry[] = [];
  let at = 12;
  let previous = '';
  for (let i = 0; i < count; i++) {
    const start = at;
    const mode = bytes.readUInt32BE(at + 24);
    at += STAT_LENGTH;
    const oid = bytes.toString('hex', at, at + oidLength);
    at += oidLength;
    const word = bytes.readUInt16BE(at);
    at += 2;
    let extended = 0;
    if (word & EXTENDED) {
      extended = bytes.readUInt16BE(at);
      at += 2;
    }
    let path: string;
    if (version === 4) {
      const [strip, next] = readOffset(bytes, at);
      const end = bytes.indexOf(0, next);
      path = previous.slice(0, previous.length - strip) + bytes.toString('latin1', next, end);
      at = end + 1;
    } else {
      const length = word & NAME_MASK;
      const end = length < NAME_MASK ? at + length : bytes.indexOf(0, at);
      path = bytes.toString('latin1', at, end);
      at = start + ((end - start + 8) & ~7);
    }
    previous = path;
    entries.push({
      at: start,
      path,
      mode,
      oid,
      stage: (word >> 12) & 3,
      flags: (word & ASSUME_VALID) | extended,
    });
  }
  return { entries, split: hasExtension(bytes, at, oidLength, 'link') };
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
