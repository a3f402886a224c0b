/**
 * The bytes of blobs. Small ones stay in memory for a while. git writes a large one into a temporary file that has no
 * name, so agt never holds it as a whole. Reads of its beginning need not wait for its end.
 */
import { closeSync, fstatSync, openSync, read, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readObjects, writeBlob } from '../../git/objects/object-reader.ts';
import type { Git } from '../../git/run/git.ts';

/** Larger ones go into a file. */
const LARGE = 4 << 20;
/** All small ones together. */
const MOST_IN_MEMORY = 48 << 20;
/** Larger ones are not read ahead. */
const MOST_AHEAD = 64 << 10;
/** Temporary files that stay open. */
const MOST_FILES = 8;
const POLL_MS = 10;

const readFile = promisify(read);

interface LargeFile {
  readonly fd: number;
  readonly done: Promise<boolean>;
  /** Undefined while git writes. */
  isWhole: boolean | undefined;
  /** Reads at work; the file stays open meanwhile. */
  readers: number;
}

export class FileContents {
  private readonly git: Git;
  private readonly directory: string;
  /** The one that was used last at the end. */
  private readonly small = new Map<string, { size: number; content: Promise<Buffer | undefined> }>();
  private readonly large = new Map<string, LargeFile>();
  private inMemory = 0;

  /** `directory`: where temporary files are made. */
  constructor(git: Git, directory: string) {
    this.git = git;
    this.directory = directory;
  }

  /** Undefined if the blob is missing. @throws system errors, such as a full disk */
  read(oid: string, blobSize: number, offset: number, size: number): Promise<Buffer | undefined> {
    const end = Math.min(offset + size, blobSize);
    if (end <= offset) return Promise.resolve(Buffer.alloc(0));
    return blobSize > LARGE ? this.readLarge(oid, offset, end) : this.readSmall(oid, blobSize, offset, end);
  }

  /** Asks git for small ones that are likely to be read next, all at once. */
  readAhead(blobs: readonly { readonly oid: string; readonly size: number }[]): void {
    const wanted = blobs.filter(({ oid, size }) => size <= MOST_AHEAD && !this.small.has(oid));
    if (wanted.length === 0) return;
    const oids = wanted.map(({ oid }) => oid);
    const answers = readObjects(this.git, oids);
    const contentOf = (i: number) => answers.then((found) => found[i]?.content);
    for (const [i, { oid, size }] of wanted.entries()) this.remember(oid, size, contentOf(i));
  }

  private async readSmall(oid: string, blobSize: number, offset: number, end: number) {
    const content =
      this.small.get(oid)?.content ?? readObjects(this.git, [oid]).then(([only]) => only?.content);
    this.remember(oid, blobSize, content);
    return (await content)?.subarray(offset, end);
  }

  private remember(oid: string, size: number, content: Promise<Buffer | undefined>): void {
    this.forget(oid);
    this.small.set(oid, { size, content });
    this.inMemory += size;
    content.catch(() => this.forget(oid));
    for (const oldest of this.small.keys()) {
      if (this.inMemory <= MOST_IN_MEMORY) break;
      this.forget(oldest);
    }
  }

  private forget(oid: string): void {
    this.inMemory -= this.small.get(oid)?.size ?? 0;
    this.small.delete(oid);
  }

  private async readLarge(oid: string, offset: number, end: number): Promise<Buffer | undefined> {
    const file = this.large.get(oid) ?? this.open(oid);
    this.large.delete(oid);
    this.large.set(oid, file);
    file.readers++;
    try {
      while (file.isWhole === undefined && fstatSync(file.fd).size < end)
        await Promise.race([file.done, sleep(POLL_MS)]);
      if (fstatSync(file.fd).size < end) {
        this.large.delete(oid);
        return undefined;
      }
      const buffer = Buffer.allocUnsafe(end - offset);
      const { bytesRead } = await readFile(file.fd, buffer, 0, buffer.length, offset);
      return buffer.subarray(0, bytesRead);
    } finally {
      file.readers--;
      this.closeOldest();
    }
  }

  private open(oid: string): LargeFile {
    // If agt is killed here, doctor knows the file by its name.
    const path = join(this.directory, `${oid}.${process.pid}.tmp`);
    const writing = openSync(path, 'wx', 0o600);
    const fd = openSync(path, 'r');
    unlinkSync(path);
    const done = writeBlob(this.git, oid, writing);
    const file: LargeFile = { fd, done, isWhole: undefined, readers: 0 };
    void done.then((isWhole) => {
      file.isWhole = isWhole;
    });
    return file;
  }

  private closeOldest(): void {
    for (const [oid, { fd, readers, isWhole }] of this.large) {
      if (this.large.size <= MOST_FILES) return;
      if (readers > 0 || isWhole === undefined) continue;
      this.large.delete(oid);
      closeSync(fd);
    }
  }
}
