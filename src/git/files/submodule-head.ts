/** Reads from files which commit a submodule has checked out. */
import { readHeadFile } from './head-file.ts';
import { readRefValues } from './ref-values.ts';
import { gitDirOf } from './worktree-git-dir.ts';

/** Undefined if the submodule is not initialised, has no commit, or if only git can tell. */
export function submoduleHead(worktree: string): string | undefined {
  const gitDir = gitDirOf(worktree);
  const head = gitDir === undefined ? undefined : readHeadFile(gitDir);
  if (gitDir === undefined || head === undefined) return undefined;
  return 'commit' in head ? head.commit : readRefValues(gitDir, [head.ref], {})?.get(head.ref);
}
