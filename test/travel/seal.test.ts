/** The format of age: what agt encrypts, the library of age opens, and the other way round. */
import { randomBytes } from 'node:crypto';
import { Decrypter, Encrypter } from 'age-encryption';
import { expect, test } from 'vitest';
import {
  isForOthers,
  makeIdentity,
  openBytes,
  openStream,
  recipientOf,
  sealBytes,
} from '../../src/travel/seal.ts';

const SIZES = [0, 1, 2 ** 16 - 1, 2 ** 16, 2 ** 16 + 1, 2 ** 17, 300_000];

async function makeKeys() {
  const own = await makeIdentity();
  return { identities: [await makeIdentity(), own], recipient: await recipientOf(own) };
}

test.each(SIZES)('%i bytes, by agt and by the library of age', async (size) => {
  const keys = await makeKeys();
  const plain = randomBytes(size);
  const sealed = await sealBytes(
    { recipients: [await recipientOf(await makeIdentity()), keys.recipient] },
    plain,
  );
  const decrypter = new Decrypter();
  for (const identity of keys.identities) decrypter.addIdentity(identity);
  expect(plain.equals(await decrypter.decrypt(sealed))).toBe(true);
  expect(plain.equals((await openBytes(keys, sealed)) ?? Buffer.alloc(1))).toBe(true);
  const encrypter = new Encrypter();
  encrypter.addRecipient(keys.recipient);
  expect(plain.equals((await openBytes(keys, await encrypter.encrypt(plain))) ?? Buffer.alloc(1))).toBe(true);
});

test('nothing opens that is for other keys, damaged or cut off', async () => {
  const [keys, others] = [await makeKeys(), await makeKeys()];
  const sealed = Buffer.from(await sealBytes({ recipients: [keys.recipient] }, randomBytes(2 ** 17)));
  expect(await openBytes(others, sealed)).toBeUndefined();
  const { length } = sealed;
  for (const at of [30, 100, 190, 300, length - 1]) {
    const damaged = Buffer.from(sealed);
    damaged[at] = (damaged[at] as number) ^ 1;
    const opened = await openBytes(keys, damaged).catch(() => undefined);
    expect(opened, `byte ${at}`).toBeUndefined();
  }
  for (const end of [30, 100, 200, 250, length - 2 ** 16 - 16, length - 1])
    await expect(
      openBytes(keys, sealed.subarray(0, end)).then((bytes) => bytes?.length),
      `${end}`,
    ).rejects.toThrow();
  await expect(openBytes(keys, Buffer.concat([sealed, Buffer.from('x')]))).rejects.toThrow();
});

test('a header opens in whatever pieces it comes', async () => {
  const keys = await makeKeys();
  const sealed = await sealBytes({ recipients: [keys.recipient] }, Buffer.from('some words'));
  const bytes = async function* () {
    for (const byte of sealed) yield Uint8Array.of(byte);
  };
  const opened = Buffer.concat(await Array.fromAsync(await openStream(keys, bytes())));
  expect(opened.toString()).toBe('some words');
  const error = await openStream(await makeKeys(), bytes()).catch((reason: unknown) => reason);
  expect(isForOthers(error)).toBe(true);
});
