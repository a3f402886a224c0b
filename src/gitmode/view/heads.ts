/** The branch that each worktree has checked out: from its HEAD file or, if the refs are no files, from git. */
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import type { DiscoveredRepository } from '../../git/files/discover-repository.ts';
import type { GitAccess } from '../invocation.ts';

/** Full names; undefined for a detached HEAD. */
export interface Heads {
  /** The HEAD of the current worktree. */
  current(): string | undefined;
  ofLinkedWorktree(id: string): string | undefined;
  /** Limit: unknown if the refs are no files. */
  ofMainWorktree(): string | undefined;
}

export function readHeads(
  { commonDir, gitDir }: DiscoveredRepository,
  refFiles: boolean,
  ask: GitAccess['ask'],
): Heads {
  if (!refFiles) {
    return {
      current: () => symbolicRef('HEAD', ask),
      ofLinkedWorktree: (id) => symbolicRef(`worktrees/${id}/HEAD`, ask),
      ofMainWorktree: () => undefined,
    };
  }
  return {
    current: () => branchIn(join(gitDir, 'HEAD')),
    ofLinkedWorktree: (id) => branchIn(join(commonDir, 'worktrees', id, 'HEAD')),
    ofMainWorktree: () => branchIn(join(commonDir, 'HEAD')),
  };
}

function branchIn(headFile: string): string | undefined {
  const line = readSmallFile(headFile);
  return line?.startsWith('ref: ') ? line.slice('ref: '.length).trim() : undefined;
}

function symbolicRef(name: string, ask: GitAccess['ask']): string | undefined {
  const { exitCode, stdout } = ask(['symbolic-ref', '-q', name]);
  return exitCode === 0 ? stdout.trim() : undefined;
}
