/** Encrypts for the keys of age, and opens: whole texts, and streams of any length. */
import type { Keys } from './keys.ts';

export type Bytes = ReadableStream<Uint8Array>;

/** Undefined recipients: nothing is encrypted. */
export interface Seal {
  readonly recipients: readonly string[] | undefined;
}

export async function sealStream({ recipients }: Seal, plain: Bytes): Promise<Bytes> {
  if (recipients === undefined) return plain;
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return encrypter.encrypt(plain);
}

export async function sealBytes(seal: Seal, plain: Uint8Array): Promise<Uint8Array> {
  return bytesOf(await sealStream(seal, ReadableStream.from([plain])));
}

/** age itself would load Node's HTTP client for it. */
async function bytesOf(stream: Bytes): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(stream));
}

const AGE = Buffer.from('age-encryption.org/v1\n');

export function isSealed(start: Uint8Array): boolean {
  return AGE.equals(start.subarray(0, AGE.length));
}

/** Undefined if it is for other keys. */
export async function openBytes(keys: Keys | undefined, sealed: Uint8Array): Promise<Uint8Array | undefined> {
  if (!isSealed(sealed)) return sealed;
  if (keys === undefined) return undefined;
  try {
    return await bytesOf(await openStream(keys, ReadableStream.from([sealed])));
  } catch (error) {
    if (isForOthers(error)) return undefined;
    throw error;
  }
}

export async function openStream({ identities }: Keys, sealed: Bytes): Promise<Bytes> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  return decrypter.decrypt(sealed);
}

export function isForOthers(error: unknown): boolean {
  return error instanceof Error && /no identity matched/.test(error.message);
}
