/** A session in place whose beginning fails or is killed half way. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtWithPermissions, permissionsProblem } from '../../harness/privileges.ts';
import {
  AGT,
  agtOk,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  runsAsGit,
  write,
} from '../../harness/world.ts';
import { busyCheckout, FILES, look, metadata } from './checkout.ts';

const BEGIN = ['session', 'new', 's1', '--working-copy', 'in-place'];

test.skipIf(permissionsProblem() !== undefined)(
  'git cannot write into a folder: the user has everything as before',
  () => {
    const repository = makeRepository(FILES);
    write(join(repository, 'dir/d'), 'work\n');
    write(join(repository, 'a'), 'staged\n');
    git(repository, 'add', 'a');
    write(join(repository, 'untracked'), 'untracked\n');
    chmodSync(join(repository, 'dir'), 0o555);
    const before = look(repository);
    const outcome = agtWithPermissions(repository, ...BEGIN);
    expect(outcome.stderr).toMatch(
      /^error: git could not check out agt\/s1 in .*\nhint: .*dir\/d.*Permission denied\n$/,
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
  // A git that fails after the checkout, and cannot return either.
  writeFileSync(
    broken,
    `#!/bin/sh\ncase "$*" in *symbolic-ref*-m*) exit 128;; *"checkout --force"*) ${REAL_GIT} "$@"; echo "fatal: disk full" >&2; exit 128;; esac\nexec ${REAL_GIT} "$@"\n`,
    { mode: 0o755 },
  );
  const outcome = run(AGT, BEGIN, { cwd: repository, env: runsAsGit(broken) });
  expect(outcome).toMatchObject({
    exitCode: 128,
    stderr:
      `error: git could not check out agt/s1 in ${repository}\nhint: fatal: disk full\n` +
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
