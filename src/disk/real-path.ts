/** Paths without links, and whether two paths lead to one directory. */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt } from '../errors.ts';

/** The path as it is where the system cannot tell: nothing is there, or a directory on the way may not be read. */
export function realPath(path: string): string {
  return attempt(() => realpathSync(path)) ?? path;
}

/** Resolves only the directory that the entry is in: a dead mount itself cannot be looked at. */
export function realEntry(path: string): string {
  return attempt(() => join(realpathSync(dirname(path)), basename(path))) ?? path;
}

/** Two paths can lead to one directory by links, or because one is mounted at the other. */
export function isSameDirectory(one: string, other: string): boolean {
  if (one === other || realPath(one) === realPath(other)) return true;
  const [a, b] = [one, other].map((path) => attempt(() => statSync(path)));
  return a?.isDirectory() === true && a.dev === b?.dev && a.ino === b.ino;
}
