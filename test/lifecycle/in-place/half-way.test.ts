/** A session in place whose beginning fails or is killed half way. */
import { chownSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtWithPermissions, permissionsProblem } from '../../harness/privileges.ts';
import {
  AGT,
  agt,
  agtOk,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  runsAsGit,
  write,
} from '../../harness/world.ts';
import { busyCheckout, FILES, killedAt, look, metadata } from './checkout.ts';

const BEGIN = ['session', 'new', 's1', '--working-copy', 'in-place'];

test.skipIf(permissionsProblem() !== undefined)(
  'agt may not write into a folder: the user has everything as before',
  () => {
    const repository = makeRepository(FILES);
    write(join(repository, 'dir/d'), 'work\n');
    write(join(repository, 'a'), 'staged\n');
    git(repository, 'add', 'a');
    write(join(repository, 'untracked'), 'untracked\n');
    chownSync(join(repository, 'dir'), 54_321, 54_321);
    const before = look(repository);
    const outcome = agtWithPermissions(repository, ...BEGIN);
    expect(outcome.stderr).toMatch(
      /^error: agt could not set dir\/d aside in .*\nhint: cannot be replaced: permission denied/,
    );
    expect(look(repository)).toEqual(before);
    expect(git(repository, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(existsSync(join(repository, '.git/agt/sessions/s1.json'))).toBe(false);
  },
);

test('where agt cannot go back, session and work stay, and agt says how to go on', () => {
  const repository = busyCheckout();
  const before = look(repository);
  const broken = join(makeTempDir('bin'), 'git');
  // A git that cannot change HEAD.
  writeFileSync(
    broken,
    `#!/bin/sh\ncase "$*" in *symbolic-ref*-m*) echo "fatal: disk full" >&2; exit 128;; esac\nexec ${REAL_GIT} "$@"\n`,
    { mode: 0o755 },
  );
  const outcome = run(AGT, BEGIN, { cwd: repository, env: runsAsGit(broken) });
  expect(outcome).toMatchObject({
    exitCode: 128,
    stderr:
      'error: git symbolic-ref failed: disk full\n' +
      `hint: agt could not undo the steps before in ${repository}; session "s1" and its branches stay\n` +
      'hint: your uncommitted work is safe under refs/agt/stash/s1\n' +
      'hint: remove the cause, then let agt return to your branch and put your work back: agt doctor --fix\n',
  });
  expect(metadata(repository).state).toBe('creating');
  expect(git(repository, 'rev-parse', 'agt/s1')).toBe(before.main);
  expect(agtOk(repository, 'doctor', '--fix')).toContain('nothing is wrong');
  expect(look(repository)).toEqual(before);
  expect(git(repository, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

test('killed half way, and the user goes on: doctor loses no edit, and names the place of those that cannot stay', () => {
  const repository = busyCheckout();
  write(join(repository, 'clean'), 'clean\n');
  git(repository, 'add', 'clean');
  git(repository, 'commit', '-qm', 'second', '--only', 'clean');
  const before = look(repository);
  const commands = () =>
    JSON.parse(agt(repository, 'doctor', '--json').stdout).findings.map(({ mend }: { mend: string }) => mend);
  killedAt('in place: switched', repository, ...BEGIN);
  write(join(repository, 'clean'), 'edited\n');
  write(join(repository, 'later'), 'later\n');
  expect(commands()[0]).toBe('agt doctor --fix');
  expect(agtOk(repository, 'doctor', '--fix')).toContain('fixed: s1: agt did not finish creating it\n');
  expect(readFileSync(join(repository, 'clean'), 'utf8')).toBe('edited\n');
  expect(readFileSync(join(repository, 'later'), 'utf8')).toBe('later\n');
  write(join(repository, 'clean'), 'clean\n');
  rmSync(join(repository, 'later'));
  expect(look(repository)).toEqual(before);

  const kept = /s1: .*agt kept what was changed since then on agtsessions\/s1; agt undo s1 brings it back\n/;
  killedAt('in place: switched', repository, ...BEGIN);
  write(join(repository, 'a'), 'edited\n');
  expect(agtOk(repository, 'doctor', '--fix')).toMatch(kept);
  expect(look(repository)).toEqual(before);
  expect(agtOk(repository, 'session', 'cat', 's1', '@{0}:a')).toBe('edited');
  agtOk(repository, 'undo', 's1');
  expect(readFileSync(`${repository}.agt/sessions/s1/sandbox/a`, 'utf8')).toBe('edited\n');
  agtOk(repository, 'session', 'remove', 's1', '--delete-branch', '--force');

  killedAt('in place: switched', repository, ...BEGIN);
  write(join(repository, 'a'), 'edited\n');
  expect(agt(repository, 'session', 'new', 's2', '--working-copy', 'in-place').stderr).toMatch(kept);
  agtOk(repository, 'reject', 's2');
  expect(look(repository)).toEqual(before);
  agtOk(repository, 'session', 'remove', 's1', '--delete-branch', '--force');

  // On the user's branch the edit stays, and the work of before waits.
  killedAt('in place: set aside', repository, ...BEGIN);
  write(join(repository, 'a'), 'edited\n');
  expect(agt(repository, 'doctor', '--fix').stdout).toMatch(
    /agt could not put back the work that you had not committed when session "s1" began: a has changed/,
  );
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('edited\n');
  expect(existsSync(join(repository, '.git/agt/sessions/s1.json'))).toBe(false);
  expect(git(repository, 'show', 'refs/agt/stash/s1:a')).toBe('changed');
});

test('killed while it writes a file of the user: agt deletes the temporary file when it puts the files back again', () => {
  const repository = busyCheckout();
  const before = look(repository);
  agtOk(repository, ...BEGIN);
  write(join(repository, 'a'), 'by the agent\n');
  killedAt('checkout: file written', repository, 'reject', 's1');
  const left = () =>
    globSync('{.,**}/.agt-*.tmp', { cwd: repository }).filter((path) => !path.startsWith('.git/'));
  expect(left()).toHaveLength(1);
  const living = `.agt-${process.pid}.tmp`;
  write(join(repository, living), 'of a living process\n');
  agtOk(repository, 'reject', 's1');
  expect(left()).toEqual([living]);
  rmSync(join(repository, living));
  expect(look(repository)).toEqual(before);
});

test('killed before it set anything aside: what the user has emptied or deleted stays so', () => {
  const repository = busyCheckout();
  write(join(repository, '.gitignore'), '');
  rmSync(join(repository, 'a'));
  write(join(repository, 'c/in'), 'a directory in the place of a file\n');
  const before = look(repository);
  for (const point of [
    'in place: captured',
    'in place: set aside',
    'in place: files set aside',
    'checkout: file in place',
  ]) {
    killedAt(point, repository, ...BEGIN);
    expect(agtOk(repository, 'doctor', '--fix')).toContain('nothing is wrong');
    expect(look(repository), point).toEqual(before);
  }
});

test('killed between index and HEAD, and the user stages something: both indexes are kept', () => {
  const repository = busyCheckout();
  const before = look(repository);
  killedAt('in place: index replaced', repository, ...BEGIN);
  write(join(repository, 'later'), 'later\n');
  git(repository, 'add', 'later');
  const { stdout } = agt(repository, 'doctor', '--fix');
  expect(git(repository, 'diff', '--cached', '--name-only')).toBe('later');
  const after = look(repository);
  after.files.delete('project/later');
  expect(after.files).toEqual(before.files);
  const [, options = '', ref = ''] =
    /agt left your index as it is now; .* "s1": git (-C \S+ )read-tree (\S+) /.exec(stdout) ?? [];
  expect(options).toContain(repository);
  git(repository, 'read-tree', ref);
  expect(git(repository, 'diff', '--cached', '--name-status')).toBe('M\tb\nD\tdir/d\nA\tstaged');
});
