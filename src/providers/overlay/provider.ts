/**
 * overlayfs, as root: each session folder is a mount of two layers. The first session of a repository is an ordinary folder;
 * it becomes the template of all others, and goes on above it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync } from 'node:fs';
import { failurePoint } from '../../disk/failure-point.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError, attempt } from '../../errors.ts';
import {
  butOn,
  cannot,
  type Finding,
  type Place,
  type Provider,
  refuseUnwritable,
  runTool,
} from '../provider.ts';
import { carriesNonce, frozenName, makingPath, markFolder, type Token, tokenAt, tokensIn } from '../token.ts';
import {
  bindFolder,
  dropTemplate,
  isDropped,
  isMounted,
  type Layers,
  layersOf,
  lowerOf,
  makeLayers,
  mountLayers,
  remount,
  removeLayers,
  unmountLayers,
} from './layers.ts';

export const overlayProvider: Provider = {
  kind: 'overlay',
  mounts: true,
  find,
  prepare,
  settle: async (token) => {
    const making = makingPath(token);
    if (!isMounted(token, making)) return renameSync(making, token.path);
    mkdirSync(token.path);
    bindFolder(making, token.path);
    failurePoint('overlay: bound');
    unmountLayers(making);
    rmdirSync(making);
  },
  freeze,
  close: async (folder, isClosed) => {
    const token = tokenAt(folder);
    if (token !== undefined && isMounted(token, folder)) remount(folder, isClosed);
  },
  // `rm -rf` may delete the upper layer and leave the mount, which shows the lower one then.
  holds: (path, token) =>
    existsSync(path) &&
    carriesNonce(path, token) &&
    (existsSync(layersOf(token, token.path).upper) || !isMounted(token, path)),
  isMounted: (token) => [makingPath(token), token.path].some((path) => isMounted(token, path)),
  remove,
  walk: (directory) => tokensIn('overlay', directory, (path) => !isDropped(path)),
};

/** f_type of statfs(2): of ext4, xfs and tmpfs. */
const TYPES: readonly (number | undefined)[] = [0xef53, 0x58465342, 0x01021994];

/** Less than git's: a session has to be mounted again after each restart of the system, so nobody gets it unasked. */
const SCORE = 40;

function find(place: Place): Finding {
  const { existing, fileSystem, isRoot } = place;
  if (!TYPES.includes(fileSystem))
    return cannot('overlay', `${existing} is not on ext4 or xfs${butOn(place)}`);
  if (!isRoot) return cannot('overlay', 'only root can mount an overlay');
  if (!hasOverlay())
    return cannot('overlay', 'the kernel has no overlayfs', 'load its module: modprobe overlay');
  const notes = [
    'clones a session in milliseconds; on request only: after a restart of the system, root has to run agt',
  ];
  const unwritable = refuseUnwritable('overlay', place);
  if (unwritable !== undefined) return unwritable;
  return { kind: 'overlay', score: SCORE, clone: true, freeze: false, drop: 'slowly', notes };
}

function hasOverlay(): boolean {
  return attempt(() => /^nodev\toverlay$/m.test(readFileSync('/proc/filesystems', 'utf8'))) ?? false;
}

async function prepare(token: Token, from?: string): Promise<void> {
  const making = makingPath(token);
  mkdirSync(making, { recursive: true });
  if (from !== undefined) {
    const layers = layersOf(token, token.path);
    if (isTemplate(from)) makeLayers(layers, from);
    else await copyLayers(from, layers);
    mountLayers(token, token.path, making);
  }
  markFolder(making, token);
}

/** @throws AgtError if the folder is an ordinary one: agt copies its files then */
async function copyLayers(folder: string, copy: Layers): Promise<void> {
  const token = tokenAt(folder);
  const source = token !== undefined && isMounted(token, folder) ? layersOf(token, folder) : undefined;
  const lower = source && lowerOf(source, folder);
  if (source === undefined || lower === undefined) throw new AgtError(`${folder} is no mounted overlay`);
  makeLayers(copy, lower);
  // With the attributes and devices by which overlayfs marks what is gone or has moved.
  await runTool('cp', ['-a', '--reflink=auto', '-T', source.upper, copy.upper]);
}

/** The folder of a session in which nobody has worked yet becomes the template, and then the lower layer of that session. */
async function freeze(folder: string, token: Token): Promise<void> {
  const own = tokenAt(folder);
  if (own === undefined || isMounted(own, folder))
    throw new AgtError(`${folder} has a layer of its own; only an ordinary folder becomes a template`);
  const layers = layersOf(own, folder);
  makeLayers(layers, token.path);
  renameSync(folder, token.path);
  mkdirSync(folder);
  mountLayers(own, folder);
}

async function remove(token: Token, at = token.path): Promise<boolean> {
  if (isTemplate(token.path)) {
    dropTemplate(token.path);
    return true;
  }
  const layers = layersOf(token, at);
  const lower = lowerOf(layers, at);
  for (const path of [makingPath(token), at]) {
    if (isMounted(token, path)) unmountLayers(path);
    if (!existsSync(path)) continue;
    if (carriesNonce(path, token)) removeTree(path);
    else if (lower !== undefined && readdirSync(path).length === 0) rmdirSync(path);
    else return false;
  }
  removeLayers(layers, lower);
  return true;
}

function isTemplate(path: string): boolean {
  return frozenName(path)?.isMoment === false;
}
