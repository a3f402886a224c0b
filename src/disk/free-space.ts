/** Checks the free space before agt writes: filling the disk would hurt every other program on it. */
import { statfsSync } from 'node:fs';
import { AgtError } from '../errors.ts';

const MIB = 1024 * 1024;
/** agt leaves at least this much of a disk free, and never needs more than MOST_RESERVED. */
const RESERVED_SHARE = 1 / 20;
const MOST_RESERVED = 64 * MIB;

const OF_CAPTURE = [
  'nothing was captured; the last snapshot stays as it is',
  'free some space, or leave large files out: agt.maxFileSize, in a session also .agtignore beside sandbox/',
];

/** The bytes that are free beyond `bytes` and the reserve. @throws AgtError if too few would be left */
export function requireSpace(
  path: string | Buffer,
  bytes: number,
  hints: readonly string[] = OF_CAPTURE,
): number {
  const { bavail, blocks, bsize } = statfsSync(path);
  if (blocks === 0) return 0; // the file system does not tell
  const free = bavail * bsize;
  const reserved = reservedSpace(blocks * bsize);
  if (free - bytes >= reserved) return free - bytes - reserved;
  throw new AgtError(
    `not enough space in ${path}: ${inMib(bytes)} to write, ${inMib(free)} free, ${inMib(reserved)} of it reserved`,
    { hints: [...hints] },
  );
}

/** The bytes that agt leaves free on a disk of `total` bytes. */
export function reservedSpace(total: number): number {
  return Math.min(MOST_RESERVED, total * RESERVED_SHARE);
}

function inMib(bytes: number): string {
  return bytes < MIB / 10 ? `${Math.floor(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}
