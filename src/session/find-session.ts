/** Finds the session of a command: the one that the user names, or the one that `cwd` is in. */
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { isSameDirectory } from '../disk/same-directory.ts';
import { AgtError } from '../errors.ts';
import type { Repository } from '../repository/repository.ts';
import { checkId } from './id.ts';
import { listRecords, readRecord, type SessionRecord, sessionFolder } from './record.ts';

/** Ids that a hint lists; the newest ones. */
const LISTED_IDS = 10;

export function findSession(repository: Repository, id: string | undefined, cwd: string): SessionRecord {
  return id === undefined ? sessionOfFolder(repository, cwd) : namedSession(repository, id);
}

export function namedSession(repository: Repository, id: string): SessionRecord {
  const record = readRecord(repository, checkId(id));
  if (record !== undefined) return record;
  const ids = listRecords(repository).records.map((session) => session.session_id);
  const list = `sessions here: ${ids.slice(-LISTED_IDS).join(', ')}`;
  throw new AgtError(`no session "${id}" in ${repository.commonDir}`, {
    hints: [ids.length === 0 ? 'create one: agt session new' : list],
  });
}

function sessionOfFolder(repository: Repository, cwd: string): SessionRecord {
  const record = sessionContaining(repository, cwd);
  if (record !== undefined) return record;
  throw new AgtError('no session given, and the current directory belongs to none', {
    hints: ['give a session id (see: agt session list), or change to the folder of a session'],
  });
}

export function sessionContaining(repository: Repository, cwd: string): SessionRecord | undefined {
  const directory = `${withoutSymlinks(cwd)}${sep}`;
  const isIn = (folder: string) => directory.startsWith(`${withoutSymlinks(folder)}${sep}`);
  const { records } = listRecords(repository);
  return (
    records.find((record) => isIn(sessionFolder(record))) ??
    records.find(({ checkout }) => checkout !== undefined && isIn(checkout)) ??
    sessionAt(records, repository.worktree, isIn)
  );
}

/** The session whose sandbox stands at the path of the user's worktree (workspace/namespace.ts). */
function sessionAt(
  records: readonly SessionRecord[],
  worktree: string | undefined,
  isIn: (folder: string) => boolean,
): SessionRecord | undefined {
  if (worktree === undefined || !isIn(worktree)) return undefined;
  return records.find(({ sandbox }) => isSameDirectory(sandbox, worktree));
}

function withoutSymlinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
