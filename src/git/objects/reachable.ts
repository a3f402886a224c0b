/** Lists the objects that are reachable from refs or commits, and measures them on disk. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { statOrUndefined } from '../../disk/read-file.ts';
import { unlessMissing } from '../../errors.ts';
import { asLines, type Git, gitBytes } from '../run/git.ts';
import { type LooseObject, listLooseObjects, listPacks, type Pack } from './object-store.ts';

/** In a partial clone git neither lists nor fetches objects that a promisor has. Elsewhere that option has no effect. */
const LIST_OBJECTS = ['rev-list', '--objects', '--no-object-names', '--exclude-promisor-objects'];

/**
 * Objects that are reachable from `roots` (names of objects or refs, also of trees) and not from `others`. git
 * compares with the trees and files of `others` only where the two histories meet. The list may therefore hold a file
 * that only an old commit of `others` has, too. Names that another process has just deleted do not count.
 */
export async function reachableObjects(
  git: Git,
  roots: readonly string[],
  others: readonly string[] = [],
): Promise<string[]> {
  if (roots.length === 0) return [];
  const input = asLines([...roots, ...others.map((name) => `^${name}`)]);
  const listed = await gitBytes(git, [...LIST_OBJECTS, '--ignore-missing', '--stdin'], { input });
  return splitLines(listed);
}

/** Bytes that each object takes on disk: compressed, and as a delta if git stores it so. */
export async function sizesOnDisk(git: Git, oids: readonly string[]): Promise<number[]> {
  if (oids.length === 0) return [];
  const words = ['cat-file', '--batch-check=%(objectsize:disk)', '--buffer'];
  const answers = await gitBytes(git, words, { input: asLines(oids) });
  return splitLines(answers).map((answer) => Number(answer) || 0);
}

function splitLines(output: Buffer): string[] {
  const text = output.toString('latin1');
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** The roots from which `git prune` keeps objects: refs, reflogs, indexes and the HEADs of all worktrees. */
const EVERYTHING = ['--all', '--reflog', '--indexed-objects'];

/** Calls `visit` with the binary name of every object that git would keep. It does not hold the list in memory. */
async function visitReachable(git: Git, visit: (name: Buffer) => void): Promise<void> {
  let incomplete = '';
  const onOutput = (chunk: Buffer) => {
    const lines = (incomplete + chunk.toString('latin1')).split('\n');
    incomplete = lines.pop() ?? '';
    for (const line of lines) visit(Buffer.from(line, 'hex'));
  };
  await gitBytes(git, [...LIST_OBJECTS, ...EVERYTHING], { onOutput });
}

/** The space that `git gc` could free: the bytes of objects that nothing refers to, in each pack and in loose objects. */
export interface MeasuredPack extends Pack {
  /** Bytes of unreachable objects that are old enough to be deleted; 0 for a special pack. */
  readonly expired: number;
  /** Bytes of those that are too young to be deleted. */
  readonly young: number;
}

/** `before`, in Unix seconds: unreachable objects that were written earlier may be deleted. */
export async function measureUnreachable(git: Git, objectsDir: string, before: number) {
  const loose = new Map(listLooseObjects(objectsDir).map((object) => [object.oid, object]));
  const packs = listPacks(objectsDir).flatMap((pack) => openPack(objectsDir, pack));
  packs.sort((a, b) => b.index.count - a.index.count);
  await visitReachable(git, (name) => {
    loose.delete(name.toString('hex'));
    for (const { index, reachable } of packs) {
      const row = index.find(name);
      if (row < 0) continue;
      reachable[row] = 1;
      return; // a second copy in another pack is as good as unreachable
    }
  });
  return {
    packs: packs.map((pack): MeasuredPack => measurePack(pack, before)),
    loose: sumLoose([...loose.values()], before),
  };
}

/** The unreachable loose objects that are old enough to be deleted, and bytes of those that are too young. */
function sumLoose(objects: readonly LooseObject[], before: number) {
  const sums = { count: 0, bytes: 0, young: 0 };
  for (const { time, bytes } of objects) {
    if (time >= before) sums.young += bytes;
    else {
      sums.count++;
      sums.bytes += bytes;
    }
  }
  return sums;
}

/** `reachable`: 1 for each row of the index whose object is. `time`: Unix seconds. */
function openPack(objectsDir: string, pack: Pack) {
  const path = join(objectsDir, 'pack', pack.name);
  const oidLength = (pack.name.length - 'pack-.pack'.length) / 2;
  const index = readIndex(path.replace(/pack$/, 'idx'), oidLength);
  const stat = statOrUndefined(path);
  if (index === undefined || stat === undefined) return [];
  return [{ pack, index, reachable: new Uint8Array(index.count), time: stat.mtimeMs / 1000 }];
}

function measurePack({ pack, index, reachable, time }: ReturnType<typeof openPack>[number], before: number) {
  let expired = 0;
  let young = 0;
  if (!pack.special && reachable.includes(0)) {
    for (const [row, bytes] of index.sizes(pack.bytes).entries()) {
      if (reachable[row] === 1) continue;
      if ((index.timeOf(row) ?? time) < before) expired += bytes;
      else young += bytes;
    }
  }
  return { ...pack, expired, young };
}

/** `path` ends in `.idx`. Undefined if git has deleted the pack. @throws Error for another format. */
function readIndex(path: string, oidLength: number): PackIndex | undefined {
  const index = unlessMissing(() => readFileSync(path));
  if (index === undefined) return undefined;
  if (index.readUInt32BE(0) !== MAGIC || index.readUInt32BE(4) !== VERSION)
    throw new Error(`${path} is not a pack index of version ${VERSION}`);
  const times = unlessMissing(() => readFileSync(path.replace(/idx$/, 'mtimes')));
  return new PackIndex(index, times, oidLength);
}

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

/** A pack by its index (version 2) and, of a cruft pack, its times: gitformat-pack(5). Names are binary. */
class PackIndex {
  readonly count: number;
  private readonly index: Buffer;
  private readonly oidLength: number;
  /** The file of times; undefined for a pack that is not a cruft pack. */
  private readonly times: Buffer | undefined;

  constructor(index: Buffer, times: Buffer | undefined, oidLength: number) {
    this.index = index;
    this.times = times;
    this.oidLength = oidLength;
    this.count = this.fanout(255);
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
