/**
 * Objects that are wanted for the time of one command: git reads the repository's and writes into a directory of its own,
 * which goes when the command ends, by a signal too. What a crash leaves is swept away by a later command.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './git.ts';

export interface Scratch {
  /** Writes new objects into `dir`. */
  readonly git: Git;
  /** Absolute; its objects are in `objects/`, as in a repository. */
  readonly dir: string;
}

const LEFT_OVER_MS = 24 * 3_600_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `stateDir` is agt's own in `commonDir`; both absolute. */
export async function withScratch<T>(
  git: Git,
  { commonDir, stateDir }: { commonDir: string; stateDir: string },
  action: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  const parent = join(stateDir, 'scratch');
  mkdirSync(parent, { recursive: true });
  sweep(parent);
  const dir = mkdtempSync(join(parent, 'objects-'));
  const remove = () => {
    rmSync(dir, { recursive: true, force: true });
    removeIfEmpty(parent);
  };
  const endBy = (signal: NodeJS.Signals) => {
    remove();
    for (const name of SIGNALS) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, endBy);
  try {
    mkdirSync(join(dir, 'objects/info'), { recursive: true });
    mkdirSync(join(dir, 'objects/pack'));
    writeFileSync(join(dir, 'objects/info/alternates'), `${join(commonDir, 'objects')}\n`);
    const env = { ...git.env, GIT_OBJECT_DIRECTORY: join(dir, 'objects') };
    return await action({ git: { ...git, env }, dir });
  } finally {
    for (const signal of SIGNALS) process.off(signal, endBy);
    remove();
  }
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // another command works there
  }
}

function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > LEFT_OVER_MS)
      rmSync(path, { recursive: true, force: true });
  }
}
