/** A session in place leaves some things of the user's where they are, and they are no work of the agent's. */
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
  const side = record.checkout === undefined ? undefined : await readUsersSide(git, record);
  if (side === undefined) return;
  refuseHidden(changes, new Set(side.hidden));
  const added = changes.filter(({ before, after }) => before === undefined && after !== undefined);
  const { ignored } = side;
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

/** An accept of whole commits would take them. */
export function refuseHidden(changes: readonly DiffEntry[], hidden: ReadonlySet<string>): void {
  const found = changes.filter(({ path }) => hidden.has(path)).map(({ path }) => displayPath(path));
  if (found.length === 0) return;
  throw new AgtError(`your own changes, which git was told to pass over, would land (${found.join(', ')})`, {
    hints: ['accept without --commits and --keep-commits: agt leaves them out'],
  });
}

/**
 * Changes that are not the agent's: a repository inside at the commit at which the user had it, and a file that the user
 * had changed and told git to pass over.
 */
export async function isUsersOwn(
  { git }: Repository,
  record: SessionRecord,
): Promise<(change: DiffEntry) => boolean> {
  const side = record.checkout === undefined ? undefined : await readUsersSide(git, record);
  const commits = new Map(side?.repositories.map(({ path, commit }) => [path, commit]));
  const hidden = new Set(side?.hidden);
  return ({ path, after }) =>
    hidden.has(path) || (after?.mode === SUBMODULE && commits.get(path) === after.oid);
}
