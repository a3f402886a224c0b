/**
 * A capture leaves a handful of loose objects or a pack. Before there are so many that git grows slow for everybody, or
 * starts its own full gc in the middle of the user's work, a capture joins them; a bounded part, a second or two.
 */

import { join } from 'node:path';
import { withLock } from '../../disk/lock.ts';
import { AgtError, EXIT } from '../../errors.ts';
import { estimateLooseObjects, listPacks } from '../../git/objects/object-store.ts';
import { gitAnswer } from '../../git/run/git.ts';
import { packLockFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { isPartialClone, joinPacks } from './reclaim.ts';

/** Well below git's own gc.auto (6,700) and gc.autoPackLimit (50). */
const MANY = { loose: 2_048, packs: 40 };
const AT_ONCE = 128 * 1024 * 1024;

/** Does nothing where gc.auto is 0, where another agt is at it, or where it fails: the next one or `agt gc` will. */
export async function tidyObjects(repository: Repository): Promise<void> {
  const { git, commonDir } = repository;
  const objectsDir = join(commonDir, 'objects');
  const isTidy = estimateLooseObjects(objectsDir) < MANY.loose && listPacks(objectsDir).length < MANY.packs;
  if (isTidy) return;
  if ((await gitAnswer(git, ['config', '--type=int', '--get', 'gc.auto'])) === '0') return;
  if (await isPartialClone(git)) return;
  try {
    await withLock(packLockFile(repository.agtDir), 'the object store', () =>
      joinPacks(git, objectsDir, AT_ONCE),
    );
  } catch (error) {
    if (!(error instanceof AgtError) || ![EXIT.busy, EXIT.git].includes(error.exitCode as never)) throw error;
  }
}
