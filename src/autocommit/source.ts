/**
 * The folder that a capture reads. Usually that is the session folder itself, in which an agent may work meanwhile. If a
 * provider has frozen it, agt looks in the live folder, whose inodes the kernel knows, for entries that may have changed,
 * and judges and reads those in the frozen one. A frozen folder has nothing of other file systems inside the session
 * folder, so agt reads those live.
 */
import { lstatSync } from 'node:fs';
import { type IsInside, insideCheck, type LinkedEntry } from '../disk/is-inside.ts';
import { systemPath } from '../disk/long-path.ts';
import { mountsIn } from '../disk/mounts.ts';
import { isUnder } from '../snapshot/folders.ts';

/** The content of a session folder at one instant. Nobody can change it. */
export interface FrozenFolder {
  /** Absolute. */
  readonly folder: string;
  /** The file system's clock before that instant, in milliseconds. */
  readonly clock: number;
}

/** Freezes the session folder; the same one, if it is called again. Undefined if that is not possible. */
export type Freeze = () => Promise<FrozenFolder | undefined>;

/** All paths hold one byte per character. */
export class Source {
  readonly isInside: IsInside;
  /** Absolute: the frozen folder, or else the live one. */
  readonly folder: string;
  private readonly live: string;
  private readonly device: number | undefined;
  /** Paths that agt reads live, relative to the session folder. */
  private readonly borders: string[];

  /** `live` and `frozen` are absolute. */
  constructor(live: string, frozen?: string, linked?: LinkedEntry) {
    this.live = latin1(live);
    this.folder = latin1(frozen ?? live);
    const inLive = insideCheck(this.live, linked);
    const inFrozen = frozen === undefined ? inLive : insideCheck(this.folder);
    this.isInside = (fd, path) => (isBelow(path, this.folder) ? inFrozen : inLive)(fd, path);
    this.device = frozen === undefined ? undefined : lstatSync(live).dev;
    const mounts = frozen === undefined ? [] : mountsIn(live).map(latin1);
    this.borders = mounts.flatMap((point) => (isBelow(point, this.live) ? relative(point, this.live) : []));
  }

  /** The absolute path of an entry, relative to the session folder. */
  path(entry: string): string {
    return `${isUnder(entry, this.borders) ? this.live : this.folder}/${entry}`;
  }

  /** To be asked about each directory before its entries: another file system may begin there. Then it is read live. */
  isBorder(directory: string): boolean {
    if (this.device === undefined || isUnder(directory, this.borders)) return false;
    const path = systemPath(`${this.live}/${directory}`);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() !== true || stat.dev === this.device) return false;
    this.borders.push(directory);
    return true;
  }
}

function latin1(path: string): string {
  return Buffer.from(path).toString('latin1');
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

function relative(path: string, folder: string): string {
  return path.slice(folder.length + 1);
}
