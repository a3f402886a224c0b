/** A command that cannot run here passes on the reason, and its hint helps. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

test("another user's repository: git's reason and advice, also in doctor", () => {
  const repository = makeRepository();
  const asOther = (...args: string[]) =>
    run(AGT, args, { cwd: repository, env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } });
  for (const words of [['session', 'list'], ['status'], ['session', 'new']]) {
    expect(asOther(...words)).toEqual({
      exitCode: 128,
      stdout: '',
      stderr:
        `error: git cannot use this repository: detected dubious ownership in repository at '${repository}'\n` +
        `hint: git config --global --add safe.directory ${repository}\n`,
    });
  }
  const doctor = asOther('doctor');
  expect(doctor.stdout).toContain('detected dubious ownership');
  expect(doctor.stdout).toContain(`git config --global --add safe.directory ${repository}`);
  expect(doctor.stdout).not.toContain('nothing is wrong');
  expect(doctor.exitCode).toBe(1);
});

test('no git on PATH: the way that is named works', () => {
  const repository = makeRepository();
  const withoutGit = { PATH: '/nonexistent', AGT_GIT_PATH: undefined };
  const refused = run(AGT, ['session', 'list'], { cwd: repository, env: withoutGit });
  expect(refused.stderr).toBe(
    'error: no git found on PATH\nhint: install git, or put its directory on PATH: PATH=/path/to/bin:"$PATH"\n',
  );
  const env = { ...withoutGit, PATH: dirname(REAL_GIT) };
  expect(run(AGT, ['session', 'list'], { cwd: repository, env }).exitCode).toBe(0);
});

test('export: several remotes, and a remote that is gone', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'x'), 'x');
  git(sandbox, 'add', 'x');
  git(sandbox, 'commit', '-q', '-m', 'x');
  git(repository, 'remote', 'add', 'one', join(makeTempDir(), 'gone'));
  const gone = agt(repository, 'session', 'export', 's1');
  expect(gone.exitCode).toBe(128);
  expect(gone.stderr).toMatch(
    /nothing was exported\nhint: see where it is: git remote get-url --push one\n$/,
  );
  git(repository, 'remote', 'add', 'two', '.');
  expect(agt(repository, 'session', 'export', 's1')).toMatchObject({
    exitCode: 2,
    stderr:
      'error: this repository has several remotes, and no setting chooses one\nhint: choose one with --remote: one, two\n',
  });
});

test('export: a remote that refuses the branch', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'x'), 'x');
  git(sandbox, 'add', 'x');
  git(sandbox, 'commit', '-q', '-m', 'x');
  const remote = join(makeTempDir(), 'remote.git');
  git(repository, 'clone', '-q', '--bare', '.', remote);
  mkdirSync(join(remote, 'hooks'), { recursive: true });
  write(join(remote, 'hooks/update'), '#!/bin/sh\nexit 1\n', 0o755);
  git(repository, 'remote', 'add', 'origin', remote);
  const refused = agt(repository, 'session', 'export', 's1');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('hint: export under another name: agt session export s1 --as NAME\n');
});
