/**
 * What the object store of a repository holds on disk, and what of it nothing refers to any more: loose objects and
 * packs, with what in them is older than a time and may go.
 */
import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from '../run/git.ts';
import { PackIndex } from './pack-index.ts';
import { visitReachable } from './reachable.ts';

export interface Pack {
  /** File name, ending in `.pack`. */
  readonly name: string;
  readonly bytes: number;
  /** Kept by name, of a promisor, or with a bitmap: git or the user has a use for it as it is. */
  readonly special: boolean;
}

export interface MeasuredPack extends Pack {
  /** Bytes of unreachable objects that are old enough to go; 0 of a special pack. */
  readonly expired: number;
}

export interface UnreachableObjects {
  readonly packs: readonly MeasuredPack[];
  /** Unreachable loose objects old enough to go. */
  readonly loose: { readonly count: number; readonly bytes: number };
  /** Bytes of unreachable objects that are not old enough yet. */
  readonly young: number;
}

/** Of the repository's own store, without alternates; by name, so that two looks compare. */
export function listPacks(objectsDir: string): Pack[] {
  const dir = join(objectsDir, 'pack');
  const names = namesIn(dir);
  const all = new Set(names);
  const packs: Pack[] = [];
  for (const name of names.filter((name) => /^pack-[0-9a-f]+\.pack$/.test(name)).sort()) {
    const stat = statIfThere(join(dir, name));
    if (stat === undefined || !all.has(name.replace(/pack$/, 'idx'))) continue; // not whole yet, or gone
    const special = ['keep', 'promisor', 'bitmap'].some((end) => all.has(name.replace(/pack$/, end)));
    packs.push({ name, bytes: stat.size, special });
  }
  return packs;
}

/** About how many loose objects there are, as git-gc(1) guesses: a 256th of them is counted. */
export function estimateLooseObjects(objectsDir: string): number {
  return namesIn(join(objectsDir, '17')).length * 256;
}

/** Bytes that all files take on the disk: a small file takes a whole block. */
export function objectStoreSize(objectsDir: string): number {
  let bytes = 0;
  for (const dir of namesIn(objectsDir)) {
    for (const name of namesIn(join(objectsDir, dir))) {
      const stat = statIfThere(join(objectsDir, dir, name));
      if (stat !== undefined) bytes += stat.blocks > 0 ? stat.blocks * 512 : stat.size;
    }
  }
  return bytes;
}

/** `before`: Unix seconds; what was written then or later is young. */
export async function measureUnreachable(
  git: Git,
  objectsDir: string,
  before: number,
): Promise<UnreachableObjects> {
  const loose = looseObjects(objectsDir);
  const packs = listPacks(objectsDir).flatMap((pack) => openPack(objectsDir, pack));
  packs.sort((a, b) => b.index.count - a.index.count);
  await visitReachable(git, (name) => {
    loose.delete(name.toString('hex'));
    for (const { index, reachable } of packs) {
      const row = index.find(name);
      if (row < 0) continue;
      reachable[row] = 1;
      return; // a second copy of it is as good as unreachable
    }
  });
  let young = 0;
  const old = { count: 0, bytes: 0 };
  for (const { time, bytes } of loose.values()) {
    if (time < before) Object.assign(old, { count: old.count + 1, bytes: old.bytes + bytes });
    else young += bytes;
  }
  const surveyed = packs.map(({ index, reachable, time, ...pack }) => {
    let expired = 0;
    if (!pack.special && reachable.includes(0)) {
      for (const [row, bytes] of index.sizes(pack.bytes).entries()) {
        if (reachable[row] === 1) continue;
        if ((index.timeOf(row) ?? time) < before) expired += bytes;
        else young += bytes;
      }
    }
    return { name: pack.name, bytes: pack.bytes, special: pack.special, expired };
  });
  return { packs: surveyed, loose: old, young };
}

function openPack(objectsDir: string, pack: Pack) {
  const path = join(objectsDir, 'pack', pack.name);
  const nameLength = (pack.name.length - 'pack-.pack'.length) / 2;
  const index = PackIndex.read(path.replace(/pack$/, 'idx'), nameLength);
  const stat = statIfThere(path);
  if (index === undefined || stat === undefined) return [];
  return [{ ...pack, index, reachable: new Uint8Array(index.count), time: stat.mtimeMs / 1000 }];
}

function looseObjects(objectsDir: string): Map<string, { time: number; bytes: number }> {
  const found = new Map<string, { time: number; bytes: number }>();
  for (const dir of namesIn(objectsDir).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    for (const name of namesIn(join(objectsDir, dir))) {
      const stat = /^[0-9a-f]{38,62}$/.test(name) ? statIfThere(join(objectsDir, dir, name)) : undefined;
      if (stat !== undefined) found.set(dir + name, { time: stat.mtimeMs / 1000, bytes: stat.size });
    }
  }
  return found;
}

function statIfThere(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // gone: git takes empty directories away
  }
}
