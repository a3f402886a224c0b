/** A killed partial restore: finishing it restores that part alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, REAL_GIT, run, write } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

test.each(['checkout: file written#1', 'restore: brought back#1'])('killed at "%s"', (point) => {
  const { repository, sandbox } = makeSession();
  for (const text of ['first\n', 'second\n']) {
    for (const name of ['a', 'b']) write(join(sandbox, name), text);
    agtOk(repository, 'autocommit', '--session-id', 's1');
  }
  write(join(sandbox, 'b'), 'third\n');
  const restore = ['session', 'restore', 's1', '--to', '@{1}', '--path', 'a'];
  const env = { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT };
  expect(run(process.execPath, [KILLABLE, ...restore], { cwd: repository, env }).exitCode).toBe(null);
  expect(agt(repository, 'doctor').stdout).toContain('fix: agt doctor --fix');
  const fixed = agtOk(repository, 'doctor', '--fix');
  expect(fixed).toContain('nothing is wrong');
  const undo = /did not finish restoring it; restored \d paths?; to take this back: agt (restore s1 \w+)\n/;
  expect(fixed).toMatch(undo);
  expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('first\n');
  expect(readFileSync(join(sandbox, 'b'), 'utf8')).toBe('third\n');
  agtOk(repository, ...(undo.exec(fixed)?.[1] ?? '').split(' '));
  expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('second\n');
});
