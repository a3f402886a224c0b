/**
 * Reads what a file holds, and names it as git would. A file that changes while it is read is read again; one that does
 * not come to rest is given up for this time and named. Large files are never held in memory.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import type { PlaceCheck } from '../../disk/is-inside.ts';
import { systemPath } from '../../disk/long-path.ts';
import type { FastImport } from '../../git/objects/fast-import.ts';

export type HashName = 'sha1' | 'sha256';

/** Files up to this size are read once; larger ones are hashed first and streamed only if they are new. */
const IN_MEMORY = 4 * 1024 * 1024;
const CHUNK = 1024 * 1024;
const ATTEMPTS = 5;

/** A file's content with the stat data that belong to it. */
export interface Content {
  readonly stat: Stats;
  readonly oid: string;
  /** Undefined for a large file. */
  readonly bytes: Buffer | undefined;
}

/** The file would not come to rest, or is no longer what it was. */
export class UnstableFile extends Error {}

/** `path` is absolute, one byte per character. @throws system errors and UnstableFile. */
export function readContent(path: string, hash: HashName, isHere: PlaceCheck): Content {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const content = tryRead(path, hash, isHere);
    if (content !== undefined) return content;
  }
  throw new UnstableFile('changes all the time');
}

function tryRead(path: string, hash: HashName, isHere: PlaceCheck): Content | undefined {
  const stat = lstatSync(systemPath(path));
  if (stat.isSymbolicLink()) {
    const bytes = readlinkSync(systemPath(path), 'buffer');
    const oid = hashBlob(hash, bytes.length, [bytes]);
    return oid === undefined ? undefined : { stat, oid, bytes };
  }
  if (!stat.isFile()) throw new UnstableFile('has become something else');
  return withFile(path, (fd) => {
    const before = fstatSync(fd);
    if (before.ino !== stat.ino || !isHere(fd, path)) return undefined;
    const small = before.size <= IN_MEMORY;
    const bytes = small ? readExactly(fd, before.size) : undefined;
    const oid = hashBlob(hash, before.size, bytes === undefined ? chunks(fd, before.size) : [bytes]);
    return oid === undefined || !isUnchanged(before, fstatSync(fd))
      ? undefined
      : { stat: before, oid, bytes };
  });
}

/**
 * Writes a large file as a blob. False when it has changed since it was hashed: the blob is then useless. What goes wrong
 * is thrown where git has been told nothing yet, or has got all that it was promised.
 */
export async function streamContent(
  path: string,
  content: Content,
  to: Pick<FastImport, 'write'>,
  isHere: PlaceCheck,
): Promise<boolean> {
  const { size } = content.stat;
  const fd = open(path);
  try {
    if (!isHere(fd, path)) return false;
    await to.write(`blob\ndata ${size}\n`);
    const { written, error } = await sendFile(fd, size, to);
    for (let sent = written; sent < size; sent += CHUNK)
      await to.write(Buffer.alloc(Math.min(CHUNK, size - sent)));
    await to.write('\n');
    if (error !== undefined) throw error;
    return written === size && isUnchanged(content.stat, fstatSync(fd));
  } finally {
    closeSync(fd);
  }
}

/** How much could be read, and what then went wrong with reading. @throws what goes wrong with writing. */
async function sendFile(
  fd: number,
  size: number,
  to: Pick<FastImport, 'write'>,
): Promise<{ written: number; error?: unknown }> {
  let written = 0;
  const parts = chunks(fd, size);
  for (;;) {
    let part: IteratorResult<Buffer>;
    try {
      part = parts.next();
    } catch (error) {
      return { written, error };
    }
    if (part.done) return { written };
    await to.write(Buffer.from(part.value));
    written += part.value.length;
  }
}

function isUnchanged(before: Stats, after: Stats): boolean {
  return before.size === after.size && before.mtimeMs === after.mtimeMs && before.ctimeMs === after.ctimeMs;
}

/** Undefined where there are not so many bytes. */
function hashBlob(hash: HashName, size: number, parts: Iterable<Buffer>): string | undefined {
  const digest = createHash(hash).update(`blob ${size}\0`);
  let length = 0;
  for (const part of parts) {
    digest.update(part);
    length += part.length;
  }
  return length === size ? digest.digest('hex') : undefined;
}

/** The file's first `size` bytes, fewer where it has shrunk. The buffer is used again for each chunk. */
function* chunks(fd: number, size: number): Generator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let at = 0; at < size; ) {
    const length = readSync(fd, buffer, 0, Math.min(CHUNK, size - at), at);
    if (length === 0) return;
    at += length;
    yield buffer.subarray(0, length);
  }
}

function readExactly(fd: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const length = readSync(fd, bytes, at, size - at, at);
    if (length === 0) break;
    at += length;
  }
  return bytes.subarray(0, at);
}

/** A link put in place of the file is not followed; a pipe put there does not block. */
function open(path: string): number {
  return openSync(systemPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

function withFile<T>(path: string, action: (fd: number) => T): T {
  const fd = open(path);
  try {
    return action(fd);
  } finally {
    closeSync(fd);
  }
}
