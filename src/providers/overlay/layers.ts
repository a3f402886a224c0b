/**
 * The layers of a session on overlayfs: below, a template that never changes; above, what differs in this session. Beside
 * the session folders, `overlay/<nonce>` has the upper layer, and the name of the lower one. A template counts the sessions
 * that need it, by a file each in `overlay/<template>.users`. Mounts end with the system: `ensureMounted` brings them back.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { listMounts } from '../../disk/mounts.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError } from '../../errors.ts';
import { frozenDirectory } from '../../layout.ts';
import { type Token, tokenAt } from '../token.ts';

export interface Layers {
  /** The directory of all of them. */
  readonly data: string;
  readonly upper: string;
  readonly work: string;
  /** The file with the name of the template. */
  readonly name: string;
}

/** `folder`: the session folder, wherever it is now. */
export function layersOf({ nonce }: Pick<Token, 'nonce'>, folder: string): Layers {
  const data = join(dirname(dirname(folder)), 'overlay', nonce);
  const inIt = (name: string) => join(data, name);
  return { data, upper: inIt('upper'), work: inIt('work'), name: inIt('lower') };
}

/** The template below a session. @throws system errors */
export function lowerOf(layers: Layers, folder: string): string {
  return join(frozenDirectory(dirname(folder)), readFileSync(layers.name, 'utf8').trim());
}

export function makeLayers(layers: Layers, lower: string): void {
  for (const directory of [layers.upper, layers.work]) mkdirSync(directory, { recursive: true });
  writeFileSync(layers.name, `${basename(lower)}\n`);
  addUser(lower, basename(layers.data));
}

/** In the table of mounts, in place of a device. */
function sourceOf({ nonce }: Pick<Token, 'nonce'>): string {
  return `agt-${nonce}`;
}

export function isMounted(token: Pick<Token, 'nonce'>, folder: string): boolean {
  return listMounts().some(
    ({ point, type, source }) => point === folder && type === 'overlay' && source === sourceOf(token),
  );
}

/** Directories can be renamed, and a file keeps its inode number when it comes into the upper layer. */
const OPTIONS = 'redirect_dir=on,index=off,xino=off,metacopy=off';

/** @throws AgtError with the words of mount(8) */
export function mountLayers(token: Pick<Token, 'nonce'>, folder: string, at = folder): void {
  const layers = layersOf(token, folder);
  // Relative paths: a comma or a colon in one would separate options.
  const area = dirname(dirname(folder));
  const relative = (path: string) => path.slice(area.length + 1);
  const lower = lowerOf(layers, folder);
  const paths = { lowerdir: lower, upperdir: layers.upper, workdir: layers.work };
  const named = Object.entries(paths).map(([name, path]) => `${name}=${relative(path)}`);
  const options = [...named, OPTIONS].join(',');
  run('mount', ['-n', '-i', '-t', 'overlay', '-o', options, sourceOf(token), at], area);
}

export function remount(folder: string, isReadOnly: boolean): void {
  run('mount', ['-n', '-i', '-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, folder], '/');
}

/** The same mount at a second place. The kernel flushes the whole disk when the last one goes, so it should stay mounted. */
export function bindFolder(folder: string, place: string): void {
  run('mount', ['-n', '-i', '--bind', folder, place], '/');
}

/** A program that is in it keeps a mount that nobody else sees. */
export function unmountLayers(folder: string): void {
  try {
    run('umount', ['-n', '-i', folder], '/');
  } catch {
    run('umount', ['-n', '-i', '-l', folder], '/');
  }
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  if (status === 0) return;
  const reason = error?.message ?? stderr.toString().trim().split('\n')[0] ?? `exit code ${status}`;
  throw new AgtError(`${program}(8) failed: ${reason}`);
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

function usersOf(template: string): string {
  return join(dirname(dirname(template)), 'overlay', `${basename(template)}.users`);
}

const DROPPED = 'dropped';

function addUser(template: string, nonce: string): void {
  mkdirSync(usersOf(template), { recursive: true });
  writeFileSync(join(usersOf(template), nonce), '');
}

/** Whether sessions need the template. */
function hasUsers(template: string): boolean {
  const directory = usersOf(template);
  return existsSync(directory) && readdirSync(directory).some((name) => name !== DROPPED);
}

/** The last session takes a template along that nothing else needs. */
export function dropUser(template: string, nonce: string): void {
  rmSync(join(usersOf(template), nonce), { force: true });
  if (existsSync(join(usersOf(template), DROPPED)) && !hasUsers(template)) dropTemplate(template);
}

/** Removes a template, or leaves that to the last session that needs it. */
export function dropTemplate(template: string): void {
  if (hasUsers(template)) writeFileSync(join(usersOf(template), DROPPED), '');
  else for (const path of [template, usersOf(template)]) removeTree(path);
  removeIfEmpty(dirname(usersOf(template)));
}

export function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // other sessions have layers there
  }
}

/** Nobody needs it any more as a template. */
export function isDropped(template: string): boolean {
  return existsSync(join(usersOf(template), DROPPED));
}
