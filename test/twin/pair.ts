/**
 * Twins: pairs of repositories that differ only in what agt adds. Git mode in the one must print, byte for byte, what
 * real git prints in the other. Their paths have the same length, and both are replaced before comparing.
 */
import { cpSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../harness/world.ts';

export interface Twin {
  readonly name: string;
  /** Holds `with/`, the repository with agt's refs, and `none/`, the one without. */
  readonly root: string;
  /** The directory in which commands run, relative to each side. */
  readonly cwd: string;
}

export const SIDES = ['with', 'none'] as const;
export type Side = (typeof SIDES)[number];

export function directoryOf(twin: Twin, side: Side): string {
  return join(twin.root, side, twin.cwd);
}

/** A copy of a twin, for a command that writes. The worktrees of the copy point to its repository. */
export function copyTwin(twin: Twin): Twin {
  const root = makeTempDir('copy');
  for (const side of SIDES) {
    cpSync(join(twin.root, side), join(root, side), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    });
    const ends = ['project/.git/worktrees/*/gitdir', '*/.git'].flatMap((glob) =>
      globSync(join(root, side, glob)),
    );
    for (const file of ends.filter((path) => statSync(path).isFile())) {
      writeFileSync(file, readFileSync(file, 'utf8').replace(twin.root, root));
    }
  }
  return { ...twin, root };
}
