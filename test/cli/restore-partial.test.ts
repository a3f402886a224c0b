/** agt session restore --path and --dry-run: the paths that they take and list. */
import { readFileSync, rmSync } from 'node:fs';
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

test('--dry-run lists what the restore would write, also if the sandbox is no worktree any more', () => {
  const session = makeSession({ a: 'a\n', b: 'b\n', 'c/d': 'd\n' });
  autocommit(session, '--label', 'then');
  write(join(session.sandbox, 'a'), 'changed\n');
  rmSync(join(session.sandbox, 'b'));
  rmSync(join(session.sandbox, '.git'));
  const preview = agt(session.repository, 'session', 'restore', 's1', '--to', 'then', '--dry-run');
  expect(preview.stdout).toMatch(/^M sandbox\/a\nA sandbox\/b\ns1: would restore 2 paths to \w+\n$/);
  const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
  expect(done.stdout).toContain('restored 2 paths, verified');
});
