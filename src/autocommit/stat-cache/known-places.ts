/**
 * What a whole scan found beside the files that it captured: the directories, and whatever else lies in them. A
 * directory whose times, inode and mode are the same has the same entries, so that the next scan need not list it.
 */
import { type Stats, statfsSync } from 'node:fs';
import type { StatData } from './scan-table.ts';

/** Of each directory; `empty` is 0 or 1. */
const WIDTH = 5;

export interface KnownPlaces {
  readonly paths: readonly string[];
  readonly data: Float64Array;
  /** What is neither a captured file nor a directory: sockets, files that are too large, what is ignored. */
  readonly others: readonly string[];
  /** Captured files that stand in the tree under another name. */
  readonly encoded: readonly string[];
  /** `.agtignore` as it was. */
  readonly ignore: string;
}

export function placeMode({ data }: KnownPlaces, place: number): number {
  return data[place * WIDTH + 3] as number;
}

export function isEmptyPlace({ data }: KnownPlaces, place: number): boolean {
  return data[place * WIDTH + 4] === 1;
}

/** Whether nothing is known of it that would tell: such a directory is listed every time. */
export function isUntold({ data }: KnownPlaces, place: number): boolean {
  return Number.isNaN(data[place * WIDTH]);
}

/** Whether a directory is the one that it was, and changed before `clock` for the last time. */
export function isSamePlace(
  data: Float64Array,
  place: number,
  { mtimeMs, ctimeMs, ino, mode }: StatData,
  clock: number,
): boolean {
  const at = place * WIDTH;
  return (
    data[at] === mtimeMs &&
    data[at + 1] === ctimeMs &&
    data[at + 2] === ino &&
    data[at + 3] === mode &&
    mtimeMs < clock &&
    ctimeMs < clock
  );
}

/** Gathers what the next scan may rely on. */
export class PlaceNotes {
  private readonly paths: string[] = [];
  private readonly numbers: number[] = [];
  private readonly device: number | undefined;

  /** `device` is the session folder's; undefined where directories are to be listed every time. */
  constructor(device: number | undefined) {
    this.device = device;
  }

  add(path: string, { mtimeMs, ctimeMs, ino, mode, dev }: Stats, empty: boolean): void {
    const unknown = Number.NaN;
    const times = dev === this.device ? [mtimeMs, ctimeMs, ino] : [unknown, unknown, unknown];
    this.paths.push(path);
    this.numbers.push(...times, mode, empty ? 1 : 0);
  }

  keep(known: KnownPlaces, place: number): void {
    this.paths.push(known.paths[place] as string);
    for (let at = place * WIDTH; at < (place + 1) * WIDTH; at++) this.numbers.push(known.data[at] as number);
  }

  finish(others: readonly string[], encoded: readonly string[], ignore: string): KnownPlaces {
    return { paths: this.paths, data: Float64Array.from(this.numbers), others, encoded, ignore };
  }
}

/**
 * File systems of which it is known that a directory's times change with its entries: ext2 to ext4, XFS, Btrfs, tmpfs,
 * overlayfs, F2FS, ZFS, bcachefs. Of a network's or a user's own it is not, nor of what lies mounted below.
 */
const TRUSTED = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e,
]);

/** Whether directories in `folder`, an absolute path, tell by their times that nothing came or went. */
export function tellsByTimes(folder: string | Buffer): boolean {
  try {
    return process.platform === 'linux' && TRUSTED.has(statfsSync(folder).type >>> 0);
  } catch {
    return false; // then they are listed every time
  }
}
