/** The name of the store of an attached folder (folders/). Git mode looks for it, too. */
import { basename } from 'node:path';
import { openHash } from '../git/objects/hash.ts';

/** As long as people can read it. */
export const LONGEST_NAME = 48;
const HASH_DIGITS = 12;

/** The name of the folder without characters that a session id cannot have. */
export function plainName(folder: string): string {
  const plain = basename(folder)
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, LONGEST_NAME)
    .replace(/(\.lock)?[.-]*$/i, '');
  return plain === '' || /\.lock$/i.test(plain) ? 'folder' : plain;
}

/** Without `.git`. `folder` is a real path. */
export function storeName(folder: string): string {
  return `${plainName(folder)}-${openHash('sha1').update(folder).digest().slice(0, HASH_DIGITS)}`;
}
