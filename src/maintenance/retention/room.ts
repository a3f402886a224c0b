/** Room for a cleaning on a full disk: locks and refs are files, too. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AgtError, errorCode } from '../../errors.ts';
import { knownMergesFile, knownRefsFile, statCacheFile } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';

/** Bytes for the locks, refs and metadata that a cleaning writes before it frees anything. */
const NEEDED = 128 * 1024;

/** If the disk is full, agt deletes its caches: they cost time, and no data. @throws AgtError if that is too little */
export function makeRoom({ agtDir }: Repository): void {
  if (hasRoom(agtDir)) return;
  const caches = [dirname(statCacheFile(agtDir, 'any')), dirname(knownRefsFile(agtDir, 'any'))];
  for (const path of [...caches, knownMergesFile(agtDir)]) rmSync(path, { recursive: true, force: true });
  if (hasRoom(agtDir)) return;
  throw new AgtError(`the disk of ${agtDir} is full, and nothing was cleaned up`, {
    hints: [`free ${NEEDED / 1024} KiB on it, for example by moving one file away; then run agt gc again`],
  });
}

function hasRoom(agtDir: string): boolean {
  const probe = join(agtDir, `.agt-${process.pid}.tmp`);
  try {
    mkdirSync(agtDir, { recursive: true });
    writeFileSync(probe, Buffer.alloc(NEEDED));
    return true;
  } catch (error) {
    if (['ENOSPC', 'EDQUOT'].includes(errorCode(error))) return false;
    throw error;
  } finally {
    rmSync(probe, { force: true });
  }
}
