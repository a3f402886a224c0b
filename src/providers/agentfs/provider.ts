/**
 * Each session folder is a mount of agentfs: a database of what differs from a folder below, which never changes. A clone
 * is a copy of the database, and a folder that is mounted no longer is mounted again by the next command. The database is
 * in a directory beside the frozen folders whose name has the nonce.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { isMountPoint, listMounts } from '../../disk/mounts.ts';
import { readIfThere } from '../../disk/read-file.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError, attempt, listSome } from '../../errors.ts';
import { FROZEN, frozenDirectory } from '../../layout.ts';
import { type Provider, readPlace, runTool } from '../provider.ts';
import { carriesNonce, MARK, makingPath, markFolder, type Token, tokenAt, tokensIn } from '../token.ts';
import { agentfsProgram, findAgentfs } from './probe.ts';
import { copyDatabase, DATABASE, databaseIn, mountDatabase, unmountDatabase } from './server.ts';

export const agentfsProvider: Provider = {
  kind: 'agentfs',
  onRequest: true,
  mounts: true,
  newInodes: true,
  find: findAgentfs,
  prepare,
  settle: (token) => move(token, makingPath(token), token.path),
  // Files are the same folder below for every session, so this is a folder of its own.
  freeze: async (folder, token) => {
    mkdirSync(token.path);
    await runTool('cp', ['-a', '--reflink=auto', `${folder}/.`, token.path]);
  },
  isMounted: (token) =>
    [makingPath(token), token.path].some((path) => isMountPoint(path) && isOwn(path, token)),
  remove,
  walk: (directory) =>
    tokensIn('agentfs', directory, (path) => basename(path).startsWith('template-') && !isBase(path)),
  move,
  ensure,
  isUsed: ({ path }) => isBase(path),
  holds: (path, token) => isThere(path) && isOwn(path, token),
};

const PREFIX = 'agentfs-';

/** The directory of the database. `folder`: the session folder, wherever it is now. */
export function storeOf(folder: string, { nonce }: Token): string {
  return join(frozenDirectory(dirname(folder)), `${PREFIX}${nonce}`);
}

/** Has the path of the folder below that agentfs last mounted. */
function baseFile(store: string): string {
  return join(store, 'base');
}

/** Whether a session is mounted over a frozen folder, or may be. */
function isBase(folder: string): boolean {
  const frozen = dirname(folder);
  const stores = (attempt(() => readdirSync(frozen)) ?? []).filter((name) => name.startsWith(PREFIX));
  return stores.some((name) => basename(readIfThere(baseFile(join(frozen, name)))) === basename(folder));
}

async function prepare(token: Token, from?: string): Promise<void> {
  const program = requireProgram(dirname(token.path));
  const making = makingPath(token);
  mkdirSync(making);
  markFolder(making, token);
  failurePoint('agentfs: folder made');
  const store = storeOf(making, token);
  const source = from === undefined || !isMountPoint(from) ? undefined : tokenAt(from);
  const origin = from === undefined || source === undefined ? undefined : storeOf(from, source);
  const base = origin === undefined ? from : readIfThere(baseFile(origin));
  mkdirSync(dirname(databaseIn(store)), { recursive: true });
  if (base) writeFileSync(baseFile(store), base);
  if (from !== undefined && origin !== undefined) await copyDatabase(from, origin, store);
  else await runTool(program, ['init', ...(base ? ['--base', base] : []), DATABASE], store);
  failurePoint('agentfs: database made');
  mountStore(program, store, making);
  markFolder(making, token);
  failurePoint('agentfs: mounted');
}

function requireProgram(directory: string): string {
  const found = agentfsProgram(readPlace(directory, process.env));
  if (typeof found === 'string') return found;
  const { notes, hint } = found;
  throw new AgtError(`agt cannot mount a folder of agentfs: ${notes[0]}`, {
    hints: hint === undefined ? [] : [hint],
  });
}

/** Files that a message lists. */
const LISTED = 3;

/** Files that came while nothing was mounted there. No snapshot has them. */
function othersIn(folder: string): string | undefined {
  const others = readdirSync(folder).filter((name) => name !== MARK);
  return others.length === 0 ? undefined : listSome(others, LISTED);
}

function mountStore(program: string, store: string, folder: string): void {
  const others = othersIn(folder);
  if (others !== undefined)
    throw new AgtError(`agt does not mount over the files in ${folder}: ${others}`, {
      hints: ['they came while the session was not mounted; move them away'],
    });
  followBase(store);
  mountDatabase(program, store, folder);
}

/** The folder below may have moved together with the store. Nothing may be mounted. */
function followBase(store: string): void {
  const named = readIfThere(baseFile(store));
  const base = join(dirname(store), basename(named));
  if (named === '' || base === named) return;
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite'); // loaded only here: it takes a while
  const database = new DatabaseSync(databaseIn(store));
  try {
    database.prepare("UPDATE fs_overlay_config SET value = ? WHERE key = 'base_path'").run(base);
  } finally {
    database.close();
  }
  writeFileSync(baseFile(store), base);
}

/** @throws AgtError if programs work there */
function unmountStore(store: string, folders: readonly string[]): void {
  if (unmountDatabase(store, folders).length > 0)
    throw new AgtError(`agentfs still works on ${databaseIn(store)}`);
}

async function remove(token: Token, at = token.path): Promise<boolean> {
  if (basename(dirname(at)) === FROZEN) {
    if (isThere(at) && (!carriesNonce(at, token) || isBase(at))) return false;
    removeTree(at);
    return true;
  }
  const places = [makingPath({ ...token, path: at }), at].filter(isThere);
  if (!places.every((place) => isOwn(place, token))) return false;
  const store = storeOf(at, token);
  unmountStore(store, places);
  failurePoint('agentfs: unmounted');
  removeTree(store);
  failurePoint('agentfs: database removed');
  for (const place of places) removeMountPoint(place);
  return true;
}

function removeMountPoint(folder: string): void {
  const others = othersIn(folder);
  if (others !== undefined)
    throw new AgtError(`agt does not delete what came into ${folder} while it was not mounted`, {
      hints: [`move it away: ${others}`],
    });
  rmSync(join(folder, MARK), { force: true });
  rmdirSync(folder);
}

/** Also a mount whose server has ended. */
function isThere(path: string): boolean {
  return existsSync(path) || isMountPoint(path);
}

/** The mount names the database, whose directory has the nonce; without a mount, the mark is in the folder. */
function isOwn(path: string, token: Token): boolean {
  if (!isMountPoint(path)) return carriesNonce(path, token);
  return listMounts().some(
    ({ point, source }) => basename(point) === basename(path) && source.includes(`/${PREFIX}${token.nonce}/`),
  );
}

async function move(token: Token, from: string, to: string): Promise<void> {
  const program = requireProgram(dirname(from));
  const store = storeOf(from, token);
  unmountStore(store, [from]);
  failurePoint('agentfs: unmounted to move');
  try {
    renameSync(from, to);
  } catch (error) {
    mountStore(program, store, from);
    throw error;
  }
  failurePoint('agentfs: moved');
  mountStore(program, store, to);
}

/** True if the folder was not mounted, as after a restart of the machine. */
function ensure(token: Token, folder: string, dryRun = false): boolean {
  const store = storeOf(folder, token);
  const isAnswering = attempt(() => statfsSync(folder)) !== undefined && isMountPoint(folder);
  if (isAnswering || ![folder, databaseIn(store)].every(isThere) || !isOwn(folder, token)) return false;
  if (dryRun) return true;
  const program = requireProgram(dirname(folder));
  unmountStore(store, [folder]);
  mountStore(program, store, folder);
  return true;
}
