/** Compares the files of two stat caches of the same folder, the later of which came from the earlier one. */
import { type CachedFiles, WIDTH } from './cached-files.ts';

/**
 * For each row of `a` the row of the same path in `b`, or -1. Most files have kept their order, so the row after the last
 * one found is tried first, without making a string of it.
 */
export function pairRows(a: CachedFiles, b: CachedFiles): Int32Array {
  const numbers = new Map(b.columns.directories.map((path, number) => [path, number]));
  const directoryInB = a.columns.directories.map((path) => numbers.get(path) ?? -1);
  const pairs = new Int32Array(a.length).fill(-1);
  let next = 0;
  for (let row = 0; row < a.length; row++) {
    const directory = directoryInB[a.columns.directoryOf[row] as number] as number;
    if (directory < 0) continue;
    const isNext =
      next < b.length && b.columns.directoryOf[next] === directory && hasSameName(a, row, b, next);
    const found = isNext ? next : b.find(a.path(row));
    pairs[row] = found;
    if (found >= 0) next = found + 1;
  }
  return pairs;
}

function hasSameName(a: CachedFiles, row: number, b: CachedFiles, other: number): boolean {
  const [one, two] = [a.columns, b.columns];
  const [start, end] = [one.nameEnds[row - 1] ?? 0, one.nameEnds[row] as number];
  const [otherStart, otherEnd] = [two.nameEnds[other - 1] ?? 0, two.nameEnds[other] as number];
  if (end - start !== otherEnd - otherStart) return false;
  for (let i = 0; i < end - start; i++) if (one.names[start + i] !== two.names[otherStart + i]) return false;
  return true;
}

/** Whether a file has the same stat data and content in both; without stat data it has not. */
export function isSameFile(a: CachedFiles, row: number, b: CachedFiles, other: number): boolean {
  for (let i = 0; i < WIDTH; i++)
    if (a.columns.data[row * WIDTH + i] !== b.columns.data[other * WIDTH + i]) return false;
  return a.hasSameContent(row, b, other);
}
