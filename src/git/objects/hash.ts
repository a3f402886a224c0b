/**
 * SHA-1 and SHA-256 as node:crypto computes them, without waiting for node:crypto to load where there is little to hash:
 * a capture after a small edit would spend a tenth of its time on that.
 */
import { createHash, type Hash } from 'node:crypto';
import { once } from '../../once.ts';

export type HashName = 'sha1' | 'sha256';

export interface ObjectHash {
  update(part: string | Uint8Array): ObjectHash;
  /** Hexadecimal. */
  digest(): string;
}

/** How many bytes this process hashes by itself; from there on loading node:crypto takes less time. */
let withoutCrypto = 128 * 1024;

export function openHash(name: HashName): ObjectHash {
  return withoutCrypto > 0 ? new PatientHash(name) : new NativeHash(name);
}

class NativeHash implements ObjectHash {
  private readonly hash: Hash;

  constructor(name: HashName) {
    this.hash = createHash(name);
  }

  update(part: string | Uint8Array): this {
    this.hash.update(part);
    return this;
  }

  digest(): string {
    return this.hash.digest('hex');
  }
}

/** Keeps what it gets until that is more than this process should hash by itself. */
class PatientHash implements ObjectHash {
  private readonly name: HashName;
  private parts: Uint8Array[] = [];
  private native: NativeHash | undefined;

  constructor(name: HashName) {
    this.name = name;
  }

  update(part: string | Uint8Array): this {
    if (this.native === undefined) {
      withoutCrypto -= part.length;
      if (withoutCrypto < 0) this.becomeNative();
    }
    if (this.native === undefined) this.parts.push(Buffer.from(part as Uint8Array));
    else this.native.update(part);
    return this;
  }

  digest(): string {
    return this.native?.digest() ?? ALGORITHMS[this.name](Buffer.concat(this.parts));
  }

  private becomeNative(): void {
    this.native = new NativeHash(this.name);
    for (const part of this.parts) this.native.update(part);
    this.parts = [];
  }
}

const ALGORITHMS = { sha1, sha256 };

const BLOCK = 64;

type AddBlock = (state: Int32Array, words: Int32Array, bytes: Buffer, offset: number) => void;

/** The frame that FIPS 180-4 gives both: blocks of sixteen words, the last one with the length of the message. */
function digestOf(message: Buffer, state: Int32Array, addBlock: AddBlock): string {
  const padded = Buffer.alloc(Math.ceil((message.length + 9) / BLOCK) * BLOCK);
  message.copy(padded);
  padded[message.length] = 0x80;
  padded.writeUInt32BE(Math.floor(message.length / 2 ** 29), padded.length - 8);
  padded.writeUInt32BE((message.length * 8) >>> 0, padded.length - 4);
  const words = new Int32Array(80);
  for (let offset = 0; offset < padded.length; offset += BLOCK) addBlock(state, words, padded, offset);
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function sha1(message: Buffer): string {
  const start = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  return digestOf(message, start, addSha1Block);
}

function addSha1Block(state: Int32Array, words: Int32Array, bytes: Buffer, offset: number): void {
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

const primes = once(() => {
  const found: number[] = [];
  for (let n = 2; found.length < 64; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
});

/** The constants of SHA-256 are the first bits after the point of roots of primes. */
function fractions(root: (prime: number) => number, count: number): Int32Array {
  return Int32Array.from(primes().slice(0, count), (prime) => Math.floor((root(prime) % 1) * 2 ** 32));
}

const sha256Rounds = once(() => fractions(Math.cbrt, 64));

function sha256(message: Buffer): string {
  return digestOf(message, fractions(Math.sqrt, 8), addSha256Block);
}

function addSha256Block(state: Int32Array, words: Int32Array, bytes: Buffer, offset: number): void {
  for (let i = 0; i < 16; i++) words[i] = bytes.readInt32BE(offset + 4 * i);
  for (let i = 16; i < 64; i++) {
    const [x, y] = [at(words, i - 15), at(words, i - 2)];
    const small = left(x, 25) ^ left(x, 14) ^ (x >>> 3);
    const large = left(y, 15) ^ left(y, 13) ^ (y >>> 10);
    words[i] = at(words, i - 16) + small + at(words, i - 7) + large;
  }
  const v = Int32Array.from(state);
  for (let i = 0; i < 64; i++) {
    const [a, b, c, d, e, f, g, h] = v as unknown as number[] as Words8;
    const first =
      h +
      (left(e, 26) ^ left(e, 21) ^ left(e, 7)) +
      ((e & f) ^ (~e & g)) +
      at(sha256Rounds(), i) +
      at(words, i);
    const second = (left(a, 30) ^ left(a, 19) ^ left(a, 10)) + ((a & b) ^ (a & c) ^ (b & c));
    v.set([first + second, a, b, c, d + first, e, f, g]);
  }
  for (const [i, word] of v.entries()) state[i] = at(state, i) + word;
}

type Words8 = [number, number, number, number, number, number, number, number];

function left(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function at(words: Int32Array, i: number): number {
  return words[i] as number;
}
