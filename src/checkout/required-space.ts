/** Checks that a plan fits on the disk before its first step: half a restore on a full disk could not even be repeated. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { requireSpace } from '../disk/free-space.ts';
import { OpenDirectories } from '../disk/open-directories.ts';
import { type Git, gitText } from '../git/run/git.ts';
import type { CheckoutPlan } from './plan.ts';

/** What `st_blocks` counts, in bytes. */
const BLOCK = 512;

/** `folder` is absolute. @throws AgtError if the plan does not fit. */
export async function requireSpaceFor(git: Git, plan: CheckoutPlan, folder: string): Promise<void> {
  if (plan.writes.length === 0) return;
  const path = existingDirectory(folder);
  const sizes = await readSizes(git, plan);
  const written = sizes.reduce((sum, size) => sum + size, 0);
  try {
    requireSpace(path, written, HINTS);
  } catch {
    // A file is written before the one that it replaces is gone.
    const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
    requireSpace(path, Math.max(0, written + largest - freedBytes(plan, folder)), HINTS);
  }
}

/** The folder, or the nearest directory above that exists. */
function existingDirectory(folder: string): string {
  return existsSync(folder) ? folder : existingDirectory(dirname(folder));
}

const HINTS = ['agt restored nothing', 'free some space, then run this again'];

async function readSizes(git: Git, { writes }: CheckoutPlan): Promise<number[]> {
  const input = writes.map(({ oid }) => `${oid}\n`).join('');
  const sizes = await gitText(git, ['cat-file', '--buffer', '--batch-check=%(objectsize)'], { input });
  return sizes.split('\n').map((size) => Number(size) || 0);
}

/** The bytes on disk of all files that the plan deletes or replaces. */
function freedBytes({ deletions, writes }: CheckoutPlan, folder: string): number {
  const disk = new OpenDirectories(Buffer.from(folder).toString('latin1'));
  try {
    return [...deletions, ...writes.map(({ path }) => path)].reduce((sum, path) => {
      const stat = disk.lstat(path);
      return stat?.nlink === 1 ? sum + stat.blocks * BLOCK : sum;
    }, 0);
  } finally {
    disk.close();
  }
}
