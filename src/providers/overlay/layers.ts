/**
 * The layers of a session on overlayfs: below, a template that never changes; above, what differs in this session. Beside
 * the session folders, `overlay/<nonce>` has the upper layer, and the name of the lower one. A template stays as long as
 * the layers of a session name it. Mounts end with the system: `ensureMounted` brings them back.
 */
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { listMounts } from '../../disk/mounts.ts';
import { readIfThere } from '../../disk/read-file.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError, attempt } from '../../errors.ts';
import { frozenDirectory } from '../../layout.ts';
import { runToolNow } from '../provider.ts';
import { type Token, tokenAt } from '../token.ts';

export type Layers = Readonly<ReturnType<typeof layersOf>>;

/** `folder`: the session folder, wherever it is now, or a template. */
function layersDirectory(folder: string): string {
  return join(dirname(dirname(folder)), 'overlay');
}

/** `data`: the directory of all of them. `name`: the file with the name of the template. */
export function layersOf({ nonce }: Token, folder: string) {
  const data = join(layersDirectory(folder), nonce);
  const inIt = (name: string) => join(data, name);
  return { data, upper: inIt('upper'), work: inIt('work'), name: inIt('lower') };
}

/** The template below a session; undefined if it has no layers. */
export function lowerOf({ name }: Layers, folder: string): string | undefined {
  const lower = readIfThere(name).trim();
  return lower === '' ? undefined : join(frozenDirectory(dirname(folder)), lower);
}

export function makeLayers(layers: Layers, lower: string): void {
  for (const directory of [layers.upper, layers.work]) mkdirSync(directory, { recursive: true });
  writeFileSync(layers.name, `${basename(lower)}\n`);
}

/** In the table of mounts, in place of a device. */
function sourceOf({ nonce }: Token): string {
  return `agt-${nonce}`;
}

export function isMounted(token: Token, folder: string): boolean {
  return listMounts().some(
    ({ point, type, source }) => point === folder && type === 'overlay' && source === sourceOf(token),
  );
}

/** Directories can be renamed, and a file keeps its inode number when it comes into the upper layer. */
const OPTIONS = 'redirect_dir=on,index=off,xino=off,metacopy=off';

/** @throws AgtError with the words of mount(8) */
export function mountLayers(token: Token, folder: string, at = folder): void {
  const layers = layersOf(token, folder);
  // Relative paths: a comma or a colon in one would separate options.
  const area = dirname(dirname(folder));
  const paths = { lowerdir: lowerOf(layers, folder), upperdir: layers.upper, workdir: layers.work };
  const named = Object.entries(paths).map(([name, path]) => `${name}=${path?.slice(area.length + 1)}`);
  const options = [...named, OPTIONS].join(',');
  runToolNow('mount', ['-t', 'overlay', '-n', '-i', '-o', options, sourceOf(token), at], { cwd: area });
}

export function remount(folder: string, isReadOnly: boolean): void {
  runToolNow('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, '-n', '-i', folder]);
}

/** The same mount at a second place. The kernel flushes the whole disk when the last one goes, so it should stay mounted. */
export function bindFolder(folder: string, place: string): void {
  runToolNow('mount', ['--bind', '-n', '-i', folder, place]);
}

/** A program that is in it keeps a mount that nobody else sees. */
export function unmountLayers(folder: string): void {
  try {
    runToolNow('umount', ['-n', '-i', folder]);
  } catch {
    runToolNow('umount', ['-n', '-i', '-l', folder]);
  }
}

/**
 * Mounts the layers of a session again, after a restart of the system. @throws AgtError if that is not possible: the work
 * of the session is in the upper layer, and nothing must come in its place
 */
export function ensureMounted(token: Token, folder: string): void {
  const layers = layersOf(token, folder);
  if (token.kind !== 'overlay' || !existsSync(layers.name) || isMounted(token, folder)) return;
  // A copy of the whole area has the files in the folder itself.
  if (tokenAt(folder)?.nonce === token.nonce) return;
  const cannot = (reason: string, hint: string) =>
    new AgtError(`the session folder ${folder} is not mounted: ${reason}`, {
      hints: [hint, `the work of the session is in ${layers.upper}`],
    });
  if (!existsSync(folder)) throw cannot('it is gone', `make it again: mkdir ${folder}`);
  const [other] = readdirSync(folder);
  if (other !== undefined)
    throw cannot(`there are other files, such as ${other}`, 'move them away, then try again');
  if (process.geteuid?.() !== 0) throw cannot('only root can mount it', 'run any agt command on it as root');
  try {
    mountLayers(token, folder);
  } catch (error) {
    throw cannot((error as Error).message, 'remove the cause, then try again');
  }
}

const DROPPED = '.dropped';

/** A file beside the layers: nobody needs the template any more as a template. */
function droppedMark(template: string): string {
  return join(layersDirectory(template), basename(template) + DROPPED);
}

export function isDropped(template: string): boolean {
  return existsSync(droppedMark(template));
}

/** Whether sessions need the template. One whose file cannot be read may. */
function hasUsers(template: string): boolean {
  const directory = layersDirectory(template);
  if (!existsSync(directory)) return false;
  const nonces = readdirSync(directory).filter((name) => !name.endsWith(DROPPED));
  const lowers = nonces.map((nonce) => readIfThere(join(directory, nonce, 'lower')).trim());
  return lowers.some((lower) => lower === '' || lower === basename(template));
}

/** Removes the layers of a session. The last session takes a template along that nothing else needs. */
export function removeLayers({ data }: Layers, lower: string | undefined): void {
  if (existsSync(data)) removeTree(data);
  if (lower !== undefined && isDropped(lower) && !hasUsers(lower)) dropTemplate(lower);
  removeIfEmpty(dirname(data));
}

/** Removes a template, or leaves that to the last session that needs it. */
export function dropTemplate(template: string): void {
  if (hasUsers(template)) writeFileSync(droppedMark(template), '');
  else for (const path of [template, droppedMark(template)]) removeTree(path);
  removeIfEmpty(layersDirectory(template));
}

function removeIfEmpty(directory: string): void {
  attempt(() => rmdirSync(directory)); // other sessions may have layers there
}
