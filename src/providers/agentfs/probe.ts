/**
 * Measures an agentfs program in a folder that agt throws away. Versions differ in what a session needs: that a look at a
 * file costs no descriptor, that reading a file copies nothing, that a second mount shows the same files, and that a file
 * can be used that is deleted while it is open.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { identify, isAlive, type ProcessIdentity, processIsGone } from '../../disk/lock-owner.ts';
import { readJson } from '../../disk/read-file.ts';
import { AgtError, errorCode } from '../../errors.ts';
import { agentfsDirectory } from '../../layout.ts';
import { mountDatabase, serversOf, unmount, waitForEnd } from './server.ts';

export interface Measured {
  readonly version: string;
  /** Files that a program looked up. */
  readonly files: number;
  /** Descriptors that the server has open afterwards. */
  readonly descriptors: number;
  /** Bytes of a file that a program read. */
  readonly read: number;
  /** Bytes by which the database has grown then. */
  readonly copied: number;
  /** Files that were compared after a second mount, and those that were other ones then. */
  readonly compared: number;
  readonly changed: number;
  /** The error of writing to a file that is deleted while it is open; null without one. */
  readonly deleted: string | null;
}

const DIRECTORIES = 20;
const FILES_IN_EACH = 100;
const LARGE = 4 * 1024 * 1024;
/** A server that hangs must not keep agt for ever. */
const LONGEST_MS = 60_000;

/** As often as the program changes. @throws AgtError if it cannot be measured */
export function measure(program: string, state: string): Measured {
  const stat = statSync(program);
  const key = { program, mtimeMs: stat.mtimeMs, size: stat.size };
  const file = join(agentfsDirectory(state), 'measured.json');
  const known = readJson(file) as (Measured & typeof key) | undefined;
  const isSame = known?.program === program && known.mtimeMs === key.mtimeMs && known.size === key.size;
  if (isSame) return known;
  const measured = measureNow(program, state);
  writeFileAtomic(file, `${JSON.stringify({ ...key, ...measured })}\n`);
  return measured;
}

const FOLDER = 'measuring-';
const OWNER = 'owner.json';

function measureNow(program: string, state: string): Measured {
  for (const { end } of leftFolders(state)) end();
  mkdirSync(agentfsDirectory(state), { recursive: true });
  const folder = mkdtempSync(join(agentfsDirectory(state), FOLDER));
  try {
    writeFileSync(join(folder, OWNER), JSON.stringify(identify(process.pid)));
    failurePoint('agentfs: folder to measure');
    return measureIn(program, folder);
  } finally {
    endFolder(folder);
  }
}

function measureIn(program: string, folder: string): Measured {
  const [base, point] = [join(folder, 'base'), join(folder, 'mount')];
  for (let n = 0; n < DIRECTORIES; n++) {
    mkdirSync(join(base, 'looked', `d${n}`), { recursive: true });
    for (let m = 0; m < FILES_IN_EACH; m++)
      writeFileSync(join(base, 'looked', `d${n}`, `f${m}`), `${n} ${m}\n`);
  }
  for (const name of ['one', 'two', 'three']) {
    mkdirSync(join(base, 'changed', name), { recursive: true });
    for (let n = 0; n < 8; n++) writeFileSync(join(base, 'changed', name, `f${n}`), `${name} ${n}\n`);
  }
  writeFileSync(join(base, 'large'), Buffer.alloc(LARGE, 'not only zeros'));
  mkdirSync(point);
  const version = call(folder, program, '--version')
    .replace(/^agentfs\s+v?/, '')
    .trim();
  call(folder, program, 'init', '--base', base, 'measured');
  const database = join(folder, '.agentfs', 'measured.db');
  const server = mountDatabase(program, database, point);
  failurePoint('agentfs: mounted to measure');
  call(point, 'find', 'looked', '-type', 'f', '-size', '+0');
  const descriptors = readdirSync(`/proc/${server}/fd`).length;
  const before = sizeOf(database);
  call(point, 'cksum', 'large');
  let copied = sizeOf(database) - before;
  remount();
  copied = Math.max(copied, sizeOf(database) - before);
  call(point, 'sh', '-ec', CHANGES);
  const sums = call(point, 'sh', '-ec', SUMS).trim().split('\n');
  remount();
  call(point, 'find', 'looked/d7', 'looked/d3', '-type', 'f', '-size', '+0');
  const now = new Set(call(point, 'sh', '-ec', SUMS).split('\n'));
  const changed = sums.filter((line) => !now.has(line)).length;
  const looked = { files: DIRECTORIES * FILES_IN_EACH, descriptors };
  const deleted = useDeleted(join(point, 'deleted'));
  return { version, ...looked, read: LARGE, copied, compared: sums.length, changed, deleted };

  function remount(): void {
    end(point, database);
    mountDatabase(program, database, point);
  }
}

/** agt and git delete temporary files that they have open, so that a kill leaves none. */
function useDeleted(path: string): string | null {
  const file = openSync(path, 'wx+');
  let failure: string | null = null;
  try {
    unlinkSync(path);
    writeSync(file, 'written');
    if (readSync(file, Buffer.alloc(7), { position: 0 }) !== 7) failure = 'nothing to read';
  } catch (error) {
    failure = errorCode(error);
  }
  try {
    closeSync(file);
  } catch (error) {
    failure ??= errorCode(error);
  }
  return failure;
}

/** Every kind of change that an overlay keeps in another way. */
const CHANGES = `cd changed
echo other > one/f1; echo more >> one/f2; mv one/f3 one/moved; rm one/f4; mkdir one/made; echo in > one/made/in
echo added > two/added; mv two/f5 three/f5-of-two; ln three/f6 three/linked; mkdir -p two/a/b; mv two/f6 two/a/b/`;
const SUMS = 'find changed -type f | LC_ALL=C sort -r | while read -r f; do cksum "$f"; done | LC_ALL=C sort';

function call(cwd: string, program: string, ...args: string[]): string {
  const run = spawnSync(program, args, {
    ...{
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL',
    },
    env: { ...process.env, LC_ALL: 'C' },
  });
  if (run.status === 0) return run.stdout;
  const said = run.stderr?.split('\n').find((line) => line !== '');
  const reason = run.error?.message ?? said ?? `it ended with ${run.signal ?? run.status}`;
  throw new AgtError(`${program} ${args[0]} failed: ${reason}`);
}

/** Also what agentfs has not yet moved out of its log. */
function sizeOf(database: string): number {
  const files = [database, `${database}-wal`];
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

function end(point: string, database: string): void {
  const servers = serversOf(database);
  unmount(point);
  if (!waitForEnd(servers)) for (const pid of servers.filter(isAlive)) process.kill(pid, 'SIGKILL');
}

function endFolder(folder: string): void {
  end(join(folder, 'mount'), join(folder, '.agentfs', 'measured.db'));
  rmSync(folder, { recursive: true, force: true });
}

/** Folders that a killed agt has left, perhaps with something mounted. */
export function leftFolders(state: string): { readonly path: string; readonly end: () => void }[] {
  const directory = agentfsDirectory(state);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.startsWith(FOLDER))
    .map((name) => join(directory, name))
    .filter((path) => {
      const owner = readJson(join(path, OWNER)) as ProcessIdentity | undefined;
      return owner === undefined ? isOld(path) : processIsGone(owner);
    })
    .map((path) => ({ path, end: () => endFolder(path) }));
}

/** The owner is written at once. */
const OLD_MS = 60_000;

function isOld(path: string): boolean {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) > OLD_MS;
}
