/**
 * Signs a 64-bit Mach-O executable ad hoc, as `codesign --sign -` does on macOS: without a signature, macOS on arm64 starts
 * no program. The signature holds a hash of each page; nobody vouches for it.
 *
 * The layouts are those of Apple's `mach-o/loader.h` and `kern/cs_blobs.h`.
 */
import { createHash } from 'node:crypto';

const MAGIC_64 = 0xfeedfacf;
const HEADER_SIZE = 32;
const [SEGMENT_64, CODE_SIGNATURE] = [0x19, 0x1d];
const SIGNATURE_COMMAND_SIZE = 16;

const SUPER_BLOB = { magic: 0xfade0cc0, headerSize: 20 };
const DIRECTORY = { magic: 0xfade0c02, version: 0x20400, headerSize: 88 };
const AD_HOC = 0x2;
const SHA256 = { type: 2, size: 32 };
const PAGE_BITS = 12;
const PAGE = 1 << PAGE_BITS;
const MAIN_BINARY = 1n;
const ALIGNMENT = 16;

interface Command {
  readonly kind: number;
  readonly offset: number;
  readonly size: number;
}

interface Segment {
  readonly offset: number;
  readonly fileOffset: number;
  readonly fileSize: number;
}

/** Returns the signed program. An earlier signature is replaced. */
export function signMachO(program: Buffer, identifier: string): Buffer {
  if (program.readUInt32LE(0) !== MAGIC_64) throw new Error('not a 64-bit Mach-O executable');
  const commands = readCommands(program);
  const text = segment(program, commands, '__TEXT');
  const linkEdit = segment(program, commands, '__LINKEDIT');
  const earlier = commands.find(({ kind }) => kind === CODE_SIGNATURE);
  const end = earlier === undefined ? program.length : program.readUInt32LE(earlier.offset + 8);
  const start = align(end, ALIGNMENT);
  const size = signatureSize(start, identifier);
  const signed = Buffer.alloc(start + size);
  program.copy(signed, 0, 0, end);
  const command = earlier?.offset ?? addCommand(signed, commands, text);
  signed.writeUInt32LE(start, command + 8);
  signed.writeUInt32LE(size, command + 12);
  const linkEditSize = BigInt(start + size - linkEdit.fileOffset);
  signed.writeBigUInt64LE(BigInt(align(Number(linkEditSize), 4 * PAGE)), linkEdit.offset + 32);
  signed.writeBigUInt64LE(linkEditSize, linkEdit.offset + 48);
  writeSignature(signed, start, identifier, text);
  return signed;
}

function readCommands(program: Buffer): Command[] {
  const commands: Command[] = [];
  let offset = HEADER_SIZE;
  for (let n = program.readUInt32LE(16); n > 0; n--) {
    const size = program.readUInt32LE(offset + 4);
    commands.push({ kind: program.readUInt32LE(offset), offset, size });
    offset += size;
  }
  return commands;
}

function segment(program: Buffer, commands: readonly Command[], name: string): Segment {
  const isNamed = ({ kind, offset }: Command) =>
    kind === SEGMENT_64 && program.toString('latin1', offset + 8, offset + 24).replace(/\0.*/s, '') === name;
  const found = commands.find(isNamed);
  if (found === undefined) throw new Error(`the executable has no segment ${name}`);
  return {
    offset: found.offset,
    fileOffset: Number(program.readBigUInt64LE(found.offset + 40)),
    fileSize: Number(program.readBigUInt64LE(found.offset + 48)),
  };
}

/** In the room that linkers leave between the commands and the first section. */
function addCommand(program: Buffer, commands: readonly Command[], text: Segment): number {
  const offset = HEADER_SIZE + program.readUInt32LE(20);
  const firstSection = program.readUInt32LE(text.offset + 72 + 48);
  if (offset + SIGNATURE_COMMAND_SIZE > firstSection)
    throw new Error('no room for the command of a signature');
  program.writeUInt32LE(CODE_SIGNATURE, offset);
  program.writeUInt32LE(SIGNATURE_COMMAND_SIZE, offset + 4);
  program.writeUInt32LE(commands.length + 1, 16);
  program.writeUInt32LE(program.readUInt32LE(20) + SIGNATURE_COMMAND_SIZE, 20);
  return offset;
}

function directorySize(codeSize: number, identifier: string): number {
  return DIRECTORY.headerSize + identifier.length + 1 + Math.ceil(codeSize / PAGE) * SHA256.size;
}

function signatureSize(codeSize: number, identifier: string): number {
  return align(SUPER_BLOB.headerSize + directorySize(codeSize, identifier), ALIGNMENT);
}

function writeSignature(program: Buffer, start: number, identifier: string, text: Segment): void {
  const length = directorySize(start, identifier);
  const words = (offset: number, ...values: number[]) => {
    for (const [n, value] of values.entries()) program.writeUInt32BE(value, offset + 4 * n);
  };
  words(start, SUPER_BLOB.magic, SUPER_BLOB.headerSize + length, 1, 0, SUPER_BLOB.headerSize);
  const directory = start + SUPER_BLOB.headerSize;
  const identifierAt = DIRECTORY.headerSize;
  const hashesAt = identifierAt + identifier.length + 1;
  const pages = Math.ceil(start / PAGE);
  words(directory, DIRECTORY.magic, length, DIRECTORY.version, AD_HOC, hashesAt, identifierAt, 0, pages);
  words(directory + 32, start);
  program.set([SHA256.size, SHA256.type, 0, PAGE_BITS], directory + 36);
  program.writeBigUInt64BE(BigInt(text.fileOffset), directory + 64);
  program.writeBigUInt64BE(BigInt(text.fileSize), directory + 72);
  program.writeBigUInt64BE(MAIN_BINARY, directory + 80);
  program.write(`${identifier}\0`, directory + identifierAt, 'latin1');
  for (let page = 0; page < pages; page++) {
    const code = program.subarray(page * PAGE, Math.min((page + 1) * PAGE, start));
    createHash('sha256')
      .update(code)
      .digest()
      .copy(program, directory + hashesAt + page * SHA256.size);
  }
}

function align(size: number, to: number): number {
  return Math.ceil(size / to) * to;
}
