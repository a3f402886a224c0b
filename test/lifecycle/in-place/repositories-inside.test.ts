/** Submodules and other repositories inside of the user's checkout: they come back with all that they had. */
import {
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, write } from '../../harness/world.ts';
import { begin, look } from './checkout.ts';

function withSubmodule(
  files: Readonly<Record<string, string>> = { a: 'a\n' },
  path = 'sub',
): { repository: string; sub: string } {
  const repository = makeRepository(files);
  const origin = makeRepository({ s: 's\n' });
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', origin, path);
  git(repository, 'commit', '-q', '-m', 'submodule');
  return { repository, sub: join(repository, path) };
}

/** With a commit, a stash and a change. */
function makeNested(directory: string): void {
  git(makeTempDir(), 'init', '-q', '-b', 'main', directory);
  write(join(directory, 'n'), 'n\n');
  git(directory, 'add', 'n');
  git(directory, 'commit', '-q', '-m', 'nested');
  write(join(directory, 'n'), 'stashed\n');
  git(directory, 'stash', '-q');
  write(join(directory, 'n'), 'mine\n');
}

function lookAt(directory: string): string[] {
  return [
    git(directory, 'log', '--all', '--format=%H %D'),
    git(directory, 'stash', 'list'),
    git(directory, 'status', '--porcelain', '--branch'),
    git(directory, 'fsck', '--strict'),
  ];
}

test.each<[string, (at: (path: string) => string) => void]>([
  [
    'deletes them',
    (at) => {
      for (const path of ['ign', 'nested']) rmSync(at(path), { recursive: true });
    },
  ],
  [
    'deletes their .git',
    (at) => {
      for (const path of ['ign/.git', 'nested/.git']) rmSync(at(path), { recursive: true });
    },
  ],
  [
    'puts a link and a file in their place',
    (at) => {
      for (const path of ['ign', 'nested']) rmSync(at(path), { recursive: true });
      symlinkSync(makeTempDir('elsewhere'), at('nested'));
      write(at('ign'), 'a file\n');
    },
  ],
])('repositories inside: the agent %s, and they come back with all that they had', (_, act) => {
  const repository = makeRepository({ a: 'a\n', '.gitignore': 'ign\n' });
  const at = (path: string) => join(repository, path);
  write(at('a'), 'mine\n');
  for (const path of ['ign', 'nested']) makeNested(at(path));
  const before = ['ign', 'nested'].map((path) => lookAt(at(path)));
  const whole = look(repository);
  begin(repository);
  act(at);
  agtOk(repository, 'reject', 's1');
  expect(['ign', 'nested'].map((path) => lookAt(at(path)))).toEqual(before);
  expect(look(repository).status).toBe(whole.status);
  expect(git(repository, 'for-each-ref', 'refs/agt/stash')).toBe('');
  expect(existsSync(join(repository, '.git/agt/nested/s1'))).toBe(false);
});

test('the agent replaces a submodule by a file, and deletes its repository: it comes back', () => {
  const { repository, sub } = withSubmodule();
  write(join(sub, 's'), 'committed only here\n');
  git(sub, 'commit', '-q', '-a', '-m', 'mine');
  const [before, whole] = [lookAt(sub), look(repository)];
  begin(repository);
  for (const path of ['sub', '.git/modules/sub']) rmSync(join(repository, path), { recursive: true });
  write(sub, 'a file\n');
  git(repository, 'commit', '-q', '-a', '-m', 'a file');
  agtOk(repository, 'reject', 's1');
  expect(lookAt(sub)).toEqual(before);
  expect(look(repository)).toEqual(whole);
});

test('a file in the place of a submodule is set aside: it comes back, or is named if the branch has removed the submodule', () => {
  const { repository, sub } = withSubmodule();
  rmSync(sub, { recursive: true });
  write(sub, 'mine\n');
  const before = look(repository);
  begin(repository);
  expect([git(repository, 'status', '--porcelain'), statSync(sub).isDirectory()]).toEqual(['', true]);
  write(join(sub, 'agent'), 'agent\n');
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
  begin(repository, 's2');
  git(repository, 'rm', '-q', '-f', 'sub');
  git(repository, 'commit', '-q', '-m', 'removed');
  expect(agt(repository, 'accept', 's2')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      'error: session "s2" has ended, but the branch has its own sub now; yours, ',
    ),
  });
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(git(repository, 'show', 'refs/agt/stash/s2^4:sandbox/sub')).toBe('mine');
});

test('the agent moves a submodule, which its settings name then: it comes back', () => {
  const { repository, sub } = withSubmodule();
  write(join(sub, 's'), 'mine\n');
  const before = [lookAt(sub), git(repository, 'status', '--porcelain')];
  begin(repository);
  git(repository, 'mv', 'sub', 'moved');
  git(join(repository, 'moved'), 'commit', '-q', '-a', '-m', 'by the agent');
  rmSync(join(repository, 'moved'), { recursive: true });
  agtOk(repository, 'reject', 's1');
  expect([
    [git(sub, 'log', '-1', '--format=%s'), ...lookAt(sub).slice(1)],
    git(repository, 'status', '--porcelain'),
  ]).toEqual([['first', ...(before[0] as string[]).slice(1)], before[1]]);
});

test('the agent adds a nested repository of the user and resets it: it does not land, and is as before', () => {
  const repository = makeRepository({ a: 'a\n' });
  const nested = join(repository, 'nested');
  makeNested(nested);
  write(join(nested, 'untracked'), 'mine\n');
  const before = lookAt(nested);
  begin(repository);
  write(join(repository, 'a'), 'agent\n');
  expect(JSON.parse(agtOk(repository, 'list', '--json'))).toMatchObject([{ merge: 'clean' }]);
  git(repository, 'add', '--all');
  git(repository, 'commit', '-q', '-m', 'all');
  git(nested, 'reset', '-q', '--hard');
  git(nested, 'clean', '-fdxq');
  expect(agtOk(repository, 'accept', 's1')).toContain('left out nested\n');
  expect(git(repository, 'show', '--format=', '--name-only')).toBe('a');
  expect(lookAt(nested)).toEqual(before);
  expect(readFileSync(join(nested, 'untracked'), 'utf8')).toBe('mine\n');
  agtOk(repository, 'unaccept', 's1');
  expect(agtOk(repository, 'accept', 's1', '-n', '--untracked=all')).not.toMatch(/^ {2}A /m);
});

test('the agent puts a link above a nested repository of the user: accept refuses, and reject brings all back', () => {
  const repository = makeRepository({ a: 'a\n' });
  const nested = join(repository, 'libs/nested');
  makeNested(nested);
  git(makeTempDir(), 'init', '-q', join(repository, 'empty'));
  const before = lookAt(nested);
  begin(repository);
  write(join(repository, 'a'), 'agent\n');
  rmSync(join(repository, 'libs'), { recursive: true });
  symlinkSync('elsewhere', join(repository, 'libs'));
  expect(agt(repository, 'accept', 's1')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('error: a repository of yours would be replaced (libs/nested)\n'),
  });
  agtOk(repository, 'accept', 's1', '--exclude', 'libs');
  expect(git(repository, 'show', '--format=', '--name-only')).toBe('a');
  expect(lookAt(nested)).toEqual(before);
  expect(existsSync(join(repository, 'empty/.git'))).toBe(true);
});

test('a repository that the agent replaces comes back, and its commits stay beside it', () => {
  const { repository } = withSubmodule({ a: 'a\n', '.gitignore': 'build\n' });
  const [nested, sub, unborn] = ['build/nested', 'sub', 'unborn'].map((path) => join(repository, path)) as [
    string,
    string,
    string,
  ];
  for (const one of [nested, unborn]) git(repository, 'init', '-q', '-b', 'main', one);
  write(join(unborn, 'two'), 'two\n');
  for (const one of [nested, sub]) {
    write(join(one, 'x'), 'mine\n');
    git(one, 'add', 'x');
    git(one, 'commit', '-q', '-m', 'mine');
    git(one, 'branch', 'other');
  }
  const see = () =>
    [nested, sub, unborn].map((one) => [
      git(one, 'for-each-ref', 'refs/heads', 'refs/remotes'),
      git(one, 'status', '--porcelain', '--branch'),
      git(one, 'fsck', '--no-dangling'),
      existsSync(join(one, '.git/index')),
    ]);
  const before = see();
  begin(repository);
  for (const one of [nested, sub]) {
    rmSync(join(one, '.git'), { recursive: true });
    git(repository, 'init', '-q', '-b', 'main', one);
    write(join(one, 'x'), 'of the agent\n');
    git(one, 'add', 'x');
    git(one, 'commit', '-q', '-m', 'of the agent');
  }
  git(unborn, 'add', '.');
  git(unborn, 'commit', '-q', '-m', 'of the agent');
  const commits = [nested, sub].map((one) => git(one, 'rev-parse', 'HEAD'));
  agtOk(repository, 'reject', 's1');
  expect(see()).toEqual(before);
  for (const [i, one] of [nested, sub].entries())
    expect(git(one, 'rev-parse', 'refs/agt/in-place/s1', 'refs/agt/in-place/s1-branches/main')).toBe(
      `${commits[i]}\n${commits[i]}`,
    );
});

test.each<[string, (dotGit: string) => void]>([
  ['a file that leads nowhere', (dotGit) => writeFileSync(dotGit, 'gitdir: /nowhere\n')],
  ['a file of other words', (dotGit) => writeFileSync(dotGit, 'words\n')],
  ['a link that leads nowhere', (dotGit) => symlinkSync('nowhere', dotGit)],
  ['a link to where it is now', (dotGit) => symlinkSync('../moved', dotGit)],
  ['a file that names where it is now', (dotGit) => writeFileSync(dotGit, 'gitdir: ../moved\n')],
  [
    'a damaged repository',
    (dotGit) => {
      git(makeTempDir(), 'init', '-q', '-b', 'main', dirname(dotGit));
      write(join(dotGit, 'refs/heads/main'), `${'1'.repeat(40)}\n`);
      write(join(dotGit, 'objects/11', '1'.repeat(38)), 'damaged\n');
    },
  ],
])('the agent puts %s in the place of a .git: the .git comes back', (_, replace) => {
  const { repository } = withSubmodule({ a: 'a\n', '.gitignore': 'nested\nmoved\n' });
  const inside = ['nested', 'sub'].map((path) => join(repository, path));
  git(repository, 'init', '-q', '-b', 'main', join(repository, 'nested'));
  for (const one of inside) {
    write(join(one, 'x'), 'mine\n');
    git(one, 'add', 'x');
    git(one, 'commit', '-q', '-m', 'mine');
    write(join(one, 'x'), 'stashed\n');
    git(one, 'stash', '-q');
  }
  const see = () =>
    inside.map((one) => [
      lstatSync(join(one, '.git')).isDirectory(),
      git(one, 'log', '--all', '--format=%H %D'),
      git(one, 'status', '--porcelain', '--branch'),
    ]);
  const before = see();
  begin(repository);
  for (const one of inside) {
    rmSync(join(repository, 'moved'), { recursive: true, force: true });
    renameSync(join(one, '.git'), join(repository, 'moved'));
    replace(join(one, '.git'));
  }
  agtOk(repository, 'reject', 's1');
  rmSync(join(repository, 'moved'), { recursive: true, force: true });
  for (const one of inside) rmSync(join(one, '.git.agt-replaced-s1'), { recursive: true, force: true });
  expect(see()).toEqual(before);
});

test('submodules stay in use, and the checkout is as sparse as before', () => {
  const { repository } = withSubmodule({ a: 'a\n', s: 's\n', 'd/d': 'd\n' });
  const url = git(repository, 'config', 'submodule.sub.url');
  git(repository, 'config', 'submodule.sub.url', `${url}/.`);
  write(join(repository, 's'), 'mine\n');
  git(repository, 'update-index', '--skip-worktree', 's');
  const see = () => [
    git(repository, 'submodule', 'status'),
    git(repository, 'config', '--local', '--get-regexp', 'submodule|sparse'),
    git(repository, 'ls-files', '-v'),
  ];
  const before = see();
  begin(repository);
  git(repository, 'submodule', '--quiet', 'deinit', '-f', '--all');
  git(repository, 'config', 'core.sparseCheckout', 'true');
  git(repository, 'sparse-checkout', 'set', 'd');
  agtOk(repository, 'reject', 's1');
  expect(see()).toEqual(before);
  expect(readFileSync(join(repository, 's'), 'utf8')).toBe('mine\n');
});

test('a file that lands in the place of a clean submodule is there at the end', () => {
  const { repository } = withSubmodule({ a: 'a\n' }, 'libs/sub');
  begin(repository);
  git(repository, 'rm', '-q', 'libs/sub');
  rmSync(join(repository, 'libs'), { recursive: true, force: true });
  write(join(repository, 'libs'), 'of the agent\n');
  git(repository, 'add', 'libs');
  git(repository, 'commit', '-q', '-m', 'of the agent');
  agtOk(repository, 'accept', 's1');
  expect(readFileSync(join(repository, 'libs'), 'utf8')).toBe('of the agent\n');
  expect(git(repository, 'status', '--porcelain')).toBe('');
});
