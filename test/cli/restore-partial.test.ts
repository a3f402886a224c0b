/** agt session restore --path: the paths that it takes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../harness/session.ts';
import { agt, write } from '../harness/world.ts';

test.each([[], ['--dry-run']])('a path that nobody knows is an error that names it %s', (...options) => {
  const session = makeSession({ a: 'a\n' });
  autocommit(session, '--label', 'then');
  write(join(session.sandbox, 'a'), 'changed\n');
  const restore = ['session', 'restore', 's1', '--to', 'then', '--path', 'a', '--path', 'nosuch', ...options];
  const done = agt(session.repository, ...restore);
  expect(done.exitCode).toBe(1);
  expect(done.stderr).toMatch(/^error: "nosuch" is neither in snapshot \w+ nor in the session\nhint: /);
  expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('changed\n');
});

test('a path that is on disk alone is deleted, as the snapshot does not have it', () => {
  const session = makeSession({ a: 'a\n' });
  autocommit(session, '--label', 'then');
  write(join(session.sandbox, 'new'), 'new\n');
  const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then', '--path', 'new');
  expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('restored 1 path, verified') });
});
