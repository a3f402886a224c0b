/**
 * Parts of a large session folder of about the same size, so that several processes can look at it at once. A directory
 * is in one part with all that is in it, or it is split: then somebody has to look at its own entries.
 */
import { availableParallelism } from 'node:os';
import { parentPath } from '../disk/path-bytes.ts';
import type { CachedDirectories } from './stat-cache/cached-directories.ts';
import type { CachedFiles } from './stat-cache/cached-files.ts';

/** All paths are relative to the session folder. */
export interface FolderParts {
  readonly split: readonly string[];
  readonly parts: readonly (readonly string[])[];
}

/** For fewer files a second process costs more than it saves. */
const FEWEST_FILES = 5_000;
const MOST_PARTS = 4;
/** Directories of more than this share of all files are split. */
const LARGEST_SHARE = 1 / 32;
/** The front reads their names, one byte at a time. */
const MOST_NAMES = 150;
const DEEPEST = 4;

/** A path that sh takes as one word, as it is. */
export const PLAIN = /^[A-Za-z0-9_@%+=:,./~-]+$/;

/** Undefined for a small folder, and if it cannot be split. */
export function folderParts(files: CachedFiles, directories: CachedDirectories): FolderParts | undefined {
  const count = Math.min(availableParallelism(), MOST_PARTS);
  if (files.length < FEWEST_FILES || count < 2) return undefined;
  const weights = weigh(files, directories);
  const children = Map.groupBy(weights.keys(), parentPath);
  const split: string[] = [];
  const whole: string[] = [];
  const waiting = ['config', 'sandbox', 'xdg'].filter((top) => weights.has(top));
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const inside = children.get(path) ?? [];
    const isLarge = (weights.get(path) ?? 0) > files.length * LARGEST_SHARE;
    const names = split.length + whole.length + waiting.length + inside.length;
    const maySplit = inside.length > 0 && inside.every((child) => PLAIN.test(child)) && names < MOST_NAMES;
    if (isLarge && maySplit) {
      split.push(path);
      waiting.push(...inside);
    } else whole.push(path);
  }
  if (whole.length < 2) return undefined;
  return { split, parts: distribute(whole, weights, count) };
}

/** The number of entries in each directory that is not deep, with all that is below it. */
function weigh(files: CachedFiles, directories: CachedDirectories): Map<string, number> {
  const weights = new Map<string, number>();
  const add = (path: string, weight: number) => {
    const parts = path.split('/', DEEPEST);
    for (let depth = 1; depth <= parts.length; depth++) {
      const above = parts.slice(0, depth).join('/');
      weights.set(above, (weights.get(above) ?? 0) + weight);
    }
  };
  for (const path of directories.paths) add(path, 1);
  const counts = new Uint32Array(files.columns.directories.length);
  for (const number of files.columns.directoryOf) counts[number] = (counts[number] ?? 0) + 1;
  for (const [number, path] of files.columns.directories.entries())
    if (path !== '') add(path, counts[number] ?? 0);
  return weights;
}

/** The largest first, each to the part that has least. */
function distribute(
  paths: readonly string[],
  weights: ReadonlyMap<string, number>,
  count: number,
): string[][] {
  const parts = Array.from({ length: count }, () => ({ paths: [] as string[], weight: 0 }));
  const weight = (path: string) => weights.get(path) ?? 0;
  for (const path of [...paths].sort((a, b) => weight(b) - weight(a))) {
    const smallest = parts.reduce((least, part) => (part.weight < least.weight ? part : least));
    smallest.paths.push(path);
    smallest.weight += weight(path);
  }
  return parts.map((part) => part.paths).filter((names) => names.length > 0);
}
