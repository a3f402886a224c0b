/** A signed executable against the layout of Apple's `kern/cs_blobs.h`, read here by code of its own. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { signMachO } from '../../scripts/packaging/mach-o-signature.ts';

const [SEGMENT_64, CODE_SIGNATURE] = [0x19, 0x1d];
const PAGE = 4096;

/** An executable of two segments, with room for one more command. */
function program(size: number): Buffer {
  const bytes = Buffer.alloc(size, 'code');
  bytes.fill(0, 0, 512);
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(2, 16);
  bytes.writeUInt32LE(152 + 72, 20);
  const segment = (at: number, name: string, length: number, fileOffset: number, fileSize: number) => {
    bytes.writeUInt32LE(SEGMENT_64, at);
    bytes.writeUInt32LE(length, at + 4);
    bytes.write(name, at + 8);
    bytes.writeBigUInt64LE(BigInt(fileOffset), at + 40);
    bytes.writeBigUInt64LE(BigInt(fileSize), at + 48);
  };
  segment(32, '__TEXT', 152, 0, 2 * PAGE);
  bytes.writeUInt32LE(512, 32 + 72 + 48); // where its section begins
  segment(32 + 152, '__LINKEDIT', 72, 2 * PAGE, size - 2 * PAGE);
  return bytes;
}

function signatureOf(signed: Buffer): Buffer {
  let at = 32;
  for (let n = signed.readUInt32LE(16); n > 0; n--, at += signed.readUInt32LE(at + 4)) {
    if (signed.readUInt32LE(at) !== CODE_SIGNATURE) continue;
    const start = signed.readUInt32LE(at + 8);
    expect(start + signed.readUInt32LE(at + 12)).toBe(signed.length);
    return signed.subarray(start);
  }
  throw new Error('there is no signature');
}

test.each([3 * PAGE, 3 * PAGE + 100])('%i bytes: a hash of each page, commands included', (size) => {
  const signed = signMachO(program(size), 'agt');
  const signature = signatureOf(signed);
  const directory = signature.subarray(signature.readUInt32BE(16));
  expect([signature.readUInt32BE(0), directory.readUInt32BE(0)]).toEqual([0xfade0cc0, 0xfade0c02]);
  const hashes = directory.readUInt32BE(16);
  const limit = directory.readUInt32BE(32);
  expect(limit).toBe(signed.length - signature.length);
  expect(directory.readUInt32BE(28)).toBe(Math.ceil(limit / PAGE));
  for (let page = 0; page * PAGE < limit; page++) {
    const code = signed.subarray(page * PAGE, Math.min((page + 1) * PAGE, limit));
    const noted = directory.toString('hex', hashes + 32 * page, hashes + 32 * (page + 1));
    expect(noted).toBe(createHash('sha256').update(code).digest('hex'));
  }
  const name = directory.subarray(directory.readUInt32BE(20));
  expect(name.toString('latin1', 0, 4)).toBe('agt\0');
});

test('the last segment ends where the signature does', () => {
  const signed = signMachO(program(3 * PAGE), 'agt');
  const linkEdit = 32 + 152;
  const end = signed.readBigUInt64LE(linkEdit + 40) + signed.readBigUInt64LE(linkEdit + 48);
  expect(end).toBe(BigInt(signed.length));
});

test('a second signature takes the place of the first', () => {
  const once = signMachO(program(3 * PAGE), 'agt');
  expect(signMachO(once, 'agt').equals(once)).toBe(true);
});

test('no executable of macOS', () => {
  expect(() => signMachO(Buffer.alloc(100), 'agt')).toThrow('not a 64-bit Mach-O executable');
});
