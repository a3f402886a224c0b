/**
 * Reads the content of a file and computes its object name. A file that changes meanwhile is read again. If it never
 * comes to rest but only grows, as a log does, its content is what it had at first; else the scan reports it. Large files
 * are never held in memory.
 */
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
import type { IsInside } from '../../disk/is-inside.ts';
import { systemPath } from '../../disk/long-path.ts';
import { attempt } from '../../errors.ts';
import type { FastImport } from '../../git/objects/fast-import.ts';
import { type HashName, hashNameOf, openHash } from '../../git/objects/hash.ts';
import type { StatData } from '../stat-cache/cached-files.ts';

const MIB = 1024 * 1024;
/** Files up to this size are read once and held in memory. Larger ones are hashed first, and streamed if new. */
export const IN_MEMORY = 4 * MIB;
/** How much of a large file is in memory at once. */
const CHUNK = MIB;
/** How often a changing file is read. */
const ATTEMPTS = 5;

/** Content that was read, without the bytes. */
export interface HashedFile {
  readonly stat: StatData;
  readonly oid: string;
}

/** A file's content with the stat data that belong to it. */
export interface Content {
  readonly stat: Stats;
  readonly oid: string;
  /** Undefined for a large file. */
  readonly bytes: Buffer | undefined;
  /** The file may grow all the time: this is its beginning. */
  readonly isBeginning?: true;
}

/** The file keeps changing, or is neither a regular file nor a link any more. */
export class UnstableFile extends Error {}

/** `path` is absolute, one byte per character. @throws system errors and UnstableFile. */
export function readContent(path: string, hash: HashName, isInside: IsInside): Content {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const content = tryRead(path, hash, isInside, attempt === ATTEMPTS - 1);
    if (content !== undefined) return content;
  }
  throw new UnstableFile('changes all the time');
}

/** Whether a file has the content of a blob. False also if it changes all the time, or may not be read. */
export function hasContent(path: string, oid: string, isInside: IsInside): boolean {
  return attempt(() => readContent(path, hashNameOf(oid), isInside).oid) === oid;
}

/** Undefined if the file changed meanwhile. `mayGrow`: the beginning of one that has grown will do. */
function tryRead(path: string, hash: HashName, isInside: IsInside, mayGrow: boolean): Content | undefined {
  const stat = lstatSync(systemPath(path));
  if (stat.isSymbolicLink()) {
    const bytes = readlinkSync(systemPath(path), 'buffer');
    const oid = hashBlob(hash, bytes.length, [bytes]);
    return oid === undefined ? undefined : { stat, oid, bytes };
  }
  if (!stat.isFile()) throw new UnstableFile('has become something else');
  const fd = open(path);
  try {
    const before = fstatSync(fd);
    if (before.ino !== stat.ino || !isInside(fd, path)) return undefined;
    const bytes = before.size <= IN_MEMORY ? readExactly(fd, before.size) : undefined;
    const oid = hashBlob(hash, before.size, bytes === undefined ? chunks(fd, before.size) : [bytes]);
    const after = fstatSync(fd);
    if (oid === undefined) return undefined;
    if (isUnchanged(before, after)) return { stat: before, oid, bytes };
    // The time of a growing file can change before its size does.
    const hasOnlyGrown =
      mayGrow && after.size >= before.size && hashBlob(hash, before.size, chunks(fd, before.size)) === oid;
    return hasOnlyGrown ? { stat: before, oid, bytes, isBeginning: true } : undefined;
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes a large file as a blob. False if it has changed since it was hashed: the blob is then useless. It throws only
 * before the blob begins or after it is complete, so that the stream stays usable.
 */
export async function streamContent(
  path: string,
  content: Content,
  to: Pick<FastImport, 'write'>,
  isInside: IsInside,
): Promise<boolean> {
  const { size } = content.stat;
  const fd = open(path);
  try {
    if (!isInside(fd, path)) return false;
    await to.write(`blob\ndata ${size}\n`);
    const digest = content.isBeginning && openHash(hashNameOf(content.oid)).update(`blob ${size}\0`);
    const { written, error } = await sendFile(fd, size, to, (part) => digest?.update(part));
    for (let sent = written; sent < size; sent += CHUNK)
      await to.write(Buffer.alloc(Math.min(CHUNK, size - sent)));
    await to.write('\n');
    if (error !== undefined) throw error;
    if (digest !== undefined) return digest.digest() === content.oid;
    return written === size && isUnchanged(content.stat, fstatSync(fd));
  } finally {
    closeSync(fd);
  }
}

/** Returns the number of bytes sent, and the error if reading failed. @throws if writing fails. */
async function sendFile(
  fd: number,
  size: number,
  to: Pick<FastImport, 'write'>,
  onPart: (part: Buffer) => void,
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
    onPart(part.value);
    await to.write(Buffer.from(part.value));
    written += part.value.length;
  }
}

function isUnchanged(before: Stats, after: Stats): boolean {
  return before.size === after.size && before.mtimeMs === after.mtimeMs && before.ctimeMs === after.ctimeMs;
}

/** Undefined if there are fewer or more bytes than `size`. */
function hashBlob(hash: HashName, size: number, parts: Iterable<Buffer>): string | undefined {
  const digest = openHash(hash).update(`blob ${size}\0`);
  let length = 0;
  for (const part of parts) {
    digest.update(part);
    length += part.length;
  }
  return length === size ? digest.digest() : undefined;
}

/** The first `size` bytes of a file, fewer if it has shrunk. Every chunk is in the same buffer. */
function* chunks(fd: number, size: number): Generator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let offset = 0; offset < size; ) {
    const length = readSync(fd, buffer, 0, Math.min(CHUNK, size - offset), offset);
    if (length === 0) return;
    offset += length;
    yield buffer.subarray(0, length);
  }
}

/** Fewer bytes if the file has shrunk. */
function readExactly(fd: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let offset = 0;
  while (offset < size) {
    const length = readSync(fd, bytes, offset, size - offset, offset);
    if (length === 0) break;
    offset += length;
  }
  return bytes.subarray(0, offset);
}

/** If the file was replaced meanwhile, a link is not followed and a pipe does not block. */
function open(path: string): number {
  return openSync(systemPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}
