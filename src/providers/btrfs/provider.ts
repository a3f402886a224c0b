/** Each session folder is a subvolume: btrfs clones and drops it in milliseconds, whatever it holds. */
import { accessSync, constants, existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../disk/remove-tree.ts';
import { errorCode } from '../../errors.ts';
import type { Provider } from '../provider.ts';
import { runTool } from '../run-tool.ts';
import { carriesNonce, makingPath, markFolder, type Token, tokenAt } from '../token.ts';
import { findBtrfs } from './find.ts';

export const btrfsProvider: Provider = {
  kind: 'btrfs',
  find: findBtrfs,
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
  walk: (directory) => {
    if (!existsSync(directory)) return [];
    const names = readdirSync(directory).map((name) => join(directory, name));
    return names.filter(isSubvolume).flatMap((path) => {
      const token = tokenAt(path);
      return token === undefined ? [] : [{ ...token, path }];
    });
  },
};

async function remove(token: Token, at = token.path): Promise<boolean> {
  const places = [makingPath(token), at].filter((path) => existsSync(path));
  for (const path of places) {
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
