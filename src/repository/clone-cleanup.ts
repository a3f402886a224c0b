/** A clone that fails or is interrupted leaves nothing behind. */

import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Call it before anything is made. Returns a function that removes the targets and the parents that did not exist, and
 * recreates targets that were empty directories.
 */
export function prepareRemoval(targets: readonly string[], parent: string): () => void {
  const existing = targets.filter((target) => existsSync(target));
  const newParents: string[] = [];
  for (let dir = resolve(parent); !existsSync(dir); dir = dirname(dir)) newParents.push(dir);
  return () => {
    for (const target of targets) rmSync(target, { recursive: true, force: true });
    for (const target of existing) mkdirSync(target);
    for (const dir of newParents) {
      try {
        rmdirSync(dir);
      } catch {
        return; // not empty, or never made
      }
    }
  };
}
