/** Doctor finishes a removal that was killed while git and agt disagree about the place of the sandbox. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';

const withPoints = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

test('killed at the removal after an acceptance: doctor says what has landed', () => {
  const repository = makeRepository();
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', 's1', '--json')) as { sandbox: string };
  write(join(sandbox, 'new'), 'new\n');
  run(process.execPath, [withPoints, 'accept', 's1', '-m', 'work'], {
    cwd: repository,
    env: { AGT_TEST_KILL_AT: 'remove: renamed#1', AGT_GIT_PATH: REAL_GIT },
  });
  const main = git(repository, 'rev-parse', 'main').slice(0, 10);
  expect(agt(repository, 'doctor').stdout).toContain(
    `agt did not finish removing it, after its work had come to main as ${main}`,
  );
});

test.each([
  'remove: renamed#1',
  'remove: moved away#1',
  'remove: captured again#1',
  'registration: moved away#1',
])('killed at "%s"', (point) => {
  const repository = makeRepository();
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', 's1', '--json')) as { sandbox: string };
  write(join(sandbox, 'staged'), 'staged\n');
  git(sandbox, 'add', 'staged');
  write(join(sandbox, 'loose'), 'loose\n');
  run(process.execPath, [withPoints, 'session', 'remove', 's1'], {
    cwd: repository,
    env: { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT },
  });
  expect(existsSync(sandbox)).toBe(false);

  const doctor = agt(repository, 'doctor');
  expect(doctor.exitCode).toBe(1);
  expect(doctor.stdout).toContain('agt did not finish removing it');
  agt(repository, 'doctor', '--fix');
  expect(agt(repository, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
  expect(readdirSync(join(repository, '.git/worktrees'))).toEqual([]);

  agtOk(repository, 'session', 'restore', 's1', '--to', '@');
  expect(git(sandbox, 'status', '--porcelain')).toBe('A  staged\n?? loose');
  expect(readFileSync(join(sandbox, 'loose'), 'utf8')).toBe('loose\n');
});
