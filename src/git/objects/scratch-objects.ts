/**
 * Objects that are wanted for the time of one command: git reads the repository's and writes into a directory of its own,
 * which goes when the command ends, by a signal too. What a crash leaves is swept away by the next comparison.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ownerIsGone, signOwner } from '../../disk/lock.ts';
import type { Git } from '../run/git.ts';

export interface ScratchObjects {
  /** Writes new objects into `dir`. */
  readonly git: Git;
  /** Absolute; its objects are in `objects/`, as in a repository. */
  readonly dir: string;
}

const OWNER = 'owner';
const SIGNED_WITHIN_MS = 60_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `parent` is a directory for such objects, made where it is missing; absolute, as is `commonDir`. */
export async function withScratchObjects<T>(
  git: Git,
  { commonDir, parent }: { commonDir: string; parent: string },
  action: (scratch: ScratchObjects) => Promise<T>,
): Promise<T> {
  mkdirSync(parent, { recursive: true });
  for (const path of abandonedScratch(parent)) rmSync(path, { recursive: true, force: true });
  let dir: string | undefined;
  const endBy = (signal: NodeJS.Signals) => {
    try {
      if (dir !== undefined) removeForGood(dir);
      removeIfEmpty(parent);
    } finally {
      for (const name of SIGNALS) process.removeAllListeners(name);
      process.kill(process.pid, signal);
    }
  };
  for (const signal of SIGNALS) process.on(signal, endBy);
  try {
    dir = mkdtempSync(join(parent, 'objects-'));
    signOwner(join(dir, OWNER));
    mkdirSync(join(dir, 'objects/info'), { recursive: true });
    mkdirSync(join(dir, 'objects/pack'));
    writeFileSync(join(dir, 'objects/info/alternates'), `${join(commonDir, 'objects')}\n`);
    const env = { ...git.env, GIT_OBJECT_DIRECTORY: join(dir, 'objects') };
    return await action({ git: { ...git, env }, dir });
  } finally {
    for (const signal of SIGNALS) process.off(signal, endBy);
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    removeIfEmpty(parent);
  }
}

/** A git that is at work there makes anew what it misses, until it is gone itself: away is what stays away. */
function removeForGood(directory: string): void {
  for (let round = 0, away = 0; round < MOST_ROUNDS && away < AWAY_ROUNDS; round++) {
    away = existsSync(directory) ? 0 : away + 1;
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // something was put there meanwhile
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ROUND_MS);
  }
}

const ROUND_MS = 10;
const AWAY_ROUNDS = 5;
const MOST_ROUNDS = 200;

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // another command works there
  }
}

/** Directories whose command was killed; absolute. */
export function abandonedScratch(parent: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .map((name) => join(parent, name))
    .filter((path) => (existsSync(join(path, OWNER)) ? ownerIsGone(join(path, OWNER)) : isOld(path)));
}

/** One that was killed before it could sign. */
function isOld(path: string): boolean {
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return since !== undefined && Math.abs(Date.now() - since) > SIGNED_WITHIN_MS;
}
