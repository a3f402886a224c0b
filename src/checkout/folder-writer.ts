/**
 * Changes single paths of a session folder. It writes each file under a temporary name and renames it, so that a file is
 * never half written. It follows no link, also if a directory becomes one meanwhile. It replaces and deletes only files
 * that are still as they were captured. If a directory is read-only, it becomes writable for as long as agt works.
 */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  lutimesSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { flush } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { type LinkedEntry, OpenDirectories } from '../disk/open-directories.ts';
import { parentPath } from '../disk/path-bytes.ts';
import { attempt, errorCode } from '../errors.ts';
import { parentDirectories } from '../snapshot/tree.ts';
import { allowedBits, givesRights, giveTo, type Owner, openGiveTo, ownerOf } from './owner.ts';
import type { FileToWrite } from './plan.ts';

export interface TargetFolder {
  /** Absolute, one byte per character. */
  readonly path: string;
  /** The sandbox, if it is a link to an attached folder. */
  readonly linked?: LinkedEntry | undefined;
  /** Whether a file is still as it was captured. */
  readonly isCaptured: (path: string, stat: Stats) => boolean;
  /** The mtime for a file that agt writes, in seconds; undefined for the current time. */
  readonly mtimeOf?: ((path: string) => number | undefined) | undefined;
  /** Each file is flushed to disk before it gets its name: agt deletes the only other note of it afterwards. */
  readonly durable?: true;
}

/** Another process changed a file since the last capture. */
export class ConcurrentChange extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} was changed by another process`);
    this.path = path;
  }
}

/** Paths are relative to the session folder, one byte per character. Every method throws ConcurrentChange and system errors. */
export class FolderWriter {
  /** Files that got fewer permissions than the snapshot has, with the reason. */
  readonly limited: { path: string; reason: string }[] = [];
  private readonly folder: TargetFolder;
  private readonly owners: ReadonlyMap<string, Owner>;
  private readonly disk: OpenDirectories;
  /** Directories that are writable. */
  private readonly checked = new Set<string>();
  private readonly made = new Set<string>();
  /** By directory. */
  private readonly ownersOfNew = new Map<string, Owner | undefined>();
  /** The permission bits that directories had before they were made writable. */
  private readonly unlocked = new Map<string, number>();

  /** `owners`: of files with a set-user-ID or set-group-ID bit. */
  constructor(folder: TargetFolder, owners: ReadonlyMap<string, Owner>) {
    this.folder = folder;
    this.owners = owners;
    this.disk = new OpenDirectories(folder.path, folder.linked);
  }

  removeFile(path: string): void {
    const stat = this.disk.lstat(path);
    if (stat === undefined) return;
    if (!this.folder.isCaptured(path, stat)) throw new ConcurrentChange(path);
    this.prepareParents(path);
    unlinkSync(this.disk.entry(path));
  }

  removeIfEmpty(path: string): void {
    if (this.disk.lstat(path)?.isDirectory() !== true) return;
    this.prepareParents(path);
    this.disk.forget(path);
    try {
      rmdirSync(this.disk.entry(path));
    } catch (error) {
      // It holds a file that was never captured.
      if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) throw error;
    }
  }

  makeDirectory(path: string): void {
    const stat = this.disk.lstat(path);
    if (stat?.isDirectory()) return;
    if (stat !== undefined) throw new ConcurrentChange(path);
    this.prepareParents(path);
    mkdirSync(this.disk.entry(path), 0o700);
    this.checked.add(path);
    this.made.add(path);
    giveTo(this.disk.entry(path), this.ownerOfNew(path));
  }

  async write(file: FileToWrite, chunks: AsyncGenerator<Buffer>): Promise<void> {
    const { path, kind, isNew } = file;
    const stat = this.disk.lstat(path);
    if (stat !== undefined && (isNew || !this.folder.isCaptured(path, stat)))
      throw new ConcurrentChange(path);
    this.prepareParents(path);
    const owner = stat === undefined ? this.ownerOfNew(path) : stat;
    const temporary = temporaryBeside(path);
    try {
      if (kind === 'link') await this.writeLink(temporary, chunks, owner, path);
      else await this.writeFile(temporary, chunks, owner, file);
      failurePoint('checkout: file written');
      renameSync(this.disk.entry(temporary), this.disk.entry(path));
      failurePoint('checkout: file in place');
    } catch (error) {
      this.removeTemporary(temporary);
      throw error;
    }
  }

  setBits(path: string, bits: number): void {
    this.disk.withItself(path, (itself, stat) => {
      this.unlocked.delete(path);
      const allowed = this.limit(path, bits, () => stat);
      if (stat.isFile() && stat.nlink > 1) this.separate(path, itself, stat, allowed);
      else chmodSync(itself, allowed);
    });
  }

  /** Another name of the same file may be a private one that nobody asked to open. */
  private separate(path: string, itself: string | Buffer, stat: Stats, bits: number): void {
    this.prepareParents(path);
    const temporary = temporaryBeside(path);
    this.removeTemporary(temporary);
    const copy = () => this.disk.entry(temporary);
    try {
      copyFileSync(itself, copy(), constants.COPYFILE_EXCL);
      if (this.folder.durable) flush(copy());
      giveTo(copy(), stat);
      chmodSync(copy(), bits);
      utimesSync(copy(), stat.atimeMs / 1000, stat.mtimeMs / 1000);
      const now = this.disk.lstat(path);
      if (now?.mtimeMs !== stat.mtimeMs || now.size !== stat.size) throw new ConcurrentChange(path);
      renameSync(copy(), this.disk.entry(path));
    } catch (error) {
      this.removeTemporary(temporary);
      throw error;
    }
  }

  /** Sets the permission bits of directories, deepest first: in a read-only directory it could set no others. */
  lastSteps(bits: ReadonlyMap<string, number>): [path: string, step: () => void][] {
    const final = [
      ...[...this.made].map((path): [string, number] => [path, bits.get(path) ?? 0o755]),
      ...this.unlocked,
    ];
    return final.reverse().map(([path, mode]) => [path, () => this.setDirectoryBits(path, mode)]);
  }

  close(): void {
    this.disk.close();
  }

  private setDirectoryBits(path: string, bits: number): void {
    if (this.disk.lstat(path)?.isDirectory() !== true) return;
    this.disk.withItself(path, (itself, stat) => {
      if (stat.isDirectory()) chmodSync(itself, bits);
    });
  }

  /** Makes sure that all directories above `path` are directories and not links, and that they are writable. */
  private prepareParents(path: string): void {
    for (const directory of parentDirectories(path).reverse()) {
      if (this.checked.has(directory)) continue;
      const stat = this.disk.lstat(directory);
      if (stat?.isDirectory() !== true) throw new ConcurrentChange(directory);
      const bits = stat.mode & 0o7777;
      if ((bits & 0o300) !== 0o300) {
        this.disk.withItself(directory, (itself) => chmodSync(itself, bits | 0o700));
        this.unlocked.set(directory, bits);
      }
      this.checked.add(directory);
    }
  }

  private async writeFile(
    temporary: string,
    chunks: AsyncGenerator<Buffer>,
    owner: Owner | undefined,
    { path, bits }: FileToWrite,
  ): Promise<void> {
    const fd = this.openTemporary(temporary);
    try {
      for await (const chunk of chunks) writeAll(fd, chunk);
      openGiveTo(fd, owner);
      fchmodSync(
        fd,
        this.limit(path, bits, () => fstatSync(fd)),
      );
      const mtime = this.folder.mtimeOf?.(path);
      if (mtime !== undefined) futimesSync(fd, mtime, mtime);
      if (this.folder.durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  private async writeLink(
    temporary: string,
    chunks: AsyncGenerator<Buffer>,
    owner: Owner | undefined,
    path: string,
  ): Promise<void> {
    const parts: Buffer[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    this.removeTemporary(temporary);
    symlinkSync(Buffer.concat(parts), this.disk.entry(temporary));
    giveTo(this.disk.entry(temporary), owner);
    const mtime = this.folder.mtimeOf?.(path);
    if (mtime !== undefined) lutimesSync(this.disk.entry(temporary), mtime, mtime);
  }

  private openTemporary(temporary: string): number {
    const open = () => openSync(this.disk.entry(temporary), 'wx', 0o600);
    try {
      return open();
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    this.removeTemporary(temporary);
    return open();
  }

  private removeTemporary(temporary: string): void {
    // There is none, or it cannot be removed: then the next step fails.
    attempt(() => unlinkSync(this.disk.entry(temporary)));
  }

  /** Leaves off set-user-ID and set-group-ID if they would give somebody more rights than the file gave. */
  private limit(path: string, bits: number, stat: () => Stats): number {
    if (!givesRights(bits)) return bits;
    const allowed = allowedBits(bits, stat(), this.owners.get(path));
    const reason = 'its set-user-ID or set-group-ID bit was left off, because it has not the same owner';
    if (allowed !== bits) this.limited.push({ path, reason });
    return allowed;
  }

  /** The owner of a path that root makes; undefined for everybody else, whose it is. */
  private ownerOfNew(path: string): Owner | undefined {
    const parent = parentPath(path);
    if (!this.ownersOfNew.has(parent))
      this.ownersOfNew.set(
        parent,
        ownerOf(() => this.disk.lstat(parent === '' ? '.' : parent)),
      );
    return this.ownersOfNew.get(parent);
  }
}

function temporaryBeside(path: string): string {
  const parent = parentPath(path);
  return `${parent === '' ? '' : `${parent}/`}.agt-${process.pid}.tmp`;
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}
