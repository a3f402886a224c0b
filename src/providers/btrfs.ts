/** Each session folder is a subvolume: btrfs clones and drops it in milliseconds, whatever it holds. */
import { accessSync, constants, existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { removeTree } from '../disk/remove-tree.ts';
import { attempt, errorCode } from '../errors.ts';
import {
  butOn,
  cannot,
  type Finding,
  type Place,
  type Provider,
  refuseUnwritable,
  runTool,
} from './provider.ts';
import { carriesNonce, makingPath, markFolder, type Token, tokensIn } from './token.ts';

export const btrfsProvider: Provider = {
  kind: 'btrfs',
  find,
  prepare: async (token, from) => {
    const making = makingPath(token);
    await subvolume(from === undefined ? ['create', making] : ['snapshot', from, making]);
    markFolder(making, token);
  },
  // The mark is in the folder that is kept, so the name carries the nonce.
  freeze: async (folder, token) => {
    await subvolume(['snapshot', '-r', folder, token.path]);
  },
  isFrozen: isReadOnly,
  close: async (folder, isClosed) => {
    if (isSubvolume(folder)) await setReadOnly(folder, isClosed);
  },
  remove,
  walk: (directory) => tokensIn('btrfs', directory, isSubvolume),
};

/** BTRFS_SUPER_MAGIC of statfs(2). */
const BTRFS = 0x9123683e;
/** Without the right to drop a subvolume at once, agt deletes its files one by one. */
const SCORES = { dropsAtOnce: 80, dropsSlowly: 60 };

function find(place: Place): Finding {
  const { existing, fileSystem, mount, isRoot, program } = place;
  if (fileSystem !== BTRFS) return cannot('btrfs', `${existing} is not on btrfs${butOn(place)}`);
  if (program('btrfs') === undefined)
    return cannot('btrfs', 'there is no btrfs program on PATH', 'install the package btrfs-progs');
  const unwritable = refuseUnwritable('btrfs', place);
  if (unwritable !== undefined) return unwritable;
  const quotas = hasQuotas(mount?.source)
    ? ['quotas are on: with many snapshots they make btrfs slow (turn them off: btrfs quota disable)']
    : [];
  const common = { kind: 'btrfs', clone: true } as const;
  if (isRoot || mount?.options.includes('user_subvol_rm_allowed') === true) {
    const notes = ['clones and drops a session in milliseconds', ...quotas];
    return { ...common, score: SCORES.dropsAtOnce, freeze: true, drop: 'at once', notes };
  }
  const notes = ['clones a session in milliseconds; drops it file by file', ...quotas];
  const hint = 'mount it with the option user_subvol_rm_allowed';
  return { ...common, score: SCORES.dropsSlowly, freeze: false, drop: 'slowly', notes, hint };
}

const SYSFS = '/sys/fs/btrfs';

/** The kernel lists quota groups for each file system since 5.9. */
function hasQuotas(device: string | undefined): boolean {
  if (device === undefined) return false;
  const has = (id: string, ...path: string[]) => existsSync(join(SYSFS, id, ...path));
  const fileSystems = attempt(() => readdirSync(SYSFS)) ?? [];
  return fileSystems.some((id) => has(id, 'devices', basename(device)) && has(id, 'qgroups'));
}

async function remove(token: Token, at = token.path): Promise<boolean> {
  for (const path of [makingPath(token), at].filter((path) => existsSync(path))) {
    if (!carriesNonce(path, token)) return false;
    if (isSubvolume(path)) await drop(path);
    else removeTree(path);
  }
  return true;
}

/** A user who may not drop a subvolume may still empty it, and the kernel then lets rmdir(2) remove it. */
async function drop(path: string): Promise<void> {
  try {
    await subvolume(['delete', path]);
  } catch {
    await setReadOnly(path, false);
    removeTree(path);
  }
}

async function setReadOnly(path: string, isReadOnly: boolean): Promise<void> {
  await runTool('btrfs', ['property', 'set', '-ts', path, 'ro', String(isReadOnly)]);
}

/** The kernel asks the subvolume before it looks at permissions, for root as well. */
function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return errorCode(error) === 'EROFS';
  }
}

/** The inode number of the top directory of a subvolume. */
const SUBVOLUME_INODE = 256;

function isSubvolume(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.ino === SUBVOLUME_INODE;
}

function subvolume(args: readonly string[]): Promise<string> {
  return runTool('btrfs', ['subvolume', ...args]);
}
