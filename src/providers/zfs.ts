/**
 * Each session folder is a dataset of its own, mounted at its path: ZFS clones and drops it in milliseconds. A frozen folder
 * is a read-only clone. All names carry the nonce, because equal names of snapshots would block `zfs promote`.
 */
import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mountOf } from '../disk/mounts.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { AgtError, attempt } from '../errors.ts';
import {
  butOn,
  cannot,
  type Finding,
  nearestDirectory,
  type Place,
  type Provider,
  runTool,
} from './provider.ts';
import {
  carriesNonce,
  makingPath,
  markFolder,
  parseToken,
  type Token,
  tokensIn,
  tokenText,
} from './token.ts';

/** A user property of each dataset that agt makes. */
const PROPERTY = 'agt:token';

export const zfsProvider: Provider = {
  kind: 'zfs',
  mounts: true,
  find,
  prepare: async (token, from) => {
    const making = makingPath(token);
    const options = optionsOf(token, making);
    if (from === undefined) await zfs('create', ...options, datasetOf(token));
    else await clone(token, from, options);
    markFolder(making, token);
  },
  settle: async (token) => {
    await zfs('set', `mountpoint=${token.path}`, datasetOf(token));
    removeMountPoint(makingPath(token));
  },
  freeze: (folder, token) => clone(token, folder, [...optionsOf(token, token.path), '-o', 'readonly=on']),
  close: async (folder, isClosed) => {
    const dataset = mountedAt(folder);
    if (dataset !== undefined) await zfs('set', `readonly=${isClosed ? 'on' : 'off'}`, dataset);
  },
  remove,
  walk: (directory) => tokensIn('zfs', directory, (path) => mountedAt(path) !== undefined),
  unmounted: async (token) => {
    const dataset = datasetOf(token);
    return (await isOwn(dataset, token)) && mountedAt(token.path) === undefined ? dataset : undefined;
  },
};

const SCORE = 90;

/** Types in mountinfo: of the kernel's module, and of zfs-fuse. The source of such a mount is the dataset. */
const ZFS_TYPES: readonly (string | undefined)[] = ['zfs', 'fuse.zfs'];

function find(place: Place): Finding {
  const { existing, mount, program, isRoot } = place;
  if (!ZFS_TYPES.includes(mount?.type)) return cannot('zfs', `${existing} is not on ZFS${butOn(place)}`);
  const install = 'install the package zfsutils-linux, or zfs-fuse';
  if (program('zfs') === undefined) return cannot('zfs', 'there is no zfs program on PATH', install);
  if (!isRoot) return cannot('zfs', 'only root can mount datasets on Linux', 'run agt as root, or use git');
  const untested = mount?.type === 'zfs' ? ["agt is tested with zfs-fuse, not with the kernel's ZFS"] : [];
  const notes = ['clones and drops a session in milliseconds', ...untested];
  return { kind: 'zfs', score: SCORE, clone: true, freeze: true, drop: 'at once', notes };
}

function optionsOf(token: Token, path: string): string[] {
  return ['-o', `${PROPERTY}=${tokenText(token)}`, '-o', `mountpoint=${path}`];
}

async function clone(token: Token, from: string, options: readonly string[]): Promise<void> {
  const source = mountedAt(from);
  if (source === undefined) throw new AgtError(`no dataset is mounted at ${from}`);
  const snapshot = `${source}@agt-${token.nonce}`;
  await zfs('snapshot', snapshot);
  try {
    await zfs('clone', ...options, snapshot, datasetOf(token));
  } catch (error) {
    await zfs('destroy', snapshot).catch(() => undefined);
    throw error;
  }
}

/** Beside the dataset that the directory of session folders is on. */
function datasetOf({ path, nonce }: Token): string {
  const mount = mountOf(nearestDirectory(dirname(path)));
  if (!ZFS_TYPES.includes(mount?.type)) throw new AgtError(`${dirname(path)} is not on ZFS`);
  return `${mount?.source}/agt-${nonce}`;
}

/** Undefined if no dataset is mounted at the path itself. */
function mountedAt(path: string): string | undefined {
  const mount = mountOf(path);
  return ZFS_TYPES.includes(mount?.type) && mount?.point === path ? mount.source : undefined;
}

/** Whether agt has made a dataset. False if there is none of the name. */
async function isOwn(dataset: string, { nonce }: Token): Promise<boolean> {
  const value = await zfs('get', '-H', '-o', 'value', '-s', 'local', PROPERTY, dataset).catch(() => '');
  return parseToken(value.trim())?.nonce === nonce;
}

async function remove(token: Token, at = token.path): Promise<boolean> {
  const paths = [...new Set([makingPath(token), token.path, at])];
  const dataset = attempt(() => datasetOf(token));
  if (dataset === undefined || !(await isOwn(dataset, token))) return removeOrdinary(token, at);
  for (let next = await dependent(dataset); next !== undefined; next = await dependent(dataset))
    await zfs('promote', next);
  const origin = (await zfs('get', '-H', '-o', 'value', 'origin', dataset)).trim();
  await destroy(dataset);
  for (const path of paths) removeMountPoint(path);
  // It stays as long as another clone needs it.
  if (/@agt-[0-9a-f]{16}$/.test(origin)) await zfs('destroy', origin).catch(() => undefined);
  return !existsSync(at);
}

/** Where ZFS could not make the folder, agt has made an ordinary one. */
function removeOrdinary(token: Token, at: string): boolean {
  if (existsSync(at) && mountedAt(at) !== undefined) return false;
  if (existsSync(at) && readdirSync(at).length > 0 && !carriesNonce(at, token)) return false;
  removeTree(at);
  return true;
}

/** A clone of the newest of its snapshots that have one: once it is promoted, it has that one and all older ones. */
async function dependent(dataset: string): Promise<string | undefined> {
  const listed = await zfs('list', '-H', '-t', 'filesystem', '-o', 'name,origin');
  const origins = new Map(
    listed.split('\n').map((line) => line.split('\t').reverse() as [origin: string, name: string]),
  );
  const own = [...origins.keys()].filter((origin) => origin.startsWith(`${dataset}@`));
  if (own.length === 0) return undefined;
  const snapshots = await zfs('list', '-H', '-t', 'snapshot', '-o', 'name', '-s', 'creation', '-r', dataset);
  const newest = snapshots.split('\n').findLast((name) => own.includes(name));
  return origins.get(newest ?? (own[0] as string));
}

const ATTEMPTS = 8;
const PAUSE_MS = 100;

/** A program that has just ended may still hold it. */
async function destroy(dataset: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await zfs('destroy', '-r', dataset);
      return;
    } catch (error) {
      if (tries === ATTEMPTS || !/busy/.test((error as Error).message)) throw error;
    }
    await sleep(PAUSE_MS * tries);
  }
}

/** The empty directory that is left. */
function removeMountPoint(path: string): void {
  attempt(() => rmdirSync(path)); // gone, or not empty: somebody else has put something there
}

function zfs(...args: string[]): Promise<string> {
  return runTool('zfs', args);
}
