/** Rewrites packs with git-repack(1). The caller holds the pack lock (layout.ts). */
import { join } from 'node:path';
import { withLock } from '../../disk/lock.ts';
import { AgtError, EXIT } from '../../errors.ts';
import {
  estimateLooseObjects,
  isPartialClone,
  listPacks,
  type Pack,
  packsWithoutIndex,
} from '../../git/objects/object-store.ts';
import { type Git, gitAnswer, gitText } from '../../git/run/git.ts';
import { packLockFile } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';

/** Options that apply whatever the user has configured. */
const REPACK = [
  ...['-c', 'repack.writeBitmaps=false', '-c', 'repack.packKeptObjects=false'],
  ...['repack', '-d', '-l', '-q'],
];

/** Rewrites the chosen packs without their unreachable objects that are older than `expire`. */
export async function rewritePacks(git: Git, objectsDir: string, chosen: readonly Pack[], expire: string) {
  const cruft = ['--cruft', `--cruft-expiration=${expire}`];
  for (const { path, isPrivate } of packsWithoutIndex(objectsDir))
    await gitText(git, ['index-pack', path], { isPrivate });
  for (const isPrivate of [false, true]) {
    const names = chosen.filter((pack) => pack.isPrivate === isPrivate).map(({ name }) => name);
    if (names.length === 0) continue;
    // Loose objects of the user do not become private ones.
    if (isPrivate) await gitText(git, REPACK);
    const others = listPacks(objectsDir).filter(({ name }) => !names.includes(name));
    const keep = others.map(({ name }) => `--keep-pack=${name}`);
    await gitText(git, [...REPACK, '-a', ...cruft, ...keep], { isPrivate });
  }
}

/**
 * Joins loose objects and small packs, so that each pack has at least twice the objects of the next smaller
 * one. Leaves packs alone that would make git write more than `limit` bytes. Private packs stay apart: everybody may
 * read the others as before. Safe beside other writers: git deletes only packs whose objects it has just
 * written. Not for a partial clone, where old gits mix promised objects with others.
 */
export async function joinPacks(git: Git, objectsDir: string, limit: number): Promise<void> {
  let written = 0;
  for (const isPrivate of [false, true]) {
    const keep: string[] = [];
    const packs = listPacks(objectsDir).sort((a, b) => a.bytes - b.bytes);
    for (const pack of packs) {
      const isLeft = pack.special || pack.isPrivate !== isPrivate || written + pack.bytes > limit;
      if (isLeft) keep.push(`--keep-pack=${pack.name}`);
      else written += pack.bytes;
    }
    if (!isPrivate || keep.length < packs.length)
      await gitText(git, [...REPACK, '--geometric=2', ...keep], { isPrivate });
  }
}

/** Well below git's own gc.auto (6,700 loose objects) and gc.autoPackLimit (50 packs). */
const MANY_LOOSE_OBJECTS = 2_048;
const MANY_PACKS = 40;
/** git writes this much in a second or two. */
const MOST_WRITTEN_BYTES = 128 * 1024 * 1024;

/** Does nothing if gc.auto is 0. If another agt repacks or git fails, a later call does the work. */
export async function autoRepack(repository: Repository): Promise<void> {
  const { git, commonDir } = repository;
  const objectsDir = join(commonDir, 'objects');
  const hasMany =
    estimateLooseObjects(objectsDir) >= MANY_LOOSE_OBJECTS || listPacks(objectsDir).length >= MANY_PACKS;
  if (!hasMany) return;
  if ((await gitAnswer(git, ['config', '--type=int', '--get', 'gc.auto'])) === '0') return;
  if (isPartialClone(repository)) return;
  try {
    await withLock(packLockFile(repository.agtDir), 'the object store', () =>
      joinPacks(git, objectsDir, MOST_WRITTEN_BYTES),
    );
  } catch (error) {
    const isExpected =
      error instanceof AgtError && (error.exitCode === EXIT.busy || error.exitCode === EXIT.git);
    if (!isExpected) throw error;
  }
}
