/** Objects for the time of one command. */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withScratchObjects } from '../../../src/git/objects/scratch-objects.ts';
import { openGit } from '../../../src/git/run/git.ts';
import { makeTempDir, REAL_GIT } from '../../harness/world.ts';

test('another agt may delete the empty directory at any moment', async () => {
  const agtDir = makeTempDir();
  mkdirSync(join(agtDir, 'scratch'));
  // With a short pause, as a loop alone on a processor would win every time.
  const loop = `const { rmdirSync } = process.getBuiltinModule('fs');
    const cell = new Int32Array(new SharedArrayBuffer(4));
    for (;; Atomics.wait(cell, 0, 0, Math.random() / 10)) try { rmdirSync(process.argv[1]) } catch {}`;
  const other = spawn(process.execPath, ['-e', loop, join(agtDir, 'scratch')], { stdio: 'ignore' });
  const place = { git: openGit(REAL_GIT, agtDir, process.env), commonDir: agtDir, agtDir };
  try {
    for (let n = 0; n < 200; n++)
      expect(await withScratchObjects(place, async ({ dir }) => dir)).toContain('objects-');
  } finally {
    other.kill('SIGKILL');
  }
});
