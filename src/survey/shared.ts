/** Work that was not committed when a fork began, and that has landed with its parent or a fork of it. */
import { join } from 'node:path';
import { findObjects } from '../git/objects/object-reader.ts';
import { diffTrees, entryOf } from '../git/objects/raw-diff.ts';
import { editTree, type IndexEdit, withIndex } from '../git/objects/scratch-index.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import type { Git } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { listRecords, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { encodePath } from '../snapshot/tree-names.ts';
import type { Work } from './examine.ts';

interface Ends {
  /** Of the merge. */
  readonly base: string;
  /** The branch. */
  readonly from: string;
  /** The content of the session; of its changes, `more` are those that no commit has. */
  readonly tree: string;
  readonly more?: readonly string[];
}

/** The files that the branch has as at the snapshot where the session was forked, or a fork of it began. */
export async function sharedFiles(
  records: readonly SessionRecord[],
  { session_id: id, from: parent }: SessionRecord,
  git: Git,
  { base, from, tree, more = [] }: Ends,
): Promise<IndexEdit[]> {
  const family = records.filter((one) => (one.session_id === id ? parent : one.from === id));
  const forkedAt = family.flatMap((one) => one.from_spec ?? []);
  const ids = new Set([id, parent, ...family.map(({ session_id }) => session_id)]);
  if (forkedAt.length === 0 || !records.some((one) => ids.has(one.session_id) && one.landed)) return [];
  const changedTo = (to: string) => diffTrees(git, base, to, { countLines: false });
  // A session that has given a file up, as by git reset, does not take it off the branch.
  const own = new Set([...(await changedTo(tree)).map(({ path }) => path), ...more]);
  const changes = (await changedTo(from)).filter(({ path, after }) => after && own.has(path));
  const names = changes.flatMap(({ path }) => forkedAt.map((at) => `${at}:sandbox/${encodePath(path)}`));
  const found = (await findObjects(git, names)).map((object) => object?.oid);
  return changes.flatMap(({ path, after }, i): IndexEdit[] => {
    const isShared = found.slice(i * forkedAt.length, (i + 1) * forkedAt.length).includes(after?.oid);
    return isShared ? [[path, entryOf(after)]] : [];
  });
}

/** The base with those: both sides of the merge come from it. A tree, if there are some. */
export async function baseWithShared(
  { repository, record }: Session,
  { git, dir }: Pick<ScratchObjects, 'git' | 'dir'>,
  ends: Ends,
): Promise<string> {
  const edits = await sharedFiles(listRecords(repository).records, record, git, ends);
  if (edits.length === 0) return ends.base;
  return editTree(withIndex(git, join(dir, 'base-index')), { tree: ends.base }, edits);
}

/** `records`: all of the repository. */
export async function workWithShared(
  { git }: Repository,
  record: SessionRecord,
  work: Work | undefined,
  records: readonly SessionRecord[],
): Promise<Work | undefined> {
  const { base, tip, head = '', sandbox } = work ?? {};
  if (work === undefined || base === undefined || tip === undefined) return work;
  const more = sandbox?.files.map(({ path }) => path) ?? [];
  const shared = await sharedFiles(records, record, git, { base, from: tip, tree: head, more });
  return shared.length === 0 ? work : { ...work, shared, isFork: true };
}
