/** Named pipes where git keeps files of a sandbox, or in place of a file: no command waits for somebody to write into them. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, agtOk, git, run, write } from '../harness/world.ts';

function makePipe(path: string): void {
  rmSync(path, { force: true });
  expect(run('mkfifo', [path], { cwd: '/' }).exitCode).toBe(0);
}

/** The built agt; it is killed after a time that no command needs. */
function ends(cwd: string, line: string) {
  const { status, stdout, stderr } = spawnSync('timeout', ['-k', '1', '30', AGT, ...line.split(' ')], {
    cwd,
    encoding: 'utf8',
  });
  expect([line, status]).not.toEqual([line, 124]);
  return { exitCode: status, stdout, stderr };
}

const NO_FILE = /^error: .* is no regular file/;

test.each([
  ['index', '.git/worktrees/sandbox/index'],
  ['HEAD', '.git/worktrees/sandbox/HEAD'],
])('as %s: commands go on or refuse, and restore mends it', (_, file) => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const other = sessionIn(repository, 's2');
  agtOk(repository, 'autocommit', 's1');
  for (const work of [sandbox, other.sandbox]) write(join(work, 'work'), 'work\n');
  makePipe(join(repository, file));
  expect(ends(repository, 'autocommit --all').exitCode).toBe(0);
  for (const id of ['s1', 's2'])
    expect(git(repository, 'show', `agtsessions/${id}:sandbox/work`)).toBe('work');
  expect(ends(repository, 'list').stdout).toMatch(/^s1 +active[\s\S]*^s2 +active/m);
  expect(ends(repository, 'status').stdout).toMatch(/regular file/);
  for (const line of ['session diff s1 --base', 'accept s1', 'session sync s1'])
    expect(ends(repository, line)).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(NO_FILE) });
  ends(repository, 'session new s3');
  const doctor = ends(repository, 'doctor');
  expect(doctor.exitCode).toBe(1);
  expect(doctor.stdout).not.toContain('nothing is wrong');
  agtOk(repository, 'session', 'restore', 's1', '--to', '@');
  expect(git(sandbox, 'status', '--porcelain', '--branch')).toBe('## agt/s1\n?? work');
  ends(repository, 'gc');
});

test('as HEAD: agt doctor --fix makes a HEAD, so that git works again', () => {
  const { repository, sandbox } = makeSession();
  makePipe(join(repository, '.git/worktrees/sandbox/HEAD'));
  expect(ends(repository, 'gc')).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(NO_FILE) });
  expect(ends(repository, 'doctor --fix').stdout).toContain('nothing is wrong');
  expect(git(sandbox, 'status', '--porcelain', '--branch')).toBe('## agt/s1');
  expect(git(repository, 'branch')).toContain('agt/s1');
});

test('as .git of the sandbox, as a tracked file and as .worktreeinclude', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  makePipe(join(sandbox, 'a'));
  expect(ends(repository, 'autocommit --all').exitCode).toBe(0);
  expect(ends(repository, 'list').stdout).toMatch(/^s1 +active/m);
  ends(repository, 'status');
  makePipe(join(sandbox, '.git'));
  for (const line of ['autocommit --all', 'status', 'list', 'session remove s1', 'accept s1'])
    ends(repository, line);
  expect(ends(repository, 'doctor').stdout).toContain('its sandbox has lost its .git file');
  makePipe(join(repository, '.worktreeinclude'));
  expect(ends(repository, 'session new s2').exitCode).toBe(0);
});
