/** The commit of an acceptance tells of another session's work, which came by a sync, only what lands with it. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

test('work of another session that is off the branch, taken out, and back on the branch', () => {
  const { repository, sandbox } = makeSession();
  const good = sessionIn(repository, 'good').sandbox;
  const commit = (at: string, name: string) => {
    write(join(at, name), `${name}\n`);
    git(at, 'add', name);
    git(at, 'commit', '-qm', `Add ${name}`);
  };
  const planned = () => {
    const { stdout, stderr } = agt(repository, 'accept', 'good', '-n', '--json');
    const { message, files } = JSON.parse(stdout) as { message: string; files: { path: string }[] };
    return { message, files: files.map(({ path }) => path), stderr };
  };
  commit(sandbox, 'bad');
  agtOk(repository, 'accept', 's1');
  agtOk(repository, 'sync', 'good');
  agtOk(repository, 'unaccept', 's1');
  write(join(good, 'open'), 'open\n');
  expect(planned()).toEqual({
    message: 'Work of session good\n\nWith work of session s1: Add bad\n\nAgt-Session: good',
    files: ['bad', 'open'],
    stderr: expect.stringContaining('this is work of session "s1", which "main" does not have any more'),
  });
  commit(good, 'good');
  git(good, 'rm', '-q', 'bad');
  const without = { message: 'Add good\n\nAgt-Session: good', files: ['good', 'open'], stderr: '' };
  expect(planned()).toEqual(without);
  git(good, 'restore', '-q', '--staged', '--worktree', 'bad');
  agtOk(repository, 'accept', 's1');
  expect(planned()).toEqual(without);
});
