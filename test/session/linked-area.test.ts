/** The folder of sessions may be a link, for example to a larger disk. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, write } from '../harness/world.ts';

test('a session in a folder that is a link is created, removed and restored like any other', () => {
  const repository = makeRepository();
  const large = makeTempDir('large');
  symlinkSync(large, `${repository}.agt`);
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', 's1', '--json'));
  expect(sandbox).toBe(join(large, 'sessions/s1/sandbox'));
  write(join(sandbox, 'x'), 'x');
  expect(agt(repository, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
  agtOk(sandbox, 'autocommit');
  agtOk(repository, 'session', 'remove', 's1');
  expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(1);
  agtOk(repository, 'session', 'restore', 's1', '--to', '@');
  expect(git(sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s1');
  expect(agt(repository, 'doctor').exitCode).toBe(0);
});
