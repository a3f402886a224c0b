/**
 * overlayfs, as root: each session folder is a mount of two layers. The first session of a repository is an ordinary folder;
 * it becomes the template of all others, and goes on above it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError } from '../../errors.ts';
import type { Provider } from '../provider.ts';
import { carriesNonce, makingPath, markFolder, type Token, tokenAt } from '../token.ts';
import { findOverlay } from './find.ts';
import {
  bindFolder,
  dropTemplate,
  dropUser,
  isDropped,
  isMounted,
  type Layers,
  layersOf,
  lowerOf,
  makeLayers,
  mountLayers,
  remount,
  removeIfEmpty,
  unmountLayers,
} from './layers.ts';

export const overlayProvider: Provider = {
  kind: 'overlay',
  mounts: true,
  find: findOverlay,
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
  walk,
};

async function prepare(token: Token, from?: string): Promise<void> {
  const making = makingPath(token);
  mkdirSync(making, { recursive: true });
  if (from !== undefined) {
    const layers = layersOf(token, token.path);
    const source = isTemplate(from) ? undefined : sourceLayers(from);
    makeLayers(layers, source === undefined ? from : lowerOf(source, from));
    if (source !== undefined) copyLayer(source.upper, layers.upper);
    mountLayers(token, token.path, making);
  }
  markFolder(making, token);
}

/** @throws AgtError if the folder is an ordinary one: agt copies its files then */
function sourceLayers(folder: string): Layers {
  const token = tokenAt(folder);
  if (token === undefined || !isMounted(token, folder)) throw new AgtError(`${folder} is no mounted overlay`);
  return layersOf(token, folder);
}

/** With the attributes and devices by which overlayfs marks what is gone or has moved. */
function copyLayer(from: string, to: string): void {
  execFileSync('cp', ['-a', '--reflink=auto', '-T', from, to], { stdio: ['ignore', 'ignore', 'pipe'] });
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
  const lower = existsSync(layers.name) ? lowerOf(layers, at) : undefined;
  for (const path of [makingPath(token), at]) {
    if (isMounted(token, path)) unmountLayers(path);
    if (!existsSync(path)) continue;
    if (carriesNonce(path, token)) removeTree(path);
    else if (lower !== undefined && readdirSync(path).length === 0) rmdirSync(path);
    else return false;
  }
  if (existsSync(layers.data)) removeTree(layers.data);
  if (lower !== undefined) dropUser(lower, token.nonce);
  removeIfEmpty(dirname(layers.data));
  return true;
}

function isTemplate(path: string): boolean {
  return /^template-[0-9a-f]{16}$/.test(basename(path));
}

/** A template has the mark of the session that it was made of, so its name counts. */
function walk(directory: string): Token[] {
  if (!existsSync(directory)) return [];
  const paths = readdirSync(directory).map((name) => join(directory, name));
  return paths.flatMap((path): Token[] => {
    const token = tokenAt(path);
    if (token?.kind !== 'overlay' || isDropped(path)) return [];
    return [{ ...token, path, nonce: isTemplate(path) ? path.slice(-16) : token.nonce }];
  });
}
