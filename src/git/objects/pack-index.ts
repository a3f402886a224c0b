/**
 * What a pack holds, from its index (version 2) and, for a pack of unreachable objects, from its file of times:
 * gitformat-pack(5). Looked up by binary name.
 */
import { readFileSync } from 'node:fs';
import { errorCode } from '../../errors.ts';

const HEADER = 8;
const FANOUT = 256 * 4;
const NAMES = HEADER + FANOUT;

export class PackIndex {
  readonly count: number;
  private readonly index: Buffer;
  private readonly nameLength: number;
  /** Unix seconds by row; undefined for an ordinary pack. */
  private readonly times: Buffer | undefined;

  private constructor(index: Buffer, times: Buffer | undefined, nameLength: number) {
    this.index = index;
    this.times = times;
    this.nameLength = nameLength;
    this.count = index.readUInt32BE(HEADER + 255 * 4);
  }

  /** `path` ends in `.idx`. Undefined where the pack has gone meanwhile. @throws Error for another format. */
  static read(path: string, nameLength: number): PackIndex | undefined {
    const index = readIfThere(path);
    if (index === undefined) return undefined;
    if (index.readUInt32BE(0) !== 0xff744f63 || index.readUInt32BE(4) !== 2)
      throw new Error(`${path} is no pack index of version 2`);
    return new PackIndex(index, readIfThere(path.replace(/idx$/, 'mtimes')), nameLength);
  }

  /** True for a pack of unreachable objects, each with its own time. */
  get isCruft(): boolean {
    return this.times !== undefined;
  }

  /** Row of an object, or -1. */
  find(name: Buffer): number {
    const first = name[0] as number;
    let low = first === 0 ? 0 : this.index.readUInt32BE(HEADER + (first - 1) * 4);
    let high = this.index.readUInt32BE(HEADER + first * 4) - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const at = NAMES + middle * this.nameLength;
      const order = name.compare(this.index, at, at + this.nameLength);
      if (order === 0) return middle;
      if (order < 0) high = middle - 1;
      else low = middle + 1;
    }
    return -1;
  }

  timeOf(row: number): number | undefined {
    return this.times?.readUInt32BE(12 + row * 4);
  }

  /** Bytes in the pack by row; `packSize` is the size of the pack file. */
  sizes(packSize: number): Float64Array {
    const offsets = Float64Array.from({ length: this.count }, (_, row) => this.offset(row));
    const order = Array.from(offsets.keys()).sort((a, b) => (offsets[a] as number) - (offsets[b] as number));
    const sizes = new Float64Array(this.count);
    for (const [i, row] of order.entries()) {
      const next = order[i + 1];
      const end = next === undefined ? packSize - this.nameLength : (offsets[next] as number);
      sizes[row] = end - (offsets[row] as number);
    }
    return sizes;
  }

  private offset(row: number): number {
    const small = NAMES + this.count * (this.nameLength + 4);
    const value = this.index.readUInt32BE(small + row * 4);
    if (value < 0x80000000) return value;
    const large = small + this.count * 4 + (value - 0x80000000) * 8;
    return Number(this.index.readBigUInt64BE(large));
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
