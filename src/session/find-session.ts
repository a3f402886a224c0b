/** Which session a command means: the one that is named, or the one whose folder the user is in. */
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { AgtError } from '../errors.ts';
import type { Repository } from '../repository/repository.ts';
import { checkId } from './id.ts';
import { listRecords, readRecord, type SessionRecord, sessionFolder } from './record.ts';

export function findSession(repository: Repository, id: string | undefined, cwd: string): SessionRecord {
  return id === undefined ? sessionOfFolder(repository, cwd) : namedSession(repository, id);
}

export function namedSession(repository: Repository, id: string): SessionRecord {
  const record = readRecord(repository, checkId(id));
  if (record !== undefined) return record;
  const known = listRecords(repository).records.map((session) => session.session_id);
  throw new AgtError(`no session "${id}" in ${repository.commonDir}`, {
    hints: [
      known.length === 0 ? 'make one: agt session new' : `sessions here: ${known.slice(-10).join(', ')}`,
    ],
  });
}

export function sessionOfFolder(repository: Repository, cwd: string): SessionRecord {
  const record = sessionContaining(repository, cwd);
  if (record !== undefined) return record;
  throw new AgtError('no session named, and the current folder belongs to none', {
    hints: ['name one (see: agt session list), or go into its folder'],
  });
}

export function sessionContaining(repository: Repository, cwd: string): SessionRecord | undefined {
  const here = `${resolved(cwd)}${sep}`;
  return listRecords(repository).records.find((record) =>
    here.startsWith(`${resolved(sessionFolder(record))}${sep}`),
  );
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
