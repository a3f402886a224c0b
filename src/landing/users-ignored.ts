/**
 * Finds ignored files of the user in the way of a session in place. agt sets aside what git sees as uncommitted; ignored
 * files stay, so the agent may have changed and committed one.
 */
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import { stashRef } from '../filter/agent-refs.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import { type Git, resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, snapshotRefs } from '../session/record.ts';
import { readHistory } from '../snapshot/history.ts';
import { decodePath } from '../snapshot/tree-names.ts';

/** @throws AgtError that names the files. */
export async function refuseUsersIgnored(
  { git }: Repository,
  record: SessionRecord,
  changes: readonly DiffEntry[],
): Promise<void> {
  const added = changes.filter(({ before }) => before === undefined).map(({ path }) => path);
  if (record.checkout === undefined || added.length === 0) return;
  const ignored = await ignoredBefore(git, record);
  const found = added.filter((path) => ignored.has(path)).map(displayPath);
  if (found.length === 0) return;
  throw new AgtError(`ignored files of yours would be replaced (${found.join(', ')})`, {
    hints: [`leave them out: agt accept ${record.session_id} --exclude FILE`],
  });
}

/** Paths of the files that were there before the session, and that git ignored. */
async function ignoredBefore(git: Git, record: SessionRecord): Promise<Set<string>> {
  const first = (await readHistory(git, snapshotRefs(record))).at(-1);
  if (first === undefined) return new Set();
  const pathsOf = async (tree: string) =>
    (await listTree(git, tree, { recurse: 'files' })).map(({ path }) => path);
  const files = (await pathsOf(`${first.commit}:sandbox`)).map(decodePath);
  const stash = await resolveObject(git, `${stashRef(record.session_id)}^3`);
  const seen = [
    record.from_commit,
    ...(stash === undefined ? [] : [stash, `${stashRef(record.session_id)}^2`]),
  ];
  const visible = new Set((await Promise.all(seen.map(pathsOf))).flat());
  return new Set(files.filter((path) => !visible.has(path)));
}
