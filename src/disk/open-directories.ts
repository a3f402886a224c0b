/**
 * Reaches the files of a folder through directories that are open, so that nobody can lead agt elsewhere by replacing
 * a directory with a link: a system call gets `/proc/self/fd/N/name`. Without /proc, agt looks at all directories on
 * the way before each call. Paths are relative to the folder and hold one byte per character.
 */
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';
import { systemPath } from './long-path.ts';
import { parentPath } from './path-bytes.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
/** Opens what may not be read. Node does not name this flag. */
const O_PATH = process.platform === 'linux' ? 0o10000000 : 0;
const OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_PATH;

/** How many directories stay open. */
const MOST_OPEN = 64;
/** Keep every 40th level open, so that a deep path is reopened in few steps. */
const LANDING = 40;

/** An entry of the folder that is a link, and the directory that it is to lead to. */
export interface LinkedEntry {
  readonly name: string;
  /** Absolute. */
  readonly target: string;
}

interface OpenDirectory {
  readonly fd: number;
  /** Number of directories above it. */
  readonly depth: number;
}

export class OpenDirectories {
  private readonly folder: string;
  private readonly linked: LinkedEntry | undefined;
  private readonly hasProc = existsSync('/proc/self/fd');
  /** By path, the one that was used last at the end. */
  private readonly open = new Map<string, OpenDirectory>();
  /** The one that was used last: mostly the next call needs it again. */
  private last: { readonly path: string; readonly opened: OpenDirectory } | undefined;

  /** `folder` is absolute. `linked`: the only link to follow, and only to that target. */
  constructor(folder: string, linked?: LinkedEntry) {
    this.folder = folder;
    this.linked = linked;
  }

  /** A path for the next system call. @throws ENOENT or ENOTDIR if a directory on the way is gone, or is none any more. */
  entry(path: string): string | Buffer {
    if (path === this.linked?.name) return systemPath(this.linked.target);
    const parent = parentPath(path);
    const name = path.slice(parent === '' ? 0 : parent.length + 1);
    if (this.hasProc) return systemPath(`/proc/self/fd/${this.directory(parent).fd}/${name}`);
    for (let above = parent; above !== ''; above = parentPath(above)) this.requireDirectory(above);
    return this.pathOf(path);
  }

  /** Undefined if nothing is there. */
  lstat(path: string): Stats | undefined {
    try {
      return lstatSync(this.entry(path), { throwIfNoEntry: false });
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      // For the message: the path of the system call leads through a descriptor.
      const named = Buffer.from(`${this.folder}/${path}`, 'latin1').toString();
      throw Object.assign(error as Error, { path: named });
    }
  }

  /** Calls `action` with a path to this very file, whatever its name leads to meanwhile; not for a link. */
  withItself(path: string, action: (itself: string | Buffer, stat: Stats) => void): void {
    const entry = this.entry(path);
    if (O_PATH === 0 || !this.hasProc) {
      const stat = this.lstat(path);
      if (stat !== undefined && !stat.isSymbolicLink()) action(entry, stat);
      return;
    }
    const fd = openSync(entry, O_PATH | O_NOFOLLOW);
    try {
      const stat = fstatSync(fd);
      if (!stat.isSymbolicLink()) action(`/proc/self/fd/${fd}`, stat);
    } finally {
      closeSync(fd);
    }
  }

  /** To be called when a directory was deleted. */
  forget(path: string): void {
    for (const [known, { fd }] of this.open) {
      if (known !== path && !known.startsWith(`${path}/`)) continue;
      this.open.delete(known);
      closeSync(fd);
    }
    this.last = undefined;
  }

  close(): void {
    for (const { fd } of this.open.values()) closeSync(fd);
    this.open.clear();
    this.last = undefined;
  }

  private directory(path: string): OpenDirectory {
    if (this.last?.path === path) return this.last.opened;
    const known = this.open.get(path);
    const opened = known ?? (path === '' ? this.openTop() : this.openBelow(path));
    if (known !== undefined) this.open.delete(path);
    this.open.set(path, opened);
    this.last = { path, opened };
    if (this.open.size > MOST_OPEN) this.closeOldest();
    return opened;
  }

  private openTop(): OpenDirectory {
    return { fd: openSync(systemPath(this.folder), OPEN_DIRECTORY & ~O_NOFOLLOW), depth: 0 };
  }

  private openBelow(path: string): OpenDirectory {
    const entry = this.entry(path);
    const depth = (this.open.get(parentPath(path))?.depth ?? 0) + 1;
    return { fd: openSync(entry, OPEN_DIRECTORY), depth };
  }

  private closeOldest(): void {
    // Not the last: it is needed now.
    const entries = [...this.open].slice(0, -1);
    const [path, { fd }] = (entries.find(([, { depth }]) => depth % LANDING !== 0) ?? entries[0]) as [
      string,
      OpenDirectory,
    ];
    this.open.delete(path);
    closeSync(fd);
  }

  private pathOf(path: string): string | Buffer {
    return systemPath(`${this.folder}/${path}`);
  }

  private requireDirectory(path: string): void {
    const stat = lstatSync(path === this.linked?.name ? systemPath(this.linked.target) : this.pathOf(path));
    if (!stat.isDirectory())
      throw Object.assign(new Error(`${path} is not a directory`), { code: 'ENOTDIR' });
  }
}

/** Works on the files below `folder`, a path as Node has it, and closes the directories. */
export function withOpenDirectories<T>(folder: string, action: (disk: OpenDirectories) => T): T {
  const disk = new OpenDirectories(Buffer.from(folder).toString('latin1'));
  try {
    return action(disk);
  } finally {
    disk.close();
  }
}

export function withDisk<T>(
  path: string,
  linked: LinkedEntry | undefined,
  action: (disk: OpenDirectories) => T,
): T {
  const disk = new OpenDirectories(path, linked);
  try {
    return action(disk);
  } finally {
    disk.close();
  }
}
