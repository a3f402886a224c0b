/** A directory for a short time, while other processes delete the empty one above it. */
import { spawn } from 'node:child_process';
import { rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTemporaryDirectory } from '../../src/disk/make-directories.ts';
import { makeTempDir } from '../harness/world.ts';

test('a temporary directory is made although another process deletes the one above, as long as it is empty', () => {
  const above = join(makeTempDir('above'), 'scratch');
  const script = `const { rmdir } = require('fs');
    const again = () => rmdir(process.argv[1], () => setTimeout(again));
    again();`;
  const other = spawn(process.execPath, ['-e', script, above]);
  try {
    let again = 0;
    for (const end = Date.now() + 2000; Date.now() < end; again++)
      rmdirSync(makeTemporaryDirectory(join(above, 'one-')));
    expect(again).toBeGreaterThan(0);
  } finally {
    other.kill();
  }
});
