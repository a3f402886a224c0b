/** Files of the user are written and deleted through no link, also if a directory has just become one. */
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeFile } from '../../../src/session/in-place/checkout.ts';
import { write as writeFile } from '../../../src/session/in-place/user-files.ts';
import { makeTempDir, write } from '../../harness/world.ts';

const file = { isLink: false, content: Buffer.from('mine\n'), mode: 0o640 };

test('a directory that is a link', () => {
  const [checkout, outside] = [makeTempDir('checkout'), makeTempDir('outside')];
  write(join(outside, 'a'), 'outside\n');
  symlinkSync(outside, join(checkout, 'dir'));
  removeFile(checkout, 'dir/a');
  for (const path of ['dir/a', 'dir/new', 'dir/deep/new'])
    expect(() => writeFile(checkout, { path, file })).toThrow(/ENOTDIR|ELOOP/);
  expect(readdirSync(outside)).toEqual(['a']);
  expect(readFileSync(join(outside, 'a'), 'utf8')).toBe('outside\n');
});

test('directories are made for a file, and go with the last one in them', () => {
  const checkout = makeTempDir('checkout');
  writeFile(checkout, { path: 'one/two/three', file });
  writeFile(checkout, { path: 'one/link', file: { ...file, isLink: true } });
  expect(readFileSync(join(checkout, 'one/two/three'), 'utf8')).toBe('mine\n');
  removeFile(checkout, 'one/two/three');
  expect(readdirSync(join(checkout, 'one'))).toEqual(['link']);
  removeFile(checkout, 'one/link');
  expect(existsSync(join(checkout, 'one'))).toBe(false);
});
