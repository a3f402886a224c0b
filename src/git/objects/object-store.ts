/** Lists the packs of a repository, estimates the number of its loose objects and measures its object store. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { statOrUndefined } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import type { Git } from '../run/git.ts';
import { askGitSync } from '../run/run-sync.ts';

export interface Pack {
  /** File name; ends in `.pack`. */
  readonly name: string;
  readonly bytes: number;
  /** Has a `.keep` file, belongs to a promisor or has a bitmap: git or the user needs this pack as it is. */
  readonly special: boolean;
  /** For its owner alone, as those of snapshots. */
  readonly isPrivate: boolean;
}

/** The packs of the repository itself, without alternates, sorted by name so that two lists can be compared. */
export function listPacks(objectsDir: string): Pack[] {
  return packsIn(objectsDir)
    .filter(({ has }) => has('idx')) // git writes the index last
    .map(({ has, ...pack }) => ({ ...pack, special: ['keep', 'promisor', 'bitmap'].some(has) }));
}

/** A killed git leaves them. `git repack --cruft` fails over one. */
export function packsWithoutIndex(objectsDir: string): { path: string; isPrivate: boolean }[] {
  const packs = packsIn(objectsDir).filter(({ has }) => !has('idx'));
  return packs.map(({ name, isPrivate }) => ({ path: join(objectsDir, 'pack', name), isPrivate }));
}

/** `has`: whether there is a file of the pack with this ending. */
function packsIn(objectsDir: string) {
  const dir = join(objectsDir, 'pack');
  const all = new Set(namesIn(dir));
  const names = [...all].filter((name) => /^pack-[0-9a-f]+\.pack$/.test(name)).sort();
  return names.flatMap((name) => {
    const stat = statOrUndefined(join(dir, name)); // git may have deleted it
    const has = (end: string) => all.has(name.replace(/pack$/, end));
    return stat === undefined ? [] : [{ name, bytes: stat.size, isPrivate: (stat.mode & 0o077) === 0, has }];
  });
}

/** Packs from which a filter may have left objects out. Whether git fetches those, its settings say. */
export function hasPromisorPacks(commonDir: string): boolean {
  return namesIn(join(commonDir, 'objects', 'pack')).some((name) => name.endsWith('.promisor'));
}

/** git fetches an object that is missing from a remote that has promised it. */
export function isPartialClone({
  git,
  commonDir,
}: {
  readonly git: Git;
  readonly commonDir: string;
}): boolean {
  if (!hasPromisorPacks(commonDir)) return false;
  const names = '^(extensions[.]partialclone|remote[.].*[.]promisor)$';
  const found = askGitSync(git, ['config', '--get-regexp', names])?.toString() ?? '';
  return found.split('\n').some((line) => line !== '' && !/ (false|no|off|0)$/i.test(line));
}

/** Loose objects are in 256 directories, about as many in each. */
const LOOSE_DIRECTORIES = 256;

/** The number of loose objects as git-gc(1) estimates it: it counts one directory, `17`. */
export function estimateLooseObjects(objectsDir: string): number {
  return namesIn(join(objectsDir, '17')).length * LOOSE_DIRECTORIES;
}

/** The unit of st_blocks. */
const BLOCK = 512;

/** Bytes that all files take on the disk. A small file takes a whole block. */
export function objectStoreSize(objectsDir: string): number {
  let bytes = 0;
  for (const dir of namesIn(objectsDir)) {
    for (const name of namesIn(join(objectsDir, dir))) {
      const stat = statOrUndefined(join(objectsDir, dir, name));
      if (stat !== undefined) bytes += stat.blocks > 0 ? stat.blocks * BLOCK : stat.size;
    }
  }
  return bytes;
}

export interface LooseObject {
  readonly oid: string;
  /** Unix seconds. */
  readonly time: number;
  readonly bytes: number;
}

export function listLooseObjects(objectsDir: string): LooseObject[] {
  const loose = objectFiles(objectsDir).filter((file) => /^..\/[0-9a-f]{38,62}$/.test(file));
  return loose.flatMap((file) => {
    const stat = statOrUndefined(join(objectsDir, file));
    if (stat === undefined) return [];
    return { oid: file.replace('/', ''), time: stat.mtimeMs / 1000, bytes: stat.size };
  });
}

/** `ab/cdef…` and `pack/…`: also files that a killed git has left there. */
export function objectFiles(objectsDir: string): string[] {
  const directories = namesIn(objectsDir).filter((name) => /^(pack|[0-9a-f]{2})$/.test(name));
  return directories.flatMap((dir) => namesIn(join(objectsDir, dir)).map((name) => `${dir}/${name}`));
}

function namesIn(dir: string): string[] {
  return attempt(() => readdirSync(dir)) ?? []; // git deletes empty directories
}
