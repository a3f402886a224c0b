/** agt key: the user's key, with which sessions on a remote are encrypted. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AgtError, attempt, plural } from '../../errors.ts';
import { readStandardInput } from '../../process/streams.ts';
import { importKeys, keyFile, makeKeys, readKeys, requireKeys } from '../../travel/keys.ts';
import { defineCommand, option } from '../command-line/command.ts';

export const keyNew = defineCommand({
  usage: 'key new',
  summary: 'make your key, with which agt session push encrypts',
  options: option.shared('json'),
  examples: [['agt key new', 'agt session push does it as well, if there is none']],
  run: async (_, { env }) => {
    if ((await readKeys(env)) !== undefined)
      throw new AgtError(`you have a key already: ${keyFile(env)}`, {
        hints: ['what was pushed with it cannot be opened without it; see: agt key show'],
      });
    const { recipient } = await makeKeys(env);
    return { json: { recipient, file: keyFile(env) }, text: `${recipient}\n` };
  },
});

export const keyShow = defineCommand({
  usage: 'key show',
  summary: 'print your public key, for the agt.recipients of others',
  options: option.shared('json'),
  examples: [['agt key show', 'people who add it to agt.recipients push sessions that you can open']],
  run: async (_, { env }) => {
    const { recipient } = await requireKeys(env);
    return { json: { recipient, file: keyFile(env) }, text: `${recipient}\n` };
  },
});

export const keyExport = defineCommand({
  usage: 'key export',
  summary: 'print your secret key, for another machine of yours',
  examples: [['agt key export | ssh MACHINE agt key import -', 'take it there']],
  run: async (_, { env }) => {
    await requireKeys(env);
    return readFileSync(keyFile(env), 'utf8');
  },
});

export const keyImport = defineCommand({
  usage: 'key import <file>',
  summary: 'take a secret key that agt key export has printed',
  description:
    'Take a secret key that agt key export or age-keygen has printed. The first one here is your own; later ones only ' +
    'open sessions.',
  positionals: { file: option.required('the file; - for standard input') },
  examples: [['agt key import -', 'from standard input']],
  run: async ({ file }, { env, cwd }) => {
    const text = ['-', ''].includes(file)
      ? readStandardInput()
      : attempt(() => readFileSync(resolve(cwd, file), 'utf8'));
    if (text === undefined) throw new AgtError(`cannot read ${file}`);
    const added = await importKeys(env, text);
    const { identities = [], recipient } = (await readKeys(env)) ?? {};
    const first = identities.length > added ? `; you still push with ${recipient}` : '';
    return added === 0
      ? 'agt knows it already\n'
      : `${plural(added, 'key')} added to ${keyFile(env)}${first}\n`;
  },
});
