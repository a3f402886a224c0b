/**
 * The database of a session folder, in a directory beside the frozen folders whose name has the nonce. The session folder
 * itself is only a mount of it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt, errorCode } from '../../errors.ts';
import { frozenDirectory } from '../../layout.ts';
import { parseToken, type Token, tokenText } from '../token.ts';

export interface Store {
  readonly directory: string;
  readonly database: string;
}

const PREFIX = 'agentfs-';
const DATABASE = 'session';
/** The token of the session folder. */
const TOKEN = 'token';
/** The path of the folder below that agentfs last mounted; absent without one. */
const BASE = 'base';

/** `folder`: the session folder, wherever it is now. */
export function storeOf(folder: string, { nonce }: Token): Store {
  return storeIn(join(frozenDirectory(dirname(folder)), `${PREFIX}${nonce}`));
}

function storeIn(directory: string): Store {
  return { directory, database: join(directory, '.agentfs', `${DATABASE}.db`) };
}

/** `base`: the folder below; undefined for an empty one. @returns arguments for `agentfs`, in the directory of the store */
export function makeStore({ directory }: Store, token: Token, base: string | undefined): string[] {
  mkdirSync(join(directory, '.agentfs'), { recursive: true });
  writeFileSync(join(directory, TOKEN), `${tokenText(token)}\n`);
  if (base === undefined) return ['init', DATABASE];
  writeFileSync(join(directory, BASE), base);
  return ['init', '--base', base, DATABASE];
}

export function baseOf({ directory }: Store): string | undefined {
  try {
    return readFileSync(join(directory, BASE), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The folder below may have moved together with the store. Nothing may be mounted. */
export function followBase(store: Store): void {
  const named = baseOf(store);
  if (named === undefined) return;
  const base = join(dirname(store.directory), basename(named));
  if (base === named) return;
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite'); // loaded only here: it takes a while
  const database = new DatabaseSync(store.database);
  try {
    database.prepare("UPDATE fs_overlay_config SET value = ? WHERE key = 'base_path'").run(base);
  } finally {
    database.close();
  }
  writeFileSync(join(store.directory, BASE), base);
}

/** The files of a database; the second one may be missing. */
export function databaseFiles({ database }: Store): string[] {
  return [database, `${database}-wal`].filter((file) => existsSync(file));
}

/** The tokens of all stores in a directory. */
export function tokensIn(frozen: string): Token[] {
  return storesIn(frozen).flatMap(({ directory }) => {
    return attempt(() => parseToken(readFileSync(join(directory, TOKEN), 'utf8').trimEnd()) ?? []) ?? [];
  });
}

/** Whether a session is mounted over a frozen folder, or may be. */
export function isBase(folder: string): boolean {
  return storesIn(dirname(folder)).some((store) => basename(baseOf(store) ?? '') === basename(folder));
}

function storesIn(frozen: string): Store[] {
  if (!existsSync(frozen)) return [];
  return readdirSync(frozen)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => storeIn(join(frozen, name)));
}
