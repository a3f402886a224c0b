import { linkSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFileAtomic } from '../../src/disk/atomic-file.ts';
import { makeTempDir } from '../harness/world.ts';

test.each([
  ['link', symlinkSync],
  ['hard link', linkSync],
])('a %s at the temporary name: the file that it leads to stays as it is', (_, link) => {
  const directory = makeTempDir();
  const [users, path] = [join(directory, 'users'), join(directory, 'HEAD')];
  writeFileSync(users, 'of the user');
  link(users, `${path}.tmp`);
  writeFileAtomic(path, 'new');
  expect([readFileSync(users, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['of the user', 'new']);
});
