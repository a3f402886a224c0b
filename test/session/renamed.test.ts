/** A session folder that somebody renamed beside the others: agt finds it by git's links, and makes no second one. */
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

let session: TestSession;
let repository: string;
let renamed: string;
let sandbox: string;

beforeEach(() => {
  session = makeSession({ 'a.txt': 'one\n' });
  repository = session.repository;
  agtOk(repository, 'autocommit', 's1');
  write(join(session.sandbox, 'later'), 'not captured yet\n');
  git(session.sandbox, 'add', 'later');
  renamed = `${repository}.agt/sessions/s1 renamed`;
  sandbox = join(renamed, 'sandbox');
  renameSync(`${repository}.agt/sessions/s1`, renamed);
});

function findings(): { about: string; problem: string; mend: string }[] {
  return JSON.parse(agt(repository, 'doctor', '--json').stdout).findings;
}

function expectConnected(): void {
  expect(findings()).toMatchObject([
    { about: 's1', problem: `its sandbox has moved to ${sandbox}`, mend: 'agt doctor --fix' },
  ]);
  agtOk(repository, 'doctor', '--fix');
  expect(findings()).toEqual([]);
  expect(git(sandbox, 'status', '--porcelain')).toBe('A  later');
  expect(git(repository, 'worktree', 'list', '--porcelain')).toContain(`worktree ${sandbox}\n`);
  agtOk(sandbox, 'autocommit');
  expect(git(repository, 'show', 'agtsessions/s1:sandbox/later')).toBe('not captured yet');
}

test('doctor --fix connects it, and the session goes on there to its end', () => {
  expectConnected();
  rmSync(join(sandbox, 'later'));
  agtOk(repository, 'session', 'undo', 's1');
  expect(readFileSync(join(sandbox, 'later'), 'utf8')).toBe('not captured yet\n');
  agtOk(repository, 'session', 'remove', 's1');
  expect(existsSync(renamed)).toBe(false);
  agtOk(repository, 'session', 'restore', 's1', '--to', '@');
  expect(git(session.sandbox, 'status', '--porcelain')).toBe('A  later');
  expect(findings()).toEqual([]);
});

test('also after git itself has led the registration there', () => {
  git(repository, 'worktree', 'repair', sandbox);
  expectConnected();
});

test.each([
  ['restore', 's1', '--to', '@'],
  ['undo', 's1'],
  ['remove', 's1', '--force'],
])('session %s makes no second sandbox and forgets none', (...args) => {
  const refused = agt(repository, 'session', ...args);
  expect(refused.stderr).toBe(
    `error: the sandbox of "s1" has moved to ${sandbox}\nhint: connect it again: agt doctor --fix\n`,
  );
  expect(existsSync(session.folder)).toBe(false);
  expectConnected();
});

test('a command in it, and the list, say that it has moved', () => {
  expect(agt(sandbox, 'autocommit').stderr).toBe(
    `error: session "s1" has moved here from ${session.folder}\nhint: connect it again: agt doctor --fix\n`,
  );
  expect(agtOk(repository, 'list')).toMatch(/^s1 {2}sandbox moved /m);
});

test('the sandbox of another session on the same branch is not taken for it', () => {
  const other = sessionIn(repository, 's2');
  rmSync(renamed, { recursive: true });
  git(repository, 'worktree', 'prune');
  git(other.sandbox, 'switch', '-q', 'agt/s1');
  expect(findings()).toMatchObject([{ about: 's1', problem: `its sandbox is gone: ${session.sandbox}` }]);
});
