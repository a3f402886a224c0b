/** git trusts an entry of its index unless the file may have changed in the second in which the index was written. */
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agtOk, git, write } from '../harness/world.ts';

test('--base and accept read a file that changed in the second of the index', () => {
  const session = makeSession({ f: 'aaa5\n' });
  const file = join(session.sandbox, 'f');
  const index = join(git(session.sandbox, 'rev-parse', '--absolute-git-dir'), 'index');
  // Only the times could show the second change, and they are equal.
  git(session.sandbox, 'config', 'core.trustCtime', 'false');
  const past = Math.floor(Date.now() / 1000) - 1000;
  write(file, 'bbb5\n');
  utimesSync(file, past, past);
  git(session.sandbox, 'add', 'f');
  write(file, 'ccc5\n');
  for (const path of [file, index]) utimesSync(path, past, past);
  expect(agtOk(session.repository, 'session', 'diff', session.id, '--base')).toContain('-aaa5\n+ccc5');
  agtOk(session.repository, 'session', 'accept', session.id, '-m', 'take it');
  expect(git(session.repository, 'show', 'main:f')).toBe('ccc5');
});
