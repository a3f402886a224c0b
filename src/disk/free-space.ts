/**
 * Whether what is to be written fits on the disk: a capture that fills it would hurt everyone else on it. Some space is
 * always kept free.
 */
import { statfsSync } from 'node:fs';
import { AgtError } from '../errors.ts';

const MIB = 1024 * 1024;

/** @throws AgtError where `bytes` more at `place` would use what is kept free. */
export function requireSpace(place: string, bytes: number): void {
  const { bavail, blocks, bsize } = statfsSync(place);
  if (blocks === 0) return; // a file system that does not say
  const free = bavail * bsize;
  const reserve = reserveOf(blocks * bsize);
  if (free - bytes >= reserve) return;
  throw new AgtError(
    `not enough space in ${place}: ${inMib(bytes)} to write, ${inMib(free)} free, of which ${inMib(reserve)} are kept free`,
    {
      hints: [
        'nothing was captured; the last state stands',
        'free some space, or leave files out (.agtignore in the session folder, agt.maxFileSize)',
      ],
    },
  );
}

/** Of a disk of so many bytes: a twentieth, and no more than 64 MiB. */
export function reserveOf(total: number): number {
  return Math.min(64 * MIB, total / 20);
}

function inMib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
