/** Hashes as node:crypto has them. To load it takes a tenth of a small capture: little is hashed without. */
import { createHash, type Hash } from 'node:crypto';

export type HashName = 'sha1' | 'sha256';

/** The hash whose names are as long as this one. */
export function hashNameOf(oid: string): HashName {
  return oid.length === 64 ? 'sha256' : 'sha1';
}

/** How many bytes this process hashes by itself; from there on loading node:crypto takes less time. */
let withoutCrypto = 128 * 1024;

export function openHash(name: HashName): ObjectHash {
  return new ObjectHash(withoutCrypto > 0 && name === 'sha1' ? undefined : createHash(name));
}

/** Keeps what it gets until that is more than this process should hash by itself. */
class ObjectHash {
  private readonly parts: Uint8Array[] = [];
  private native: Hash | undefined;

  constructor(native: Hash | undefined) {
    this.native = native;
  }

  update(part: string | Uint8Array): this {
    if (this.native === undefined) {
      withoutCrypto -= part.length;
      if (withoutCrypto < 0) this.native = createHash('sha1').update(Buffer.concat(this.parts));
    }
    if (this.native === undefined) this.parts.push(Buffer.from(part as Uint8Array));
    else this.native.update(part);
    return this;
  }

  /** Hexadecimal. */
  digest(): string {
    return this.native?.digest('hex') ?? sha1(Buffer.concat(this.parts));
  }
}

const BLOCK = 64;

/** FIPS 180-4: blocks of sixteen words, the last one with the length of the message. */
function sha1(message: Buffer): string {
  const padded = Buffer.alloc(Math.ceil((message.length + 9) / BLOCK) * BLOCK);
  message.copy(padded);
  padded[message.length] = 0x80;
  padded.writeUInt32BE(Math.floor(message.length / 2 ** 29), padded.length - 8);
  padded.writeUInt32BE((message.length * 8) >>> 0, padded.length - 4);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const words = new Int32Array(80);
  for (let offset = 0; offset < padded.length; offset += BLOCK) addBlock(state, words, padded, offset);
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function addBlock(state: Int32Array, words: Int32Array, bytes: Buffer, offset: number): void {
  for (let i = 0; i < 16; i++) words[i] = bytes.readInt32BE(offset + 4 * i);
  for (let i = 16; i < 80; i++)
    words[i] = left(at(words, i - 3) ^ at(words, i - 8) ^ at(words, i - 14) ^ at(words, i - 16), 1);
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let i = 0; i < 80; i++) {
    const next = (left(a, 5) + mix(i, b, c, d) + e + at(words, i)) | 0;
    e = d;
    d = c;
    c = left(b, 30);
    b = a;
    a = next;
  }
  for (const [i, word] of [a, b, c, d, e].entries()) state[i] = at(state, i) + word;
}

function mix(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

function left(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function at(words: Int32Array, i: number): number {
  return words[i] as number;
}
