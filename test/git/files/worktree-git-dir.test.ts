import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { discoverRepository, worktreeGitDir } from '../../../src/git/files/discover-repository.ts';
import { git, makeRepository, makeTempDir } from '../../harness/world.ts';

test.each(['worktree', 'with space', 'with\nline break'])(
  'agt finds the git directory of the worktree %j, as git does',
  (name) => {
    const repository = makeRepository({ a: 'a\n' });
    const worktree = join(makeTempDir(), name);
    git(repository, 'worktree', 'add', '-q', '--detach', worktree);
    const expected = git(worktree, 'rev-parse', '--absolute-git-dir');
    expect(worktreeGitDir(worktree)).toBe(expected);
    expect(discoverRepository(worktree, {})).toMatchObject({
      gitDir: expected,
      commonDir: join(repository, '.git'),
      top: worktree,
    });
  },
);

test('a relative .git file leads from its own directory; any other file leads nowhere', () => {
  const dir = makeTempDir();
  mkdirSync(join(dir, 'sub'));
  writeFileSync(join(dir, 'sub/.git'), 'gitdir: ../elsewhere\n');
  expect(worktreeGitDir(join(dir, 'sub'))).toBe(join(dir, 'elsewhere'));
  for (const text of ['', 'gitdir: \n', 'something else\n']) {
    writeFileSync(join(dir, '.git'), text);
    expect(worktreeGitDir(dir)).toBeUndefined();
  }
  expect(worktreeGitDir(join(dir, 'missing'))).toBeUndefined();
});
