/**
 * Whether an open file lies where its path says. Links are not followed at the end of a path, but a directory on the way
 * may be replaced by a link while it is walked; what then is read lies outside of the session folder, and may be
 * something that the agent itself cannot read. Where the system does not tell (no /proc), nothing is checked.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { systemPath } from './long-path.ts';

export type PlaceCheck = (fd: number, path: string) => boolean;

/** For files in `folder`, whose paths begin with it; all hold one byte per character. */
export function placeCheck(folder: string): PlaceCheck {
  const fd = openSync(systemPath(folder), constants.O_RDONLY);
  try {
    const real = placeOf(fd);
    if (real === undefined) return () => true;
    return (opened, path) => {
      const place = real + path.slice(folder.length);
      // What is longer than the system says is looked for, step by step.
      return place.length > LONGEST
        ? liesIn(real, opened, path.slice(folder.length))
        : placeOf(opened) === place;
    };
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

/** PATH_MAX, of which the system takes one for the NUL; a bit less, for what it adds to the name of what is deleted. */
const LONGEST = 4000;

/** Goes there from the session folder, without following a link. */
function liesIn(folder: string, opened: number, path: string): boolean {
  const parts = path.split('/').slice(1);
  const name = parts.pop();
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  let directory = openSync(systemPath(folder), O_RDONLY);
  try {
    for (const part of parts) {
      const next = openSync(within(directory, part), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      closeSync(directory);
      directory = next;
    }
    const [one, other] = [fstatSync(opened), lstatSync(within(directory, name as string))];
    return one.dev === other.dev && one.ino === other.ino;
  } catch {
    return false;
  } finally {
    closeSync(directory);
  }
}

function within(directory: number, name: string): string | Buffer {
  return systemPath(`/proc/self/fd/${directory}/${name}`);
}
