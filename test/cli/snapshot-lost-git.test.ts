/** A checkout goes back to a moment that lacked a part of git's files, after git or somebody has deleted more of them. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtOk, git, makeRepository, run } from '../harness/world.ts';
import { makeCheckout, sh } from './checkouts.ts';

const newest = (folder: string): string =>
  JSON.parse(agtOk(folder, 'snapshot', 'list', '--json', '-n', '1'))[0].commit;

test('a moment without an index comes back with the repository', () => {
  const folder = makeCheckout();
  rmSync(join(folder, '.git/index'));
  agtOk(folder, 'snapshot');
  const moment = newest(folder);
  git(folder, 'reset', '-q');
  agtOk(folder, 'snapshot');
  rmSync(join(folder, '.git'), { recursive: true });
  agtOk(folder, 'snapshot');
  expect(agtOk(folder, 'restore', moment)).toContain('verified');
  expect(existsSync(join(folder, '.git/index'))).toBe(false);
});

test('both commits of a line come back with a reflog', () => {
  const folder = makeRepository({ a: 'a\n' });
  agtOk(folder, 'snapshot');
  const before = newest(folder);
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'empty');
  const forget = () => sh(folder, 'git reflog expire --expire=now --all; git gc -q --prune=now');
  forget();
  agtOk(folder, 'restore', before);
  const after = newest(folder);
  forget();
  agtOk(folder, 'restore', after);
  expect(git(folder, 'reflog', '--format=%gs')).toContain('agt: restore');
  expect(run('git', ['fsck', '--connectivity-only', '--no-dangling'], { cwd: folder }).stderr).not.toContain(
    'error',
  );
});
