/**
 * Whether an open file lies where its path says. Links are not followed at the end of a path, but a directory on the way
 * may be replaced by a link while it is walked; what then is read lies outside of the session folder, and may be
 * something that the agent itself cannot read. Where the system does not tell (no /proc), nothing is checked.
 */
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { systemPath } from './system-path.ts';

export type PlaceCheck = (fd: number, path: string) => boolean;

/** For files in `folder`, whose paths begin with it; all hold one byte per character. */
export function placeCheck(folder: string): PlaceCheck {
  const fd = openSync(systemPath(folder), constants.O_RDONLY);
  try {
    const real = placeOf(fd);
    if (real === undefined) return () => true;
    return (opened, path) => placeOf(opened) === real + path.slice(folder.length);
  } finally {
    closeSync(fd);
  }
}

/** Undefined where that cannot be told, or is in no place that a path leads to. */
function placeOf(fd: number): string | undefined {
  try {
    const place = readlinkSync(`/proc/self/fd/${fd}`, 'latin1');
    return place.startsWith('/') ? place : undefined;
  } catch {
    return undefined;
  }
}
