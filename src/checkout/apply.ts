/**
 * Carries out a plan in a session folder. Each file appears whole, by a temporary name and a rename; no link is
 * followed; nothing is replaced or removed but what was captured as it is. A directory that is read-only is opened for
 * the time that it takes.
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

/** Something changed while the folder was being worked on; it has to be captured again first. */
export class ChangedMeanwhile extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} has changed meanwhile`);
    this.path = path;
  }
}

export interface Folder {
  /** Absolute, one byte per character. */
  readonly path: string;
  /** Whether a file is as it was captured. */
  readonly isCaptured: (path: string, stat: Stats) => boolean;
}

/** @throws ChangedMeanwhile, and system errors; what was done until then stays. */
export async function applyPlan(git: Git, plan: CheckoutPlan, folder: Folder): Promise<void> {
  const site = new Site(folder);
  try {
    for (const path of plan.deletions) site.removeFile(path);
    failurePoint('checkout: files removed');
    for (const path of plan.leavings) site.removeIfEmpty(path);
    for (const path of plan.directories.keys()) site.makeDirectory(path);
    await readBlobs(
      git,
      plan.writes.map(({ oid }) => oid),
      (index, chunks) => site.write(plan.writes[index] as FileToWrite, chunks),
    );
    for (const [path, bits] of plan.modes) site.setBits(path, bits);
  } finally {
    site.close(plan.directories);
  }
}

class Site {
  private readonly folder: Folder;
  /** Directories that were seen to be directories, or made. */
  private readonly known = new Set<string>();
  private readonly made = new Set<string>();
  /** Bits of directories that were opened for writing. */
  private readonly opened = new Map<string, number>();

  constructor(folder: Folder) {
    this.folder = folder;
  }

  removeFile(path: string): void {
    const stat = this.look(path);
    if (stat === undefined) return;
    if (!this.folder.isCaptured(path, stat)) throw new ChangedMeanwhile(path);
    this.enter(path);
    unlinkSync(this.at(path));
  }

  removeIfEmpty(path: string): void {
    if (this.look(path)?.isDirectory() !== true) return;
    this.enter(path);
    try {
      rmdirSync(this.at(path));
    } catch (error) {
      // Something that was not captured lives in it.
      if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) throw error;
    }
  }

  makeDirectory(path: string): void {
    const stat = this.look(path);
    if (stat?.isDirectory()) return void this.known.add(path);
    if (stat !== undefined) throw new ChangedMeanwhile(path);
    this.enter(path);
    mkdirSync(this.at(path), 0o700);
    this.known.add(path);
    this.made.add(path);
  }

  async write({ path, kind, bits, isNew }: FileToWrite, chunks: AsyncGenerator<Buffer>): Promise<void> {
    const stat = this.look(path);
    if (stat !== undefined && (isNew || !this.folder.isCaptured(path, stat)))
      throw new ChangedMeanwhile(path);
    this.enter(path);
    const temporary = `${parentOf(path)}/.agt-${process.pid}.tmp`;
    try {
      if (kind === 'link') await makeLink(this.at(temporary), chunks);
      else await makeFile(this.at(temporary), chunks, bits);
      failurePoint('checkout: file written');
      renameSync(this.at(temporary), this.at(path));
      failurePoint('checkout: file in place');
    } catch (error) {
      rmSync(this.at(temporary), { force: true });
      throw error;
    }
  }

  setBits(path: string, bits: number): void {
    const stat = this.look(path);
    if (stat === undefined || stat.isSymbolicLink()) return;
    this.opened.delete(path);
    chmodSync(this.at(path), bits);
  }

  /** Deepest first: a directory may be read-only. */
  close(bits: ReadonlyMap<string, number>): void {
    for (const path of [...this.made].reverse()) chmodSync(this.at(path), bits.get(path) ?? 0o755);
    for (const [path, before] of [...this.opened].reverse()) {
      if (this.look(path)?.isDirectory()) chmodSync(this.at(path), before);
    }
  }

  /** Makes sure that the directory of `path` is one, not reached through a link, and can be written in. */
  private enter(path: string): void {
    for (const directory of parentDirectories(path).reverse()) {
      if (this.known.has(directory)) continue;
      const stat = this.look(directory);
      if (stat?.isDirectory() !== true) throw new ChangedMeanwhile(directory);
      if ((stat.mode & 0o300) !== 0o300) {
        this.opened.set(directory, stat.mode & 0o7777);
        chmodSync(this.at(directory), (stat.mode & 0o7777) | 0o700);
      }
      this.known.add(directory);
    }
  }

  private look(path: string): Stats | undefined {
    try {
      return lstatSync(this.at(path), { throwIfNoEntry: false });
    } catch (error) {
      if (errorCode(error) === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  private at(path: string): string | Buffer {
    return systemPath(`${this.folder.path}/${path}`);
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

async function makeFile(path: string | Buffer, chunks: AsyncGenerator<Buffer>, bits: number): Promise<void> {
  rmSync(path, { force: true });
  const fd = openSync(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
  } finally {
    closeSync(fd);
  }
  chmodSync(path, bits);
}

async function makeLink(path: string | Buffer, chunks: AsyncGenerator<Buffer>): Promise<void> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  rmSync(path, { force: true });
  symlinkSync(Buffer.concat(parts), path);
}
