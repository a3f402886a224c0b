/** What each worktree has checked out, and the worktrees of sessions, which git mode hides. */
import { basename, dirname } from 'node:path';
import { readSessionFiles } from '../../filter/session-file.ts';
import {
  type DiscoveredRepository,
  listRegistrations,
  registeredWorktree,
} from '../../git/files/discover-repository.ts';
import { readHeadFile } from '../../git/files/head-file.ts';
import { HEADS } from '../../git/files/ref-files.ts';
import { agtDirectory } from '../../layout.ts';
import { once } from '../../once.ts';
import type { GitAccess } from '../invocation.ts';

/** The full name of the branch that the worktree of a git directory has checked out; undefined if its HEAD is detached. */
export type ReadHead = (gitDir: string) => string | undefined;

/** From its HEAD file or, if the refs are no files, from git. Limit: git tells no other worktree about the main one. */
export function headReader(
  { commonDir, gitDir: own }: DiscoveredRepository,
  refFiles: boolean,
  ask: GitAccess['ask'],
): ReadHead {
  if (refFiles) return (gitDir) => readHeadFile(gitDir)?.ref;
  return (gitDir) => {
    if (gitDir === own) return symbolicRef('HEAD', ask);
    return gitDir === commonDir ? undefined : symbolicRef(`worktrees/${basename(gitDir)}/HEAD`, ask);
  };
}

function symbolicRef(name: string, ask: GitAccess['ask']): string | undefined {
  const { exitCode, stdout } = ask(['symbolic-ref', '-q', name]);
  return exitCode === 0 ? stdout.trim() : undefined;
}

/**
 * All but the current worktree that have an agent's branch checked out, or that a session's metadata names as its
 * sandbox: an agent may have detached its HEAD. `id`: the name of its directory in `<common>/worktrees`; '' for the main
 * worktree.
 */
export function findHiddenWorktrees(
  { commonDir, gitDir }: DiscoveredRepository,
  readHead: ReadHead,
  isAgentRef: (ref: string) => boolean,
) {
  const sandboxes = once(
    () => new Set(readSessionFiles(agtDirectory(commonDir)).map(({ sandbox }) => sandbox)),
  );
  const linked = listRegistrations(commonDir).flatMap((dir) => {
    const path = registeredWorktree(dir);
    if (dir === gitDir || path === undefined) return [];
    const id = basename(dir);
    const branch = readHead(dir);
    const hidden = (branch !== undefined && isAgentRef(branch)) || sandboxes().has(path);
    return hidden ? [{ id, path }] : [];
  });
  if (gitDir === commonDir) return linked;
  const main = readHead(commonDir);
  const hidden = main?.startsWith(HEADS) && isAgentRef(main) && basename(commonDir) === '.git';
  return hidden ? [{ id: '', path: dirname(commonDir) }, ...linked] : linked;
}
