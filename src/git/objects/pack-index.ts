/**
 * Reads what a pack holds from its index (version 2) and, for a cruft pack, from its file of times: gitformat-pack(5).
 * Objects are looked up by binary name.
 */
import { readFileSync } from 'node:fs';
import { errorCode } from '../../errors.ts';

const MAGIC = 0xff744f63;
const VERSION = 2;
const HEADER_LENGTH = 8;
/** After the header: for each first byte of a name, the number of names that begin with it or with a lower byte. */
const FANOUT_LENGTH = 256 * 4;
/** After that: the sorted names, then a checksum for each, then an offset for each. */
const NAMES_OFFSET = HEADER_LENGTH + FANOUT_LENGTH;
/** An offset with this bit is the number of an offset of eight bytes, in a further table. */
const IS_LARGE = 0x80000000;
/** A file of times begins with its signature, version and hash. */
const TIMES_HEADER_LENGTH = 12;

export class PackIndex {
  readonly count: number;
  private readonly index: Buffer;
  private readonly oidLength: number;
  /** The file of times; undefined for a pack that is not a cruft pack. */
  private readonly times: Buffer | undefined;

  private constructor(index: Buffer, times: Buffer | undefined, oidLength: number) {
    this.index = index;
    this.times = times;
    this.oidLength = oidLength;
    this.count = this.fanout(255);
  }

  /** `path` ends in `.idx`. Undefined if git has deleted the pack. @throws Error for another format. */
  static read(path: string, oidLength: number): PackIndex | undefined {
    const index = readIfThere(path);
    if (index === undefined) return undefined;
    if (index.readUInt32BE(0) !== MAGIC || index.readUInt32BE(4) !== VERSION)
      throw new Error(`${path} is not a pack index of version ${VERSION}`);
    return new PackIndex(index, readIfThere(path.replace(/idx$/, 'mtimes')), oidLength);
  }

  private fanout(firstByte: number): number {
    return this.index.readUInt32BE(HEADER_LENGTH + firstByte * 4);
  }

  /** The row of an object, or -1. */
  find(name: Buffer): number {
    const firstByte = name[0] as number;
    let low = firstByte === 0 ? 0 : this.fanout(firstByte - 1);
    let high = this.fanout(firstByte) - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const offset = NAMES_OFFSET + middle * this.oidLength;
      const order = name.compare(this.index, offset, offset + this.oidLength);
      if (order === 0) return middle;
      if (order < 0) high = middle - 1;
      else low = middle + 1;
    }
    return -1;
  }

  /** When an object of a cruft pack was last needed, in Unix seconds; undefined for another pack. */
  timeOf(row: number): number | undefined {
    return this.times?.readUInt32BE(TIMES_HEADER_LENGTH + row * 4);
  }

  /** Bytes that each object takes in the pack, by row. `packSize` is the size of the pack file. */
  sizes(packSize: number): Float64Array {
    const offsets = Float64Array.from({ length: this.count }, (_, row) => this.offsetInPack(row));
    const order = Array.from(offsets.keys()).sort((a, b) => (offsets[a] as number) - (offsets[b] as number));
    const sizes = new Float64Array(this.count);
    for (const [i, row] of order.entries()) {
      const next = order[i + 1];
      const end = next === undefined ? packSize - this.oidLength : (offsets[next] as number);
      sizes[row] = end - (offsets[row] as number);
    }
    return sizes;
  }

  private offsetInPack(row: number): number {
    const offsets = NAMES_OFFSET + this.count * (this.oidLength + 4);
    const value = this.index.readUInt32BE(offsets + row * 4);
    if (value < IS_LARGE) return value;
    const largeOffsets = offsets + this.count * 4;
    return Number(this.index.readBigUInt64BE(largeOffsets + (value - IS_LARGE) * 8));
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
