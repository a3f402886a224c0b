/** Measures the objects that nothing refers to: how many bytes `git gc` could free, in each pack and in loose objects. */
import { join } from 'node:path';
import type { Git } from '../run/git.ts';
import { type LooseObject, listLooseObjects, listPacks, type Pack, statIfThere } from './object-store.ts';
import { PackIndex } from './pack-index.ts';
import { visitReachable } from './reachable.ts';

export interface MeasuredPack extends Pack {
  /** Bytes of unreachable objects that are old enough to be deleted; 0 for a special pack. */
  readonly expired: number;
}

export interface UnreachableObjects {
  readonly packs: readonly MeasuredPack[];
  /** Unreachable loose objects that are old enough to be deleted. */
  readonly loose: { readonly count: number; readonly bytes: number };
  /** Bytes of unreachable objects that are too young to be deleted. */
  readonly young: number;
}

/** `before`, in Unix seconds: unreachable objects that were written earlier may be deleted. */
export async function measureUnreachable(
  git: Git,
  objectsDir: string,
  before: number,
): Promise<UnreachableObjects> {
  const loose = new Map(listLooseObjects(objectsDir).map((object) => [object.oid, object]));
  const packs = listPacks(objectsDir).flatMap((pack) => openPack(objectsDir, pack));
  packs.sort((a, b) => b.index.count - a.index.count);
  await visitReachable(git, (name) => {
    loose.delete(name.toString('hex'));
    for (const { index, reachable } of packs) {
      const row = index.find(name);
      if (row < 0) continue;
      reachable[row] = 1;
      return; // a second copy in another pack is as good as unreachable
    }
  });
  const looseSums = sumLoose([...loose.values()], before);
  const measured = packs.map((pack) => measurePack(pack, before));
  return {
    packs: measured.map(({ pack, expired }) => ({ ...pack, expired })),
    loose: looseSums.old,
    young: measured.reduce((sum, { young }) => sum + young, looseSums.young),
  };
}

function sumLoose(objects: readonly LooseObject[], before: number) {
  const old = { count: 0, bytes: 0 };
  let young = 0;
  for (const { time, bytes } of objects) {
    if (time >= before) young += bytes;
    else {
      old.count++;
      old.bytes += bytes;
    }
  }
  return { old, young };
}

interface OpenPack {
  readonly pack: Pack;
  readonly index: PackIndex;
  /** 1 for each row of the index whose object is reachable. */
  readonly reachable: Uint8Array;
  /** Unix seconds. */
  readonly time: number;
}

function openPack(objectsDir: string, pack: Pack): OpenPack[] {
  const path = join(objectsDir, 'pack', pack.name);
  const oidLength = (pack.name.length - 'pack-.pack'.length) / 2;
  const index = PackIndex.read(path.replace(/pack$/, 'idx'), oidLength);
  const stat = statIfThere(path);
  if (index === undefined || stat === undefined) return [];
  return [{ pack, index, reachable: new Uint8Array(index.count), time: stat.mtimeMs / 1000 }];
}

function measurePack({ pack, index, reachable, time }: OpenPack, before: number) {
  let expired = 0;
  let young = 0;
  if (!pack.special && reachable.includes(0)) {
    for (const [row, bytes] of index.sizes(pack.bytes).entries()) {
      if (reachable[row] === 1) continue;
      if ((index.timeOf(row) ?? time) < before) expired += bytes;
      else young += bytes;
    }
  }
  return { pack, expired, young };
}
