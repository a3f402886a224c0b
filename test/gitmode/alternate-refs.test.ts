/** git mode shows no agent's commit of a repository from which objects are borrowed. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtOk, GIT_MODE, git, makeRepository, makeTempDir, REAL_GIT, run } from '../harness/world.ts';

/** A repository that borrows from another one, which has these branches. */
function borrower(...branches: string[]): string {
  const lender = makeRepository();
  for (const branch of branches) {
    git(lender, 'checkout', '-q', '-b', branch, 'main');
    git(lender, 'commit', '-q', '--allow-empty', '-m', `on ${branch}`);
  }
  git(lender, 'update-ref', 'refs/remotes/up/stream/agt/s1', 'HEAD');
  git(lender, 'checkout', '-q', 'main');
  const own = join(makeTempDir(), 'own');
  git(lender, 'clone', '-q', '--shared', '--single-branch', '-b', 'main', lender, own);
  return own;
}

test('log and rev-list with --alternate-refs, by the executable and by the shim', () => {
  const shim = makeTempDir('shim');
  agtOk('/', 'shim', 'install', '--dir', shim);
  const planted = borrower('visible', 'agt/s1', 'agtsessions/s1');
  const twin = borrower('visible');
  git(twin, 'update-ref', '-d', 'refs/remotes/up/stream/agt/s1');
  const env = { AGT_GIT_PATH: undefined };
  for (const words of [
    ['log', '--format=%s', '--alternate-refs'],
    ['rev-list', '--format=%s', '--alternate-refs', '--no-commit-header'],
    ['log', '--format=%s', '--not', '--alternate-refs'],
    ['-c', 'core.alternateRefsPrefixes=refs/heads/v', 'log', '--format=%s', '--alternate-refs'],
  ]) {
    const real = run(REAL_GIT, words, { cwd: twin });
    for (const program of [GIT_MODE, join(shim, 'git')])
      expect(run(program, words, { cwd: planted, env })).toEqual(real);
  }
  expect(run(GIT_MODE, ['log', '--format=%s', '--alternate-refs'], { cwd: planted, env }).stdout).toBe(
    'first\non visible\n',
  );
  git(planted, 'config', 'core.alternateRefsCommand', 'f() { git -C "$1" rev-parse agt/s1; }; f');
  expect(run(GIT_MODE, ['log', '--format=%s', '--alternate-refs'], { cwd: planted, env }).stdout).toContain(
    'on agt/s1\n',
  );
});
