/**
 * The folder that a capture reads. Usually that is the session folder itself, in which an agent may work meanwhile. If a
 * provider has frozen it, agt looks in the live folder, whose inodes the kernel knows, for entries that may have changed,
 * and judges and reads those in the frozen one. A frozen folder has nothing of other file systems inside the session
 * folder, so agt reads those live. The frozen folder and the mounts of that instant say where they begin: in the live
 * folder anything may have become a link, a mount or a file since.
 */
import { realpathSync, type Stats } from 'node:fs';
import { type IsInside, insideCheck } from '../disk/is-inside.ts';
import { systemPath } from '../disk/long-path.ts';
import type { LinkedEntry } from '../disk/open-directories.ts';
import { attempt } from '../errors.ts';
import { isUnder } from '../snapshot/folders.ts';

/** The content of a session folder at one instant. Nobody can change it. */
export interface FrozenFolder {
  /** Absolute. */
  readonly folder: string;
  /** The file system's clock before that instant, in milliseconds. */
  readonly clock: number;
  /** Where something was mounted in the session folder before that instant. */
  readonly mounts: readonly string[];
}

/** In a snapshot, btrfs has an empty directory with this inode number in the place of a subvolume. */
const SUBVOLUME_INODE = 2;

/** Freezes the session folder; the same one, if it is called again. Undefined if that is not possible. */
export type Freeze = () => Promise<FrozenFolder | undefined>;

/** All paths hold one byte per character. */
export class Source {
  readonly isInside: IsInside;
  /** Absolute: the frozen folder, or else the live one. */
  readonly folder: string;
  private readonly live: string;
  private readonly realLive: string;
  /** Paths that agt reads live, relative to the session folder. */
  private readonly borders: string[] = [];

  /** `live` is absolute. */
  constructor(live: string, frozen?: FrozenFolder, linked?: LinkedEntry) {
    this.live = latin1(live);
    this.folder = latin1(frozen?.folder ?? live);
    const inLive = insideCheck(this.live, linked);
    const inFrozen = frozen === undefined ? inLive : insideCheck(this.folder);
    this.isInside = (fd, path) => (isBelow(path, this.folder) ? inFrozen : inLive)(fd, path);
    this.realLive = frozen === undefined ? this.live : realpathSync.native(live, 'latin1');
    const mounts = (frozen?.mounts ?? []).map(latin1).filter((point) => isBelow(point, this.realLive));
    const inside = mounts.map((point) => point.slice(this.realLive.length + 1));
    this.borders.push(...inside.filter((path) => this.isReal(path)));
  }

  /** The absolute path of an entry, relative to the session folder. */
  path(entry: string): string {
    return `${isUnder(entry, this.borders) ? this.live : this.folder}/${entry}`;
  }

  /** To be asked about each directory before its entries: another file system may begin there. Then it is read live. */
  isBorder(directory: string, { ino }: Pick<Stats, 'ino'>): boolean {
    if (this.folder === this.live || ino !== SUBVOLUME_INODE || isUnder(directory, this.borders))
      return false;
    if (!this.isReal(directory)) return false; // the snapshot has an empty directory there, the next one what came
    this.borders.push(directory);
    return true;
  }

  /** Whether the live folder has the entry, and no link leads there. */
  private isReal(path: string): boolean {
    const real = attempt(() => realpathSync.native(systemPath(`${this.live}/${path}`), 'latin1'));
    return real === `${this.realLive}/${path}`;
  }
}

function latin1(path: string): string {
  return Buffer.from(path).toString('latin1');
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}
