/** The worktrees of sessions, which git mode hides. */
import { basename, dirname, join, resolve } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { readSessionFiles } from '../../filter/session-file.ts';
import type { DiscoveredRepository } from '../../git/files/discover-repository.ts';
import { HEADS, subdirectories } from '../../git/files/ref-files.ts';
import { agtDirectory } from '../../layout.ts';
import { once } from '../../once.ts';
import type { Heads } from './heads.ts';

export interface HiddenWorktree {
  /** The name of its directory in `<common>/worktrees`; '' for the main worktree. */
  readonly id: string;
  /** Absolute. */
  readonly path: string;
}

/**
 * All but the current worktree that have an agent's branch checked out, or that a session's metadata names as its
 * sandbox: an agent may have detached its HEAD.
 */
export function findHiddenWorktrees(
  { commonDir, gitDir }: DiscoveredRepository,
  heads: Heads,
  isAgentRef: (ref: string) => boolean,
): HiddenWorktree[] {
  const sandboxes = once(
    () => new Set(readSessionFiles(agtDirectory(commonDir)).map(({ sandbox }) => sandbox)),
  );
  const linked = subdirectories(join(commonDir, 'worktrees')).flatMap((id) => {
    const dir = join(commonDir, 'worktrees', id);
    const gitFile = readSmallFile(join(dir, 'gitdir'));
    if (dir === gitDir || gitFile === undefined) return [];
    const path = dirname(resolve(dir, gitFile));
    const branch = heads.ofLinkedWorktree(id);
    const hidden = (branch !== undefined && isAgentRef(branch)) || sandboxes().has(path);
    return hidden ? [{ id, path }] : [];
  });
  if (gitDir === commonDir) return linked;
  const main = heads.ofMainWorktree();
  const hidden = main?.startsWith(HEADS) && isAgentRef(main) && basename(commonDir) === '.git';
  return hidden ? [{ id: '', path: dirname(commonDir) }, ...linked] : linked;
}
