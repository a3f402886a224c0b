/**
 * Repacks a little after an autocommit. Each autocommit leaves loose objects or a small pack. With many of
 * those git becomes slow, and then git starts its own full gc in the middle of the user's work. Before that,
 * an autocommit joins some of them; this takes a second or two.
 */

import { join } from 'node:path';
import { withLock } from '../../disk/lock.ts';
import { AgtError, EXIT } from '../../errors.ts';
import { estimateLooseObjects, listPacks } from '../../git/objects/object-store.ts';
import { gitAnswer } from '../../git/run/git.ts';
import { packLockFile } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { isPartialClone, joinPacks } from './repack.ts';

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
  if (await isPartialClone(git)) return;
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
