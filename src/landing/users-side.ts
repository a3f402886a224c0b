/** A session in place leaves ignored files and submodules of the user's where they are: they are no work of the agent's. */
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import type { Repository } from '../repository/repository.ts';
import { readUsersSide } from '../session/in-place/users-side.ts';
import type { SessionRecord } from '../session/record.ts';
import { parentDirectories } from '../snapshot/directories.ts';

export const SUBMODULE = '160000';

/** @throws AgtError that names the files. */
export async function refuseUsersIgnored(
  { git }: Repository,
  record: SessionRecord,
  changes: readonly DiffEntry[],
): Promise<void> {
  const added = changes.filter(({ before, after }) => before === undefined && after !== undefined);
  if (record.checkout === undefined || added.length === 0) return;
  const ignored = (await readUsersSide(git, record))?.ignored ?? new Map();
  const directories = new Set([...ignored.keys()].flatMap(parentDirectories));
  const found = added
    .map(({ path }) => path)
    .filter(
      (path) => directories.has(path) || [path, ...parentDirectories(path)].some((one) => ignored.has(one)),
    );
  if (found.length === 0) return;
  throw new AgtError(`ignored files of yours would be replaced (${found.map(displayPath).join(', ')})`, {
    hints: [`leave them out: agt accept ${record.session_id} --exclude FILE`],
  });
}

/** A repository inside is at the commit at which the user had it: it has changed since HEAD, but not by the agent. */
export async function isUsersRepository(
  { git }: Repository,
  record: SessionRecord,
): Promise<(change: DiffEntry) => boolean> {
  const side = record.checkout === undefined ? undefined : await readUsersSide(git, record);
  const commits = new Map(side?.repositories.map(({ path, commit }) => [path, commit]));
  return ({ path, after }) => after?.mode === SUBMODULE && commits.get(path) === after.oid;
}
