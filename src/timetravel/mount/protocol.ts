/**
 * Messages of the kernel's FUSE protocol, as <linux/fuse.h> lays them out. Only those that a file system needs which never
 * changes. Numbers have the byte order of the machine; all for which there is an agt have the little end first.
 */

export const OPCODE = {
  lookup: 1,
  forget: 2,
  getattr: 3,
  readlink: 5,
  read: 15,
  statfs: 17,
  init: 26,
  readdir: 28,
  interrupt: 36,
  batchForget: 42,
  readdirplus: 44,
} as const;

/** Numbers of errno(3) on Linux. */
export const ERRNO = { noEntry: 2, io: 5, notDirectory: 20, invalid: 22, noCall: 38 } as const;

export const ROOT_NODE = 1;

export interface Request {
  readonly opcode: number;
  readonly unique: bigint;
  readonly node: number;
  /** The arguments after the header. */
  readonly body: Buffer;
}

const IN_HEADER = 40;

export function parseRequest(message: Buffer): Request {
  return {
    opcode: message.readUInt32LE(4),
    unique: message.readBigUInt64LE(8),
    node: Number(message.readBigUInt64LE(16)),
    body: message.subarray(IN_HEADER, message.readUInt32LE(0)),
  };
}

const OUT_HEADER = 16;

/** `error`: a number of errno(3), or 0. */
export function replyHeader(unique: bigint, error: number, length: number): Buffer {
  const header = Buffer.alloc(OUT_HEADER);
  header.writeUInt32LE(OUT_HEADER + length, 0);
  header.writeInt32LE(-error, 4);
  header.writeBigUInt64LE(unique, 8);
  return header;
}

const MAJOR = 7;
/** The messages have had this form since Linux 4.20. */
const MINOR = 28;
const FLAG = {
  asyncRead: 1 << 0,
  readdirplus: 1 << 13,
  noOpen: 1 << 17,
  parallelDirectories: 1 << 18,
  maxPages: 1 << 22,
  cacheSymlinks: 1 << 23,
  noOpendir: 1 << 24,
} as const;
const WANTED = Object.values(FLAG).reduce((all, flag) => all | flag, 0);
/** 1 MiB for each read. */
const MAX_PAGES = 256;
const INIT_OUT = 64;

/** Undefined if the kernel speaks an older protocol. */
export function initReply(body: Buffer): Buffer | undefined {
  const [major, minor] = [body.readUInt32LE(0), body.readUInt32LE(4)];
  if (major !== MAJOR || minor < MINOR) return undefined;
  const reply = Buffer.alloc(INIT_OUT);
  reply.writeUInt32LE(MAJOR, 0);
  reply.writeUInt32LE(Math.min(minor, 31), 4);
  reply.writeUInt32LE(body.readUInt32LE(8), 8); // max_readahead, as the kernel offers it
  reply.writeUInt32LE((body.readUInt32LE(12) & WANTED) >>> 0, 12);
  reply.writeUInt16LE(64, 16); // max_background
  reply.writeUInt16LE(48, 18); // congestion_threshold
  reply.writeUInt32LE(4096, 20); // max_write: nobody writes
  reply.writeUInt32LE(1, 24); // time_gran
  reply.writeUInt16LE(MAX_PAGES, 28);
  return reply;
}

/** Attributes of a file, as stat(2) has them. */
export interface Attributes {
  readonly node: number;
  readonly size: number;
  /** Unix seconds. */
  readonly time: number;
  /** Type and permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

const ATTRIBUTES = 88;
/** Seconds for which the kernel may keep an answer: a year, since nothing ever changes. */
const FOR_LONG = 31_536_000n;

function writeAttributes(to: Buffer, at: number, { node, size, time, mode, uid, gid }: Attributes): void {
  to.writeBigUInt64LE(BigInt(node), at);
  to.writeBigUInt64LE(BigInt(size), at + 8);
  to.writeBigUInt64LE(BigInt(Math.ceil(size / 512)), at + 16);
  for (const offset of [24, 32, 40]) to.writeBigInt64LE(BigInt(time), at + offset);
  to.writeUInt32LE(mode, at + 60);
  to.writeUInt32LE(1, at + 64); // links: one, which tells find(1) nothing about subdirectories
  to.writeUInt32LE(uid, at + 68);
  to.writeUInt32LE(gid, at + 72);
  to.writeUInt32LE(4096, at + 80); // block size
}

export function attributesReply(attributes: Attributes): Buffer {
  const reply = Buffer.alloc(16 + ATTRIBUTES);
  reply.writeBigUInt64LE(FOR_LONG, 0);
  writeAttributes(reply, 16, attributes);
  return reply;
}

const ENTRY = 40 + ATTRIBUTES;

/** The answer to a lookup. */
export function entryReply(attributes: Attributes): Buffer {
  const reply = Buffer.alloc(ENTRY);
  writeEntry(reply, 0, attributes);
  return reply;
}

/** There is no such file, and the kernel may remember that. */
export function noEntryReply(): Buffer {
  const reply = Buffer.alloc(ENTRY);
  reply.writeBigUInt64LE(FOR_LONG, 16);
  return reply;
}

function writeEntry(to: Buffer, at: number, attributes: Attributes): void {
  to.writeBigUInt64LE(BigInt(attributes.node), at);
  to.writeBigUInt64LE(FOR_LONG, at + 16);
  to.writeBigUInt64LE(FOR_LONG, at + 24);
  writeAttributes(to, at + 40, attributes);
}

export interface ListedEntry {
  /** One byte per character. */
  readonly name: string;
  readonly node: number;
  /** The type bits of the mode. */
  readonly mode: number;
  /** For a list with attributes; undefined for the directory itself and the one above. */
  readonly attributes: Attributes | undefined;
}

const DIRENT = 24;

/** As many entries as fit into `size` bytes, from number `offset` on. */
export function directoryReply(
  entries: readonly ListedEntry[],
  offset: number,
  size: number,
  withAttributes: boolean,
): Buffer {
  const reply = Buffer.alloc(size);
  const head = withAttributes ? ENTRY : 0;
  let end = 0;
  for (let i = offset; i < entries.length; i++) {
    const { name, node, mode, attributes } = entries[i] as ListedEntry;
    const length = (head + DIRENT + name.length + 7) & ~7;
    if (end + length > size) break;
    if (withAttributes && attributes !== undefined) writeEntry(reply, end, attributes);
    const at = end + head;
    reply.writeBigUInt64LE(BigInt(node), at);
    reply.writeBigUInt64LE(BigInt(i + 1), at + 8);
    reply.writeUInt32LE(name.length, at + 16);
    reply.writeUInt32LE(mode >>> 12, at + 20);
    reply.write(name, at + DIRENT, 'latin1');
    end += length;
  }
  return reply.subarray(0, end);
}

/** Offset and size of a read, and of a list of a directory. */
export function readRange(body: Buffer): { readonly offset: number; readonly size: number } {
  return { offset: Number(body.readBigUInt64LE(8)), size: body.readUInt32LE(16) };
}

const STATFS = 80;

/** Full, as every file system that nobody can write. */
export function statfsReply(): Buffer {
  const reply = Buffer.alloc(STATFS);
  reply.writeUInt32LE(4096, 40);
  reply.writeUInt32LE(255, 44);
  reply.writeUInt32LE(4096, 48);
  return reply;
}
