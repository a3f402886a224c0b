/** Finds the session of a command: the one that the user names, or the one that `cwd` is in. */
import { existsSync } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { isSameDirectory, realPath } from '../disk/real-path.ts';
import { AgtError, listSome } from '../errors.ts';
import { agtDirectory, recordFile } from '../layout.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { knownRepositories, placeOf } from '../repository/known-repositories.ts';
import type { Repository } from '../repository/repository.ts';
import { didYouMean } from '../similar.ts';
import { checkId } from './id.ts';
import { listRecords, readRecord, recordNamed, type SessionRecord, sessionFolder } from './record.ts';
import { renamedFolder } from './relocate.ts';
import { Session } from './session.ts';
import { isOnRemote } from './share-file.ts';
import { isEnded } from './state.ts';

/** Ids that a hint lists: those that have not ended first, the newest before the others. */
const LISTED_IDS = 10;

const WITHOUT_SESSIONS =
  'begin one: agt new ID; an agent without a session works in your own files, see: agt log --turns';

export interface Kind {
  /** Such as `accepted sessions`. */
  readonly name: string;
  readonly fits: (record: SessionRecord) => boolean;
}

/** `only`: those that a hint lists. */
export function findSession(
  repository: Repository,
  id: string | undefined,
  cwd: string,
  only?: Kind,
): SessionRecord {
  return id === undefined ? sessionOfFolder(repository, cwd, only) : namedSession(repository, id);
}

/** `more`: a hint for a user who may have meant something else. */
export function namedSession(repository: Repository, id: string, more?: string): SessionRecord {
  const record = readRecord(repository, checkId(id));
  if (record !== undefined) return record;
  const { going, ended } = sessionsHere(repository);
  const hints = [
    ...(more === undefined ? [] : [more]),
    ...(isOnRemote(repository.agtDir, id)
      ? [`a remote has it; to go on with it here: agt session pull ${id}`]
      : []),
    ...inOtherRepositories(repository.git.env, id),
    ...didYouMean(id, [...going, ...ended]),
    ...toName({ going, ended }),
  ];
  throw new AgtError(`no session "${id}" in ${repository.commonDir}`, {
    hints: hints.length === 0 ? ['create one: agt session new'] : hints,
  });
}

const MOST_PLACES = 3;

/** Hints. */
export function inOtherRepositories(env: NodeJS.ProcessEnv, id: string): string[] {
  const holding = knownRepositories(env).present.filter((commonDir) =>
    existsSync(recordFile(agtDirectory(commonDir), id)),
  );
  const places = holding.map((commonDir) => shellQuote(placeOf({ commonDir })));
  const hint = 'another repository has a session of this name';
  return places.slice(0, MOST_PLACES).map((place) => `${hint}: agt -C ${place} list --all`);
}

interface Known {
  /** Newest first. */
  readonly going: readonly string[];
  readonly ended: readonly string[];
}

function sessionsHere(repository: Repository): Known {
  const newestFirst = listRecords(repository).records.toReversed();
  const idsOf = (ended: boolean) =>
    newestFirst.filter((one) => isEnded(one) === ended).map((one) => one.session_id);
  return { going: idsOf(false), ended: idsOf(true) };
}

/** Hints. */
export function namesHere(repository: Repository): string[] {
  return toName(sessionsHere(repository));
}

function toName({ going, ended }: Known): string[] {
  return [
    ...(going.length === 0 ? [] : [`sessions here: ${listSome(going, LISTED_IDS)}`]),
    ...(ended.length === 0 ? [] : ['sessions that have ended: agt list --all']),
  ];
}

function sessionOfFolder(repository: Repository, cwd: string, only: Kind | undefined): SessionRecord {
  const record = sessionContaining(repository, cwd);
  if (record !== undefined) return record;
  refuseMoved(repository, cwd);
  const known = only === undefined ? namesHere(repository) : [ofKind(repository, only)];
  throw new AgtError('no session given, and the current directory belongs to none', {
    hints:
      sessionsHere(repository).going.length === 0 && only === undefined
        ? [WITHOUT_SESSIONS, ...known]
        : known,
  });
}

/** A hint. */
function ofKind(repository: Repository, { name, fits }: Kind): string {
  const { records } = listRecords(repository);
  const ids = records.filter(fits).map(({ session_id: id }) => id);
  return ids.length === 0
    ? `there are no ${name} here`
    : `${name}: ${listSome(ids.toReversed(), LISTED_IDS)}`;
}

/** @throws AgtError if `cwd` is in the folder of a session that agt knows at another place. */
export function refuseMoved(repository: Repository, cwd: string): void {
  for (let folder = realPath(cwd); folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(dirname(folder)) !== 'sessions') continue;
    const record = recordNamed(repository, basename(folder)) ?? recordOfRenamed(repository, folder);
    if (record === undefined || isEnded(record) || existsSync(record.sandbox)) continue;
    throw new AgtError(`session "${record.session_id}" has moved here from ${sessionFolder(record)}`, {
      hints: ['connect it again: agt doctor --fix'],
    });
  }
}

function recordOfRenamed(repository: Repository, folder: string): SessionRecord | undefined {
  const { records } = listRecords(repository);
  return records.find((record) => renamedFolder(new Session(repository, record), dirname(folder)) === folder);
}

export function sessionContaining(repository: Repository, cwd: string): SessionRecord | undefined {
  const directory = `${realPath(cwd)}${sep}`;
  const isIn = (folder: string) => directory.startsWith(`${realPath(folder)}${sep}`);
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
