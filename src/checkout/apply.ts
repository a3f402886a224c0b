/**
 * Carries out a plan in a session folder. It writes each file under a temporary name and renames it, so that a file is
 * never half written. It follows no link. It replaces and deletes only files that are still as they were captured. If a
 * directory is read-only, it becomes writable until the plan has been carried out.
 */

import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { failurePoint } from '../disk/failure-point.ts';
import { systemPath } from '../disk/long-path.ts';
import { errorCode } from '../errors.ts';
import { readBlobs } from '../git/objects/cat-file.ts';
import type { Git } from '../git/run/git.ts';
import { parentDirectories } from '../snapshot/directories.ts';
import type { CheckoutPlan, FileToWrite } from './plan.ts';

/** Another process changed a file since the last capture: the caller must capture the folder again first. */
export class ConcurrentChange extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} was changed by another process`);
    this.path = path;
  }
}

export interface TargetFolder {
  /** Absolute, one byte per character. */
  readonly path: string;
  /** Whether a file is still as it was captured. */
  readonly isCaptured: (path: string, stat: Stats) => boolean;
}

/** @throws ConcurrentChange, and system errors. Steps that were done before the error are not undone. */
export async function applyPlan(git: Git, plan: CheckoutPlan, folder: TargetFolder): Promise<void> {
  const writer = new FolderWriter(folder);
  try {
    for (const path of plan.deletions) writer.removeFile(path);
    failurePoint('checkout: files removed');
    for (const path of plan.emptiedDirectories) writer.removeIfEmpty(path);
    for (const path of plan.directories.keys()) writer.makeDirectory(path);
    await readBlobs(
      git,
      plan.writes.map(({ oid }) => oid),
      (index, chunks) => writer.write(plan.writes[index] as FileToWrite, chunks),
    );
    for (const [path, bits] of plan.modes) writer.setBits(path, bits);
  } finally {
    writer.close(plan.directories);
  }
}

/** Paths are relative to the session folder. */
class FolderWriter {
  private readonly folder: TargetFolder;
  /** Paths that are known to be directories. */
  private readonly checked = new Set<string>();
  private readonly made = new Set<string>();
  /** The permission bits that directories had before they were made writable. */
  private readonly unlocked = new Map<string, number>();

  constructor(folder: TargetFolder) {
    this.folder = folder;
  }

  removeFile(path: string): void {
    const stat = this.lstat(path);
    if (stat === undefined) return;
    if (!this.folder.isCaptured(path, stat)) throw new ConcurrentChange(path);
    this.prepareParents(path);
    unlinkSync(this.absolute(path));
  }

  removeIfEmpty(path: string): void {
    if (this.lstat(path)?.isDirectory() !== true) return;
    this.prepareParents(path);
    try {
      rmdirSync(this.absolute(path));
    } catch (error) {
      // It holds a file that was never captured.
      if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) throw error;
    }
  }

  makeDirectory(path: string): void {
    const stat = this.lstat(path);
    if (stat?.isDirectory()) return void this.checked.add(path);
    if (stat !== undefined) throw new ConcurrentChange(path);
    this.prepareParents(path);
    mkdirSync(this.absolute(path), 0o700);
    this.checked.add(path);
    this.made.add(path);
  }

  async write({ path, kind, bits, isNew }: FileToWrite, chunks: AsyncGenerator<Buffer>): Promise<void> {
    const stat = this.lstat(path);
    if (stat !== undefined && (isNew || !this.folder.isCaptured(path, stat)))
      throw new ConcurrentChange(path);
    this.prepareParents(path);
    const temporary = this.absolute(`${parentOf(path)}/.agt-${process.pid}.tmp`);
    try {
      if (kind === 'link') await writeLink(temporary, chunks);
      else await writeFile(temporary, chunks, bits);
      failurePoint('checkout: file written');
      renameSync(temporary, this.absolute(path));
      failurePoint('checkout: file in place');
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  setBits(path: string, bits: number): void {
    const stat = this.lstat(path);
    if (stat === undefined || stat.isSymbolicLink()) return;
    this.unlocked.delete(path);
    chmodSync(this.absolute(path), bits);
  }

  /** Sets the permission bits of directories, deepest first: in a read-only directory it could set no others. */
  close(bits: ReadonlyMap<string, number>): void {
    for (const path of [...this.made].reverse()) chmodSync(this.absolute(path), bits.get(path) ?? 0o755);
    for (const [path, before] of [...this.unlocked].reverse()) {
      if (this.lstat(path)?.isDirectory()) chmodSync(this.absolute(path), before);
    }
  }

  /** Makes sure that all directories above `path` are directories and not links, and that they are writable. */
  private prepareParents(path: string): void {
    for (const directory of parentDirectories(path).reverse()) {
      if (this.checked.has(directory)) continue;
      const stat = this.lstat(directory);
      if (stat?.isDirectory() !== true) throw new ConcurrentChange(directory);
      const bits = stat.mode & 0o7777;
      if ((bits & 0o300) !== 0o300) {
        this.unlocked.set(directory, bits);
        chmodSync(this.absolute(directory), bits | 0o700);
      }
      this.checked.add(directory);
    }
  }

  private lstat(path: string): Stats | undefined {
    try {
      return lstatSync(this.absolute(path), { throwIfNoEntry: false });
    } catch (error) {
      if (errorCode(error) === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  private absolute(path: string): string | Buffer {
    return systemPath(`${this.folder.path}/${path}`);
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

async function writeFile(path: string | Buffer, chunks: AsyncGenerator<Buffer>, bits: number): Promise<void> {
  rmSync(path, { force: true });
  const fd = openSync(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) writeAll(fd, chunk);
  } finally {
    closeSync(fd);
  }
  chmodSync(path, bits);
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

async function writeLink(path: string | Buffer, chunks: AsyncGenerator<Buffer>): Promise<void> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  rmSync(path, { force: true });
  symlinkSync(Buffer.concat(parts), path);
}
