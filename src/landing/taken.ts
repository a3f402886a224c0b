/** Work of the user that was not committed when a session began with it. The user may have committed it since. */
import { join } from 'node:path';
import { takenRef } from '../filter/agent-refs.ts';
import { findObject } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, editsOf, entryOf } from '../git/objects/raw-diff.ts';
import { editTree, withIndex } from '../git/objects/scratch-index.ts';
import { readStatus } from '../git/objects/status.ts';
import { inDirectory } from '../git/run/git.ts';
import type { Session } from '../session/session.ts';
import type { LandingTarget } from './target.ts';
import type { Workbench } from './workbench.ts';

/** Empty for a session that began without. */
export async function takenChanges({ git, id, record }: Session): Promise<DiffEntry[]> {
  const taken = await findObject(git, `${takenRef(id)}^{commit}`);
  return taken === undefined ? [] : diffTrees(git, record.from_commit, taken);
}

/** The base of a merge, with the files that were taken along where the user has committed them: both sides come from those. */
export async function baseWithTaken(
  session: Session,
  { git, dir }: Workbench,
  base: string,
  { from, worktree }: LandingTarget,
  taken: readonly DiffEntry[],
): Promise<string> {
  if (taken.length === 0) return base;
  const moved = new Map((await diffTrees(git, base, from)).map((change) => [change.path, change]));
  const committed = taken.filter(({ path, before }) => {
    const change = moved.get(path);
    return change !== undefined && entryOf(change.before) === entryOf(before);
  });
  const { entries } =
    committed.length === 0 || worktree === undefined
      ? { entries: [] }
      : await readStatus(inDirectory(session.git, worktree), '--untracked-files=no');
  const open = new Set(entries.map(({ path }) => path));
  const closed = committed.filter(({ path }) => !open.has(path));
  const edits = editsOf(closed, 'after');
  return edits.length === 0 ? base : editTree(withIndex(git, join(dir, 'base-index')), { tree: base }, edits);
}
