/**
 * Encrypts for the keys of age, and opens: streams of any length in the format age-encryption.org/v1. Node computes it,
 * because the library of age takes longer to start than a small push. The library makes the headers for recipients of
 * other kinds than agt's own keys.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { attempt } from '../errors.ts';

export type Bytes = AsyncIterable<Uint8Array>;

export interface Keys {
  /** Secret. */
  readonly identities: readonly string[];
  /** Public: the recipient of the first. */
  readonly recipient: string;
}

/** Undefined recipients: nothing is encrypted. */
export interface Seal {
  readonly recipients: readonly string[] | undefined;
}

export async function sealStream({ recipients }: Seal, plain: Bytes): Promise<Bytes> {
  if (recipients === undefined) return plain;
  const keys = await Promise.all(recipients.map(publicKeyIn));
  const usual = keys.filter((key) => key !== undefined);
  const fileKey = randomBytes(16);
  if (usual.length < keys.length) return encrypted(await headerOfLibrary(recipients), plain);
  const text = `${VERSION}${usual.map((key) => stanzaFor(key, fileKey)).join('')}---`;
  return encrypted({ fileKey, header: `${text} ${base64(macOf(fileKey, text))}\n` }, plain);
}

export async function sealBytes(seal: Seal, plain: Uint8Array): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(await sealStream(seal, streamOf(plain))));
}

async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const VERSION = 'age-encryption.org/v1\n';

export function isSealed(start: Uint8Array): boolean {
  return Buffer.from(VERSION).equals(start.subarray(0, VERSION.length));
}

/** Undefined if it is for other keys. */
export async function openBytes(keys: Keys | undefined, sealed: Uint8Array): Promise<Uint8Array | undefined> {
  if (!isSealed(sealed)) return sealed;
  if (keys === undefined) return undefined;
  try {
    return Buffer.concat(await Array.fromAsync(await openStream(keys, streamOf(sealed))));
  } catch (error) {
    if (isForOthers(error)) return undefined;
    throw error;
  }
}

/** Version, stanzas, the sum that proves them with the key of the file. */
const HEADER =
  /^(age-encryption\.org\/v1\n(?:-> [^\n]+\n(?:[\w+/]{64}\n)*[\w+/]{0,63}\n)+---) ([\w+/]{43})\n/;
const STANZA = /^-> X25519 ([\w+/]{43})\n([\w+/]{43})$/gm;
const NONCE_LENGTH = 16;
/** A recipient needs at most 2 KB. */
const LONGEST_HEADER = 2 ** 20;

export async function openStream({ identities }: Keys, sealed: Bytes): Promise<Bytes> {
  const source = sealed[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  let header: RegExpExecArray | null = null;
  while (header === null || start.length < header[0].length + NONCE_LENGTH) {
    const next = await source.next();
    if (next.done === true || start.length > LONGEST_HEADER) throw new Error('it has no header of age');
    start = Buffer.concat([start, next.value]);
    header = HEADER.exec(start.toString('latin1'));
  }
  const [whole, text = '', mac] = header;
  const pairs = await Promise.all(identities.map(pairOf));
  const [fileKey] = [...text.matchAll(STANZA)].flatMap((stanza) =>
    pairs.flatMap((pair) => fileKeyIn(stanza, pair) ?? []),
  );
  if (fileKey === undefined) throw new ForOthers('it is encrypted for other keys');
  if (base64(macOf(fileKey, text)) !== mac) throw new Error('its header is damaged');
  const from = whole.length + NONCE_LENGTH;
  const key = derived(fileKey, start.subarray(whole.length, from), 'payload');
  return opened(key, withRest(start.subarray(from), source));
}

class ForOthers extends Error {}

export function isForOthers(error: unknown): boolean {
  return error instanceof ForOthers;
}

async function* withRest(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

interface Header {
  readonly header: string;
  readonly fileKey: Uint8Array;
}

/** A recipient of our own learns the key of the file, and leaves nothing in the header. */
async function headerOfLibrary(recipients: readonly string[]): Promise<Header> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  let fileKey: Uint8Array = Buffer.alloc(0);
  const wrapFileKey = (key: Uint8Array) => {
    fileKey = key;
    return [];
  };
  encrypter.addRecipient({ wrapFileKey });
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const empty = Buffer.from(await encrypter.encrypt(Buffer.alloc(0))).toString('latin1');
  return { fileKey, header: HEADER.exec(empty)?.[0] as string };
}

const PIECE = 2 ** 16;
const TAG = 16;

async function* encrypted({ header, fileKey }: Header, plain: Bytes): AsyncGenerator<Uint8Array> {
  const nonce = randomBytes(NONCE_LENGTH);
  const key = derived(fileKey, nonce, 'payload');
  yield Buffer.concat([Buffer.from(header), nonce]);
  let number = 0;
  for await (const { piece, isLast } of pieces(plain, PIECE))
    yield sealPiece(key, nonceOf(number++, isLast), piece);
}

async function* opened(key: Uint8Array, sealed: Bytes): AsyncGenerator<Uint8Array> {
  let number = 0;
  for await (const { piece, isLast } of pieces(sealed, PIECE + TAG)) {
    const plain = openPiece(key, nonceOf(number, isLast), piece);
    if (plain.length === 0 && number > 0) throw new Error('its last piece is empty');
    number++;
    yield plain;
  }
}

/** All are of one size but the last, which says by its number that nothing is cut off. */
async function* pieces(source: Bytes, size: number) {
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    for (; rest.length > size; rest = rest.subarray(size))
      yield { piece: rest.subarray(0, size), isLast: false };
  }
  yield { piece: rest, isLast: true };
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = Number(isLast);
  return nonce;
}

const CIPHER = 'chacha20-poly1305';
const OPTIONS = { authTagLength: TAG };

function sealPiece(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, OPTIONS);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @throws if it is not what the key has sealed */
function openPiece(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv(CIPHER, key, nonce, OPTIONS);
  decipher.setAuthTag(sealed.subarray(-TAG));
  return Buffer.concat([decipher.update(sealed.subarray(0, -TAG)), decipher.final()]);
}

/** The header's part for one recipient: the key of the file, which only its secret key opens. */
function stanzaFor(recipient: Uint8Array, fileKey: Uint8Array): string {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const share = bytesOf(publicKey);
  const secret = diffieHellman({ privateKey, publicKey: publicKeyOf(recipient) });
  const body = sealPiece(wrapping(secret, share, recipient), Buffer.alloc(12), fileKey);
  return `-> X25519 ${base64(share)}\n${base64(body)}\n`;
}

/** Undefined if it is for another key. */
function fileKeyIn([, first = '', second = '']: RegExpExecArray, { privateKey, recipient }: Pair) {
  const [share, body] = [Buffer.from(first, 'base64'), Buffer.from(second, 'base64')];
  return attempt(() => {
    const secret = diffieHellman({ privateKey, publicKey: publicKeyOf(share) });
    return openPiece(wrapping(secret, share, recipient), Buffer.alloc(12), body);
  });
}

function wrapping(secret: Uint8Array, share: Uint8Array, recipient: Uint8Array): Uint8Array {
  return derived(secret, Buffer.concat([share, recipient]), 'age-encryption.org/v1/X25519');
}

function derived(key: Uint8Array, salt: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, salt, use, 32));
}

function macOf(fileKey: Uint8Array, text: string): Buffer {
  return createHmac('sha256', derived(fileKey, Buffer.alloc(0), 'header'))
    .update(text)
    .digest();
}

/** Without the signs that fill it up. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

function publicKeyOf(bytes: Uint8Array): KeyObject {
  const x = Buffer.from(bytes).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
}

function bytesOf(publicKey: KeyObject): Buffer {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url');
}

interface Pair {
  readonly privateKey: KeyObject;
  /** Its public key. */
  readonly recipient: Uint8Array;
}

/** PKCS #8 of an X25519 key (RFC 8410), before its 32 bytes. */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

const pairs = new Map<string, Pair>();

/** @throws if it is no secret key of age */
async function pairOf(identity: string): Promise<Pair> {
  const known = pairs.get(identity);
  if (known !== undefined) return known;
  const { bech32 } = await import('@scure/base');
  const key = Buffer.concat([PKCS8, bech32.decodeToBytes(identity).bytes]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const pair = { privateKey, recipient: bytesOf(createPublicKey(privateKey)) };
  pairs.set(identity, pair);
  return pair;
}

/** Undefined if it is of another kind, or none. */
async function publicKeyIn(recipient: string): Promise<Uint8Array | undefined> {
  const { bech32 } = await import('@scure/base');
  const { prefix, bytes } = attempt(() => bech32.decodeToBytes(recipient)) ?? {};
  return prefix === 'age' && bytes?.length === 32 ? bytes : undefined;
}

export async function makeIdentity(): Promise<string> {
  const { bech32 } = await import('@scure/base');
  return bech32.encodeFromBytes('AGE-SECRET-KEY-', randomBytes(32)).toUpperCase();
}

/** @throws if it is no secret key of age */
export async function recipientOf(identity: string): Promise<string> {
  const { bech32 } = await import('@scure/base');
  return bech32.encodeFromBytes('age', (await pairOf(identity)).recipient);
}

/** @throws for a word that is no public key of age */
export async function checkRecipient(recipient: string): Promise<void> {
  if ((await publicKeyIn(recipient)) !== undefined) return;
  const { Encrypter } = await import('age-encryption');
  new Encrypter().addRecipient(recipient);
}
