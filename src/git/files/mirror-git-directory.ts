/**
 * Keeps a copy of a git directory, and brings a deleted one back. Objects are hard links, which cost no space: they never
 * change. Everything else is a copy of its last state. Paths hold one byte per character.
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { type Entry, entriesOf } from '../../disk/folder-entries.ts';
import { systemPath } from '../../disk/long-path.ts';
import { errorCode } from '../../errors.ts';

/** The file of a copy that names the git directory which it was made of. */
export const KEPT_OF = 'agt-kept-of';

/** Data of agt in the repository that only this machine and this moment need. */
const PASSING = /^agt\/(bin|front|frozen|locks|mounts|refs|scan|scratch|slow|template)$/;

/** Files that git makes again, that are half-written, or that belong to a process. */
const OF_A_MOMENT = /(\.lock|\.agt-.*\.tmp|\.agt-half)$|^(tmp_|agt-index-|fsmonitor--daemon|gc\.pid$)/;

/** git makes these again from the objects, and replaces them under the same name. */
const FROM_OBJECTS = /^(multi-pack-index.*|commit-graph.*|packs)$/;

/** Directories with data that no other copy has. They stay, whatever the git directory loses. */
const STAYING: readonly string[] = ['objects', 'lfs', 'annex', 'modules'];

/** A directory that may have changed in the clock tick of the look has to be looked at again. */
const TICK_MS = 2_000;

/**
 * Brings `to` to the state of `from`; `to` loses no object. Where no link can be made, an object file of more than `largest`
 * bytes is left out: on another file system, or of another user. Returns those.
 */
export function keepGitDirectory(from: string, to: string, largest = Number.POSITIVE_INFINITY): string[] {
  const way: Way = { isBack: false, largest, left: [] };
  mkdirSync(dirname(to), { recursive: true });
  mirror(bytes(from), bytes(to), '', way);
  return way.left;
}

const back = (): Way => ({ isBack: true, largest: Number.POSITIVE_INFINITY, left: [] });

/** Gives the repository at `to` the objects of the kept one that it lacks. */
export function bringObjects(kept: string, to: string): void {
  mirror(`${bytes(kept)}/objects`, `${bytes(to)}/objects`, 'objects', back());
}

/** git takes it for none until it has its HEAD, which comes last. */
export function bringGitDirectory(kept: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  mirror(bytes(kept), bytes(to), '', back());
  failurePoint('git directory: all but HEAD is back');
  copyFile(`${bytes(kept)}/HEAD`, `${bytes(to)}/HEAD`, false, back());
}

const bytes = (path: string) => Buffer.from(path).toString('latin1');

interface Way {
  /** From the copy to the git directory. */
  readonly isBack: boolean;
  readonly largest: number;
  readonly left: string[];
}

/** `path` is relative to the git directory. */
function mirror(from: string, to: string, path: string, way: Way): void {
  const { isBack } = way;
  const isObjects = /(^|\/)objects(\/|$)/.test(path) && !/(^|\/)(refs|logs)(\/|$)/.test(path);
  const stat = lstatSync(systemPath(from));
  const there = lstat(to);
  if (there === undefined) {
    mkdirSync(systemPath(to));
    chmodSync(systemPath(to), stat.mode & 0o7777);
  } else if (!isBack && isObjects && LOOSE_OR_PACKS.test(path) && isSameTime(there, stat)) return;
  const entries = entriesOf(from);
  for (const entry of entries.toSorted(packsLast)) {
    const { name } = entry;
    const inside = path === '' ? name : `${path}/${name}`;
    if (isBack && (inside === 'HEAD' || inside === KEPT_OF)) continue;
    if (OF_A_MOMENT.test(name) || PASSING.test(inside) || (isObjects && FROM_OBJECTS.test(name))) continue;
    const [source, target] = [`${from}/${name}`, `${to}/${name}`];
    passing(() => {
      if (entry.isDirectory()) {
        if (lstat(target)?.isDirectory() === false) rmSync(systemPath(target));
        mirror(source, target, inside, way);
      } else if (entry.isSymbolicLink()) copyLink(source, target);
      else if (entry.isFile()) copyFile(source, target, isObjects, way);
    });
  }
  if (!isObjects && !isBack) removeGone(entries, to);
  // A `git gc` replaces packs meanwhile.
  if (isObjects && lstatSync(systemPath(from)).mtimeMs !== stat.mtimeMs) mirror(from, to, path, way);
  else if (isObjects && !isBack && Date.now() - stat.mtimeMs > TICK_MS) setTimes(to, stat);
}

/** A new object gives such a directory another time, in the git directory itself and in that of a submodule. */
const LOOSE_OR_PACKS = /(^|\/)objects\/([0-9a-f]{2}|pack)$/;

/** git deletes a loose object after it has a pack with it. */
function packsLast(a: Entry, b: Entry): number {
  return Number(a.name === 'pack') - Number(b.name === 'pack');
}

function lstat(path: string): Stats | undefined {
  return lstatSync(systemPath(path), { throwIfNoEntry: false });
}

function setTimes(path: string, { atimeMs, mtimeMs }: Stats): void {
  utimesSync(systemPath(path), atimeMs / 1000, mtimeMs / 1000);
}

/** git works on. */
function passing(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function copyLink(source: string, target: string): void {
  const read = (path: string) => readlinkSync(systemPath(path), 'buffer');
  const text = read(source);
  if (lstat(target)?.isSymbolicLink() && read(target).equals(text)) return;
  rmSync(systemPath(target), { recursive: true, force: true });
  symlinkSync(text, systemPath(target));
}

function copyFile(source: string, target: string, isObject: boolean, { largest, left }: Way): void {
  const found = lstat(target);
  if (isObject && (found !== undefined || isLinked(source, target))) return;
  const stat = lstatSync(systemPath(source));
  if (found !== undefined && isSame(stat, found)) return;
  if (isObject && stat.size > largest) {
    left.push(Buffer.from(source, 'latin1').toString());
    return;
  }
  // After a kill the next mirror writes it again.
  const half = `${target}.agt-half`;
  rmSync(systemPath(half), { force: true });
  copyFileSync(systemPath(source), systemPath(half), constants.COPYFILE_FICLONE);
  setTimes(half, stat);
  if (found?.isDirectory()) rmSync(systemPath(target), { recursive: true });
  renameSync(systemPath(half), systemPath(target));
}

/** False if no link can be made: on another file system, to a file of another user, or one with too many links. */
function isLinked(source: string, target: string): boolean {
  try {
    linkSync(systemPath(source), systemPath(target));
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return true;
    if (['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EACCES'].includes(code)) return false;
    throw error;
  }
}

function isSame(a: Stats, b: Stats): boolean {
  return b.isFile() && a.size === b.size && isSameTime(a, b);
}

/** utimes(2) rounds. */
function isSameTime(a: Stats, b: Stats): boolean {
  return Math.abs(a.mtimeMs - b.mtimeMs) < 0.01;
}

function removeGone(entries: readonly Entry[], to: string): void {
  const names = new Set(entries.map(({ name }) => name));
  for (const { name } of entriesOf(to))
    if (!names.has(name) && !STAYING.includes(name) && name !== KEPT_OF)
      rmSync(systemPath(`${to}/${name}`), { recursive: true, force: true });
}
