/**
 * Answers the kernel's questions about a mounted snapshot. It reads requests from `/dev/fuse` in a thread of Node, so that
 * git can answer at the same time, and ends when the file system is unmounted.
 */
import { read, writevSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { attempt, errorCode } from '../../errors.ts';
import type { FileContents } from './file-contents.ts';
import {
  attributesReply,
  directoryReply,
  ERRNO,
  entryReply,
  initReply,
  type ListedEntry,
  noEntryReply,
  OPCODE,
  parseRequest,
  type Request,
  readRange,
  replyHeader,
  statfsReply,
} from './protocol.ts';
import { type FileNode, isFile, type SnapshotFiles } from './snapshot-files.ts';

const readRequest = promisify(read);

/** The least that the kernel accepts is 8 KiB. */
const LONGEST_REQUEST = 64 << 10;

/** Until it is mounted, the device refuses. */
const NOT_MOUNTED_MS = 2;

const FILES_AHEAD = 64;

/** A request that fails with a number of errno(3). */
class Refused extends Error {
  readonly errno: number;

  constructor(errno: number) {
    super(`errno ${errno}`);
    this.errno = errno;
  }
}

export class MountServer {
  private readonly fd: number;
  private readonly files: SnapshotFiles;
  private readonly contents: FileContents;
  private hasEnded = false;
  private lastRead = 0;
  /** Files up to this number were read ahead. */
  private readUntil = 0;
  private readonly lists = new Map<number, Promise<readonly ListedEntry[]>>();

  /** `fd`: `/dev/fuse`. */
  constructor(fd: number, files: SnapshotFiles, contents: FileContents) {
    this.fd = fd;
    this.files = files;
    this.contents = contents;
  }

  /** It was never mounted. */
  end(): void {
    this.hasEnded = true;
  }

  /** Ends when the file system is unmounted. It may begin before that is mounted. */
  async serve(): Promise<void> {
    const buffer = Buffer.alloc(LONGEST_REQUEST);
    for (;;) {
      try {
        const { bytesRead } = await readRequest(this.fd, buffer, 0, buffer.length, null);
        const request = parseRequest(Buffer.from(buffer.subarray(0, bytesRead)));
        void this.respond(request);
      } catch (error) {
        const code = errorCode(error);
        if (code === 'ENODEV' || this.hasEnded) return;
        if (code === 'EPERM') await sleep(NOT_MOUNTED_MS);
        // The others mean that somebody has taken the request back.
        else if (!['EINTR', 'EAGAIN', 'ENOENT'].includes(code)) throw error;
      }
    }
  }

  private async respond(request: Request): Promise<void> {
    try {
      const answer = await this.answer(request);
      if (answer !== undefined) this.send(request, 0, answer);
    } catch (error) {
      this.send(request, error instanceof Refused ? error.errno : ERRNO.io, undefined);
    }
  }

  private send({ unique }: Request, errno: number, answer: Buffer | undefined): void {
    const header = replyHeader(unique, errno, answer?.length ?? 0);
    // The program that asked has been killed, or the file system is unmounted.
    attempt(() =>
      writevSync(this.fd, answer === undefined || answer.length === 0 ? [header] : [header, answer]),
    );
  }

  /** Undefined for a request without an answer. */
  private answer(request: Request): Promise<Buffer> | Buffer | undefined {
    const { opcode, body } = request;
    switch (opcode) {
      case OPCODE.init:
        return initReply(body) ?? refuse(ERRNO.invalid);
      case OPCODE.lookup:
        return this.lookup(this.node(request), body.toString('latin1', 0, body.indexOf(0)));
      case OPCODE.getattr:
        return attributesReply(this.files.attributes(this.node(request)) ?? refuse(ERRNO.io));
      case OPCODE.readlink:
        return this.bytes(this.node(request), 0, Infinity);
      case OPCODE.read:
        return this.read(this.node(request), body);
      case OPCODE.readdir:
        return this.list(this.node(request), body, false);
      case OPCODE.readdirplus:
        return this.list(this.node(request), body, true);
      case OPCODE.statfs:
        return statfsReply();
      case OPCODE.forget:
      case OPCODE.batchForget:
      case OPCODE.interrupt:
        return undefined;
      default:
        // From then on the kernel does open and opendir itself, and keeps what it has read.
        return refuse(ERRNO.noCall);
    }
  }

  private node({ node }: Request): FileNode {
    return this.files.node(node) ?? refuse(ERRNO.noEntry);
  }

  private async lookup(directory: FileNode, name: string): Promise<Buffer> {
    if (!this.files.isDirectory(directory)) refuse(ERRNO.notDirectory);
    const found = (await this.files.children(directory)).get(name);
    if (found === undefined) return noEntryReply();
    return entryReply(this.files.attributes(found) ?? refuse(ERRNO.io));
  }

  private read(node: FileNode, body: Buffer): Promise<Buffer> {
    const { offset, size } = readRange(body);
    const bytes = this.bytes(node, offset, size);
    this.readAhead(node);
    return bytes;
  }

  /** For grep and others, which read a directory from its first file to its last: a third less time. */
  private readAhead(node: FileNode): void {
    const isInOrder = node.number > this.lastRead && node.number <= this.lastRead + FILES_AHEAD;
    this.lastRead = node.number;
    if (!isInOrder || node.number < this.readUntil - FILES_AHEAD / 2) return;
    const next = this.files.following(node, FILES_AHEAD);
    this.readUntil = node.number + FILES_AHEAD;
    this.contents.readAhead(
      next.flatMap(({ oid, size, mode }) =>
        oid === undefined || size === undefined || !isFile(mode) ? [] : [{ oid, size }],
      ),
    );
  }

  private async bytes(node: FileNode, offset: number, size: number): Promise<Buffer> {
    const { oid, size: whole, content } = node;
    if (content !== undefined) return content.subarray(offset, offset + size);
    if (oid === undefined || whole === undefined) return refuse(ERRNO.io);
    return (await this.contents.read(oid, whole, offset, size)) ?? refuse(ERRNO.io);
  }

  private async list(directory: FileNode, body: Buffer, withAttributes: boolean): Promise<Buffer> {
    let entries = this.lists.get(directory.number);
    if (entries === undefined) {
      entries = this.entriesOf(directory);
      // The kernel reads a long list in pieces, then keeps it.
      this.lists.set(directory.number, entries);
    }
    const { offset, size } = readRange(body);
    const all = await entries.catch((error: unknown) => {
      this.lists.delete(directory.number);
      throw error;
    });
    if (offset >= all.length) this.lists.delete(directory.number);
    return directoryReply(all, offset, size, withAttributes);
  }

  private async entriesOf(directory: FileNode): Promise<readonly ListedEntry[]> {
    const children = await this.files.children(directory);
    const { number, parent, mode } = directory;
    return [
      { name: '.', node: number, mode, attributes: undefined },
      { name: '..', node: parent, mode, attributes: undefined },
      ...[...children].map(([name, child]) => ({
        ...{ name, node: child.number, mode: child.mode },
        attributes: this.files.attributes(child),
      })),
    ];
  }
}

function refuse(errno: number): never {
  throw new Refused(errno);
}
