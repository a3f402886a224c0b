/**
 * Each session folder is a mount of agentfs: a database of what differs from a folder below, which never changes. A clone
 * is a copy of the database, and a folder that is mounted no longer is mounted again by the next command.
 */
import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statfsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { listMounts } from '../../disk/mounts.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError, errorCode, listSome } from '../../errors.ts';
import { FROZEN, frozenDirectory } from '../../layout.ts';
import { readPlace } from '../place.ts';
import type { Provider } from '../provider.ts';
import { runTool } from '../run-tool.ts';
import { carriesNonce, MARK, makingPath, markFolder, type Token, tokenAt } from '../token.ts';
import { copyWhileStopped } from './copy.ts';
import { agentfsProgram, findAgentfs } from './find.ts';
import { isMounted, mountDatabase, serversOf, unmount, waitForEnd } from './server.ts';
import { baseOf, followBase, isBase, makeStore, type Store, storeOf, tokensIn } from './store.ts';

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
  isMounted: (token) => [makingPath(token), token.path].some((path) => isMounted(path) && isOwn(path, token)),
  remove,
  walk: (directory) => (basename(directory) === FROZEN ? unusedTemplates(directory) : foldersIn(directory)),
  move,
  ensure,
  isUsed: ({ path }) => isBase(path),
  holds: (path, token) => isThere(path) && isOwn(path, token),
};

async function prepare(token: Token, from?: string): Promise<void> {
  const program = requireProgram(dirname(token.path));
  const making = makingPath(token);
  mkdirSync(making);
  markFolder(making, token);
  failurePoint('agentfs: folder made');
  const store = storeOf(making, token);
  const source = from === undefined ? undefined : tokenAt(from);
  if (from !== undefined && source !== undefined && isMounted(from)) {
    const origin = storeOf(from, source);
    makeStore(store, token, baseOf(origin));
    await copyWhileStopped(from, origin, store);
  } else await runTool(program, makeStore(store, token, from), store.directory);
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

function mountStore(program: string, store: Store, folder: string): void {
  const others = readdirSync(folder).filter((name) => name !== MARK);
  if (others.length > 0)
    throw new AgtError(`agt does not mount over the files in ${folder}: ${listSome(others, LISTED)}`, {
      hints: ['they came while the session was not mounted; move them away'],
    });
  followBase(store);
  mountDatabase(program, store.database, folder);
}

async function remove(token: Token, at = token.path): Promise<boolean> {
  if (basename(dirname(at)) === FROZEN) return removeTemplate(token, at);
  const places = [makingPath({ ...token, path: at }), at].filter(isThere);
  if (!places.every((place) => isOwn(place, token))) return false;
  const store = storeOf(at, token);
  const servers = serversOf(store.database);
  for (const place of places) unmount(place);
  if (!waitForEnd(servers)) throw new AgtError(`agentfs still works on ${store.database}`);
  failurePoint('agentfs: unmounted');
  removeTree(store.directory);
  failurePoint('agentfs: database removed');
  for (const place of places) removeMountPoint(place);
  return true;
}

function removeTemplate(token: Token, path: string): boolean {
  if (!isThere(path)) return true;
  if (!carriesNonce(path, token) || isBase(path)) return false;
  removeTree(path);
  return true;
}

/** Files in it came while nothing was mounted, and no snapshot has them: they stay. */
function removeMountPoint(folder: string): void {
  const others = readdirSync(folder).filter((name) => name !== MARK);
  if (others.length > 0)
    throw new AgtError(`agt does not delete what came into ${folder} while it was not mounted`, {
      hints: [`move it away: ${listSome(others, LISTED)}`],
    });
  rmSync(join(folder, MARK), { force: true });
  rmdirSync(folder);
}

/** Also a mount whose server has ended. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return errorCode(error) !== 'ENOENT';
  }
}

/** The mount names the database, whose directory has the nonce; without a mount, the mark is in the folder. */
function isOwn(path: string, token: Token): boolean {
  if (!isMounted(path)) return carriesNonce(path, token);
  const name = basename(storeOf(path, token).directory);
  return listMounts().some(
    ({ point, source }) => basename(point) === basename(path) && source.includes(`/${name}/`),
  );
}

async function move(token: Token, from: string, to: string): Promise<void> {
  const program = requireProgram(dirname(from));
  const store = storeOf(from, token);
  const servers = serversOf(store.database);
  unmount(from);
  if (!waitForEnd(servers)) throw new AgtError(`agentfs still works on ${store.database}`);
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
  if (!isThere(folder) || !isThere(store.database) || isAnswering(folder)) return false;
  if (!isOwn(folder, token)) return false;
  if (dryRun) return true;
  const program = requireProgram(dirname(folder));
  unmount(folder);
  waitForEnd(serversOf(store.database));
  mountStore(program, store, folder);
  return true;
}

function isAnswering(folder: string): boolean {
  try {
    statfsSync(folder);
    return isMounted(folder);
  } catch {
    return false;
  }
}

function foldersIn(directory: string): Token[] {
  return tokensIn(frozenDirectory(directory)).flatMap((token) => {
    const path = join(directory, basename(token.path));
    return isThere(path) && isOwn(path, token) ? [{ ...token, path }] : [];
  });
}

function unusedTemplates(directory: string): Token[] {
  if (!isThere(directory)) return [];
  return readdirSync(directory)
    .map((name) => join(directory, name))
    .filter((path) => basename(path).startsWith('template-') && !isBase(path))
    .flatMap((path) => {
      // The mark in it is that of the session that it was copied from; its own nonce is in the name.
      const nonce = /-([0-9a-f]{16})$/.exec(path)?.[1];
      return nonce !== undefined && tokenAt(path)?.kind === 'agentfs'
        ? [{ kind: 'agentfs', nonce, path }]
        : [];
    });
}
