/**
 * The user's key of age (https://age-encryption.org), with which sessions on a remote are encrypted. The file is one of
 * age-keygen: the first key is the user's own, the others came by `agt key import` and only open. Encrypts and opens whole
 * texts, and streams of any length.
 */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { AgtError, succeeds, unlessMissing, usageError } from '../errors.ts';
import { forOwnerAlone } from '../git/run/environment.ts';
import { shellQuote } from '../process/shell-quote.ts';

export interface Keys {
  /** Secret. */
  readonly identities: readonly string[];
  /** Public: the recipient of the first. */
  readonly recipient: string;
}

const SECRET = /^AGE-SECRET-KEY-1[0-9A-Z]+$/;

export function keyFile(env: NodeJS.ProcessEnv): string {
  const named = env['XDG_CONFIG_HOME'];
  const config = named !== undefined && isAbsolute(named) ? named : join(env['HOME'] ?? '', '.config');
  return join(config, 'agt', 'key');
}

export async function readKeys(env: NodeJS.ProcessEnv): Promise<Keys | undefined> {
  const path = keyFile(env);
  const text = unlessMissing(() => readFileSync(path, 'utf8'));
  if (text === undefined) return undefined;
  if (othersCanRead(path))
    throw new AgtError(`others can read your key, ${path}`, { hints: [`chmod 600 ${shellQuote(path)}`] });
  const identities = secretsIn(text);
  const [own] = identities;
  if (own === undefined)
    throw new AgtError(`${path} has no key of age`, {
      hints: ['move it away, and bring your key back: agt key import FILE'],
    });
  return { identities, recipient: await recipientOf(own) };
}

export function othersCanRead(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
}

/** `way`: to what somebody else has sent, as a hint. @throws AgtError without a key */
export async function requireKeys(env: NodeJS.ProcessEnv, way?: string): Promise<Keys> {
  const keys = await readKeys(env);
  if (keys !== undefined) return keys;
  const more = way === undefined ? '' : `; if somebody else sent it: ${way}`;
  throw new AgtError('you have no key yet', {
    hints: [
      'bring that of another machine; there: agt key export | ssh THIS-MACHINE agt key import -',
      `or make one: agt key new${more}`,
    ],
  });
}

/** For a hint. */
export function commandsToShare(recipient = 'WHAT-IT-PRINTS', id = 'ID'): string {
  return `let who has it now type: agt config add --global agt.recipients ${recipient} && agt session push ${id} --again`;
}

export async function makeKeys(env: NodeJS.ProcessEnv): Promise<Keys> {
  const { generateX25519Identity } = await import('age-encryption');
  const own = await generateX25519Identity();
  await writeKeys(env, [own]);
  return { identities: [own], recipient: await recipientOf(own) };
}

/** Returns how many are new. @throws AgtError if the text has none. */
export async function importKeys(env: NodeJS.ProcessEnv, text: string): Promise<number> {
  const given = secretsIn(text);
  if (given.length === 0)
    throw new AgtError('there is no secret key of age in it', {
      hints: ['a key is a line that begins with AGE-SECRET-KEY-1; agt key export prints yours'],
    });
  const known = (await readKeys(env))?.identities ?? [];
  const added = given.filter((secret) => !known.includes(secret));
  await writeKeys(env, [...known, ...added]);
  return added.length;
}

async function writeKeys(env: NodeJS.ProcessEnv, identities: readonly string[]): Promise<void> {
  const blocks = await Promise.all(
    identities.map(async (secret) => `# public key: ${await recipientOf(secret)}\n${secret}\n`),
  );
  forOwnerAlone(() => writeFileAtomic(keyFile(env), blocks.join(''), { durable: true }));
}

function secretsIn(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => SECRET.test(line));
}

export async function recipientOf(secret: string): Promise<string> {
  const { identityToRecipient } = await import('age-encryption');
  try {
    return await identityToRecipient(secret);
  } catch (cause) {
    throw new AgtError('a secret key of age is damaged', {
      cause,
      hints: ['take it again from where it came: agt key export'],
    });
  }
}

/** @throws AgtError for a word of agt.recipients that is no public key */
export async function checkRecipients(recipients: readonly string[]): Promise<readonly string[]> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  const wrong = recipients.find((recipient) => !succeeds(() => encrypter.addRecipient(recipient)));
  if (wrong === undefined) return recipients;
  throw usageError(
    `"${wrong}" in agt.recipients is no public key of age`,
    'it begins with age1; agt key show prints one',
  );
}

export type Bytes = ReadableStream<Uint8Array>;

/** Public keys. Undefined: nothing is encrypted. */
export type Recipients = readonly string[] | undefined;

export async function sealStream(recipients: Recipients, plain: Bytes): Promise<Bytes> {
  if (recipients === undefined) return plain;
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return encrypter.encrypt(plain);
}

/** age itself would load Node's HTTP client for it. */
export async function bytesOf(stream: Bytes): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream));
}

const AGE = Buffer.from('age-encryption.org/v1\n');

export function isSealed(start: Uint8Array): boolean {
  return AGE.equals(start.subarray(0, AGE.length));
}

/** Undefined identities: it is not encrypted. */
export async function openStream(identities: Keys['identities'] | undefined, sealed: Bytes): Promise<Bytes> {
  if (identities === undefined) return sealed;
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  return decrypter.decrypt(sealed);
}

export function isForOthers(error: unknown): boolean {
  return error instanceof Error && /no identity matched/.test(error.message);
}
