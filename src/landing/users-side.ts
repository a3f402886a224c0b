/** A session in place leaves some things of the user's where they are, and they are no work of the agent's. */
import { join } from 'node:path';
import { displayPath } from '../disk/path-bytes.ts';
import { readSmallFile } from '../disk/read-file.ts';
import { AgtError, listSome } from '../errors.ts';
import { SUBMODULE } from '../git/modes.ts';
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import { readUsersSide, type UsersSide } from '../lifecycle/in-place/users-side.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { isUnder } from '../snapshot/folders.ts';
import { readSnapshotMetadata } from '../snapshot/manifest.ts';
import { parentDirectories, readSnapshotTree } from '../snapshot/tree.ts';
import { isUsersWork } from '../timetravel/restore/unfinished-restore.ts';
import type { AcceptRequest } from './accept-request.ts';
import { wayWithout } from './landing-errors.ts';

/** @throws AgtError that names the files. */
export async function refuseUsersIgnored(
  { git, record }: Session,
  changes: readonly DiffEntry[],
  request: AcceptRequest,
) {
  const side = record.checkout === undefined ? undefined : await readUsersSide(git, record);
  if (side === undefined) return;
  refuseHidden(changes, new Set(side.hidden));
  const added = changes.filter(({ before, after }) => before === undefined && after !== undefined);
  refuseRepositories(record, side, changes);
  const { ignored } = side;
  const directories = new Set([...ignored.keys()].flatMap(parentDirectories));
  const isIgnored = (path: string) =>
    directories.has(path) || [path, ...parentDirectories(path)].some((one) => ignored.has(one));
  const found = added.map(({ path }) => path).filter(isIgnored);
  if (found.length === 0) return;
  const names = found.map(displayPath);
  const way = wayWithout(record.session_id, request, names);
  throw new AgtError(`ignored files of yours would be replaced (${listSome(names)})`, {
    hints: [way.hint],
    ways: [way],
  });
}

/** Untracked ones, in whose place, or above which, a file comes. */
function refuseRepositories(
  { session_id: id }: SessionRecord,
  { repositories }: UsersSide,
  changes: readonly DiffEntry[],
): void {
  const pathsOf = (isMeant: (change: DiffEntry) => boolean) =>
    new Set(changes.filter(isMeant).map(({ path }) => path));
  const goes = pathsOf(({ before }) => before?.mode === SUBMODULE);
  const files = pathsOf(({ after }) => after !== undefined && after.mode !== SUBMODULE);
  const found = repositories
    .map(({ path }) => path)
    .filter((path) => !goes.has(path) && [path, ...parentDirectories(path)].some((one) => files.has(one)));
  if (found.length === 0) return;
  throw new AgtError(`a repository of yours would be replaced (${listSome(found.map(displayPath))})`, {
    hints: [`leave out what comes in its place: agt accept ${id} --exclude FILE`],
  });
}

/** An accept of whole commits would take them. */
export function refuseHidden(changes: readonly DiffEntry[], hidden: ReadonlySet<string>): void {
  const found = changes.filter(({ path }) => hidden.has(path)).map(({ path }) => displayPath(path));
  if (found.length === 0) return;
  throw new AgtError(`your own changes, which git was told to pass over, would land (${listSome(found)})`, {
    hints: ['accept without --commits and --keep-commits: agt leaves them out'],
  });
}

/**
 * Changes that are not the agent's: a repository inside at the commit at which the user had it, or one of the user's that
 * the agent has not made a submodule; and a file that the user had changed and told git to pass over.
 */
export async function usersOwn(session: Session) {
  const { git, record } = session;
  const side = record.checkout === undefined ? undefined : await readUsersSide(git, record);
  const inside = record.checkout === undefined ? await filesOfRepositories(session) : new Set();
  const repositories = side?.repositories ?? [];
  const commits = new Map(repositories.map(({ path, commit }) => [path, commit]));
  const hidden = new Set(side?.hidden);
  const submodules = readSmallFile(join(record.sandbox, '.gitmodules')) ?? '';
  const declared = new Set(Array.from(submodules.matchAll(/^\s*path\s*=\s*(.*?)\s*$/gm), ([, path]) => path));
  const isUsersRepository = ({ path, before, after }: DiffEntry) =>
    after?.mode === SUBMODULE &&
    commits.has(path) &&
    (commits.get(path) === after.oid || (before === undefined && !declared.has(displayPath(path))));
  return {
    isUsers: (change: DiffEntry) =>
      hidden.has(change.path) ||
      isUsersRepository(change) ||
      (change.before === undefined && inside.has(`sandbox/${change.path}`)),
    /** Without a commit: git cannot add them. */
    emptyRepositories: repositories.flatMap(({ path, commit }) => (commit === undefined ? [path] : [])),
  };
}

/** Of a session that was in place: its sandbox has the files of the user's repositories inside, as files. */
async function filesOfRepositories(session: Session): Promise<ReadonlySet<string>> {
  const first = (await session.history()).at(-1);
  if (first === undefined || !isUsersWork(first)) return new Set();
  const { skipped } = await readSnapshotMetadata(session.git, first.commit);
  const inside = skipped.flatMap((path) => /^(sandbox\/.+)\/\.git$/s.exec(path)?.[1] ?? []);
  const files = inside.length === 0 ? [] : (await readSnapshotTree(session.git, first.commit)).keys();
  // The agent may have committed the name of one.
  return new Set([...inside, ...[...files].filter((path) => isUnder(path, inside))]);
}
