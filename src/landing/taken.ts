/**
 * Work that was not committed when a session began with it: the user's, who may have committed it since, or that of its
 * parent, which may have landed.
 */
import { join } from 'node:path';
import { takenRef } from '../filter/agent-refs.ts';
import { findObject, findObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, entryOf } from '../git/objects/raw-diff.ts';
import { editTree, type IndexEdit, withIndex } from '../git/objects/scratch-index.ts';
import { parseStatus, STATUS } from '../git/objects/status.ts';
import { gitBytes, inDirectory } from '../git/run/git.ts';
import { listRecords } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { encodePath } from '../snapshot/tree-names.ts';
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
  const tracked = [...STATUS, '--untracked-files=no'];
  const { entries } =
    committed.length === 0 || worktree === undefined
      ? { entries: [] }
      : parseStatus(await gitBytes(inDirectory(session.git, worktree), tracked));
  const open = new Set(entries.map(({ path }) => path));
  const edits = editsOf(committed.filter(({ path }) => !open.has(path)));
  return edits.length === 0 ? base : editTree(withIndex(git, join(dir, 'base-index')), { tree: base }, edits);
}

export function editsOf(taken: readonly DiffEntry[]): IndexEdit[] {
  return taken.map(({ path, after }): IndexEdit => [path, entryOf(after)]);
}

/**
 * The base of a merge, with files of the snapshot at which the session was forked, or a fork of it began, where the branch
 * has them so: with the parent or the fork, work has landed that was not committed then.
 */
export async function baseWithShared(
  { repository, record, id }: Session,
  { git, dir }: Workbench,
  base: string,
  { from, tree }: Record<'from' | 'tree', string>,
): Promise<string> {
  const { records } = listRecords(repository);
  const family = records.filter((one) => (one.session_id === id ? record.from : one.from === id));
  const forkedAt = family.flatMap((one) => one.from_spec ?? []);
  if (forkedAt.length === 0) return base;
  const changedTo = (to: string) => diffTrees(git, base, to, { countLines: false });
  // A session that has given a file up, as by git reset, does not take it off the branch.
  const own = new Set((await changedTo(tree)).map(({ path }) => path));
  const changes = (await changedTo(from)).filter(({ path, after }) => after && own.has(path));
  const names = changes.flatMap(({ path }) => forkedAt.map((at) => `${at}:sandbox/${encodePath(path)}`));
  const found = (await findObjects(git, names)).map((object) => object?.oid);
  const isShared = ({ after }: DiffEntry, i: number) =>
    found.slice(i * forkedAt.length, (i + 1) * forkedAt.length).includes(after?.oid);
  const edits = editsOf(changes.filter(isShared));
  return edits.length === 0 ? base : editTree(withIndex(git, join(dir, 'base-index')), { tree: base }, edits);
}
