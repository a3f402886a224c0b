/** The end of a session in place decides by a list of the user's files, whatever the agent does to git's rules. */
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';
import { begin, look } from './checkout.ts';

/** A checkout with uncommitted, untracked and ignored files. */
function withIgnored(): string {
  const repository = makeRepository({ '.gitignore': '.env\nbuild/\n', a: 'a\n', 'dir/d': 'd\n' });
  write(join(repository, 'a'), 'mine\n');
  write(join(repository, 'untracked'), 'untracked\n');
  write(join(repository, '.env'), 'SECRET\n', 0o600);
  write(join(repository, 'build/deep/o'), 'object\n');
  utimesSync(join(repository, 'build/deep/o'), 1_600_000_000, 1_600_000_000);
  return repository;
}

test.each<[string, (repository: string) => void, string[]]>([
  ['deletes .gitignore', (repository) => rmSync(join(repository, '.gitignore')), ['remove']],
  [
    'moves .gitignore and adds everything',
    (repository) => {
      renameSync(join(repository, '.gitignore'), join(repository, 'old'));
      git(repository, 'add', '--all');
      git(repository, 'commit', '-q', '-m', 'all');
    },
    ['reject'],
  ],
  [
    'adds ignored files by force',
    (repository) => {
      write(join(repository, '.env'), 'by the agent\n');
      git(repository, 'add', '--force', '.');
      git(repository, 'commit', '-q', '-m', 'all');
    },
    ['reject'],
  ],
  [
    'deletes ignored files and puts others in their place',
    (repository) => {
      rmSync(join(repository, 'build'), { recursive: true });
      rmSync(join(repository, '.env'));
      write(join(repository, 'build'), 'a file\n');
      write(join(repository, '.env/deep'), 'a directory\n');
    },
    ['remove'],
  ],
  [
    'turns files into directories and back',
    (repository) => {
      for (const path of ['a', 'untracked', 'dir'])
        rmSync(join(repository, path), { recursive: true, force: true });
      for (const path of ['a/x', 'untracked/y', 'dir']) write(join(repository, path), 'agent\n');
    },
    ['reject'],
  ],
])('the agent %s: everything of the user comes back', (_, act, [end = '']) => {
  const repository = withIgnored();
  const before = look(repository);
  begin(repository);
  act(repository);
  write(join(repository, 'by-agent'), 'agent\n');
  agtOk(repository, end, 's1');
  expect(look(repository)).toEqual(before);
  expect(statSync(join(repository, 'build/deep/o')).mtimeMs).toBe(1_600_000_000_000);
});

test('an accept that leaves out ignored files keeps them; what the agent only changed stays as it leaves it', () => {
  const repository = withIgnored();
  begin(repository);
  rmSync(join(repository, '.gitignore'));
  write(join(repository, 'build/new.o'), 'new object\n');
  write(join(repository, 'build/deep/o'), 'built again\n');
  write(join(repository, 'new'), 'new\n');
  const refused = agt(repository, 'accept', 's1', '--untracked=all');
  expect(refused.stderr).toMatch(
    /^error: ignored files of yours would be replaced \(.*\.env.*build\/deep\/o.*\)\n/,
  );
  agtOk(repository, 'accept', 's1', '--exclude', '.env', '--exclude', 'build', '--exclude', '.gitignore');
  expect(git(repository, 'ls-files').split('\n')).toEqual(['.gitignore', 'a', 'dir/d', 'new']);
  expect(git(repository, 'status', '--porcelain')).toBe(' M a\n?? untracked');
  expect(readFileSync(join(repository, '.env'), 'utf8')).toBe('SECRET\n');
  expect(readFileSync(join(repository, 'build/deep/o'), 'utf8')).toBe('built again\n');
  expect(readFileSync(join(repository, 'build/new.o'), 'utf8')).toBe('new object\n');
});

test('the user has a file in the place of a directory, and the reverse', () => {
  const repository = makeRepository({ a: 'a\n', 'dir/d': 'd\n' });
  rmSync(join(repository, 'dir'), { recursive: true });
  write(join(repository, 'dir'), 'a file\n');
  rmSync(join(repository, 'a'));
  write(join(repository, 'a/deep'), 'a directory\n');
  const before = look(repository);
  begin(repository);
  expect(git(repository, 'status', '--porcelain')).toBe('');
  write(join(repository, 'dir/new'), 'agent\n');
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
});

test('core.fileMode=false: permission bits of clean and of changed files stay', () => {
  const repository = makeRepository({ clean: 'clean\n', other: 'other\n' });
  git(repository, 'config', 'core.fileMode', 'false');
  chmodSync(join(repository, 'clean'), 0o755);
  chmodSync(join(repository, 'other'), 0o711);
  write(join(repository, 'other'), 'changed\n');
  const before = look(repository);
  begin(repository);
  chmodSync(join(repository, 'clean'), 0o600);
  write(join(repository, 'clean'), 'agent\n');
  git(repository, 'commit', '-qam', 'agent');
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
});

test('a checkout without any file: reject, remove after a commit, and accept', () => {
  const repository = makeRepository();
  git(repository, 'rm', '-q', '-r', '.');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'empty');
  const before = look(repository);
  begin(repository);
  write(join(repository, 'new'), 'new\n');
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
  begin(repository, 's2');
  write(join(repository, 'new'), 'new\n');
  git(repository, 'add', 'new');
  git(repository, 'commit', '-q', '-m', 'by the agent');
  agtOk(repository, 'remove', 's2');
  expect(look(repository)).toEqual(before);
  begin(repository, 's3');
  write(join(repository, 'new'), 'new\n');
  agtOk(repository, 'accept', 's3');
  expect(git(repository, 'ls-files')).toBe('new');
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

/** `sub` is a submodule, with work of the user's in it, and `a` is changed. */
function withSubmodule(): string {
  const origin = makeRepository({ s: 's\n', '.gitignore': '*.o\n' });
  const repository = makeRepository({ a: 'a\n' });
  run(REAL_GIT, ['-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', origin, 'sub'], {
    cwd: repository,
  });
  git(repository, 'commit', '-q', '-m', 'submodule');
  write(join(repository, 'a'), 'mine\n');
  write(join(repository, 'sub/s'), 'staged\n');
  git(join(repository, 'sub'), 'add', 's');
  write(join(repository, 'sub/s'), 'mine\n');
  write(join(repository, 'sub/untracked'), 'mine\n');
  write(join(repository, 'sub/x.o'), 'ignored\n');
  return repository;
}

function lookInside(repository: string) {
  const sub = join(repository, 'sub');
  const heads = ['HEAD', 'main'].map((name) => git(sub, 'rev-parse', name));
  return [
    look(repository),
    git(sub, 'status', '--porcelain', '--branch'),
    git(sub, 'diff', '--cached'),
    ...heads,
  ];
}

test('a submodule with work of the user: the agent works in it, commits there, or deletes it', () => {
  const repository = withSubmodule();
  const sub = join(repository, 'sub');
  const before = lookInside(repository);
  begin(repository);
  write(join(sub, 'agent'), 'agent\n');
  rmSync(join(sub, 'x.o'));
  rmSync(join(sub, '.gitignore'));
  git(sub, 'add', '--all');
  git(sub, 'commit', '-q', '-m', 'by the agent');
  const commit = git(sub, 'rev-parse', 'HEAD');
  write(join(sub, 'agent'), 'more\n');
  git(repository, 'commit', '-qam', 'submodule');
  agtOk(repository, 'reject', 's1');
  expect(lookInside(repository)).toEqual(before);
  expect(git(sub, 'rev-parse', 'refs/agt/in-place/s1')).toBe(commit);
  expect(agtOk(repository, 'session', 'cat', 's1', '@{0}:sub/agent')).toBe('more');
  begin(repository, 's2');
  git(repository, 'rm', '-q', '-f', 'sub');
  git(repository, 'commit', '-q', '-m', 'gone');
  agtOk(repository, 'remove', 's2');
  expect(lookInside(repository)).toEqual(before);
  begin(repository, 's3');
  rmSync(sub, { recursive: true });
  write(sub, 'a file\n');
  git(repository, 'add', '--all');
  agtOk(repository, 'reject', 's3');
  expect(lookInside(repository)).toEqual(before);
});

test('a submodule at another commit of the user, staged or not, does not land, and stays', () => {
  const repository = withSubmodule();
  const sub = join(repository, 'sub');
  git(sub, 'commit', '-q', '-m', 'by the user');
  for (const stage of [false, true]) {
    if (stage) git(repository, 'add', 'sub');
    const before = lookInside(repository);
    const id = stage ? 's2' : 's1';
    begin(repository, id);
    write(join(repository, `by-${id}`), 'agent\n');
    agtOk(repository, 'accept', id);
    expect(git(repository, 'show', '--name-only', '--format=', 'main')).toBe(`by-${id}`);
    rmSync(join(repository, `by-${id}`));
    git(repository, 'reset', '-q', '--soft', 'main~1');
    git(repository, 'rm', '-q', '--cached', `by-${id}`);
    expect({ ...(lookInside(repository)[0] as object), index: '' }).toEqual({
      ...(before[0] as object),
      index: '',
    });
    expect(lookInside(repository).slice(1)).toEqual(before.slice(1));
  }
  expect(git(repository, 'diff', '--cached', '--name-only')).toBe('sub');
});

test('a commit of the agent in a submodule lands, and the submodule stays at it', () => {
  const repository = withSubmodule();
  const sub = join(repository, 'sub');
  git(sub, 'stash', '-q', '-u');
  begin(repository);
  write(join(sub, 's'), 'agent\n');
  git(sub, 'commit', '-qam', 'by the agent');
  git(repository, 'commit', '-qam', 'submodule');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'rev-parse', 'main:sub')).toBe(git(sub, 'rev-parse', 'HEAD'));
  expect(git(repository, 'status', '--porcelain')).toBe(' M a');
});

test('a nested repository of the user is neither accepted nor changed; one of the agent stays', () => {
  const repository = makeRepository({ a: 'a\n' });
  const nested = join(repository, 'nested');
  git(makeTempDir(), 'init', '-q', nested);
  write(join(nested, 'n'), 'n\n');
  git(nested, 'add', 'n');
  git(nested, 'commit', '-q', '-m', 'nested');
  write(join(nested, 'n'), 'mine\n');
  const head = git(nested, 'rev-parse', 'HEAD');
  begin(repository);
  git(nested, 'commit', '-qam', 'by the agent');
  git(repository, 'init', '-q', 'other');
  write(join(repository, 'other/file'), 'agent\n');
  agtOk(repository, 'reject', 's1');
  expect(git(nested, 'rev-parse', 'HEAD')).toBe(head);
  expect(git(nested, 'status', '--porcelain')).toBe(' M n');
  expect(existsSync(join(repository, 'other/file'))).toBe(true);
  rmSync(join(repository, 'other'), { recursive: true });
  begin(repository, 's2');
  write(join(repository, 'new'), 'new\n');
  agtOk(repository, 'accept', 's2');
  expect(git(repository, 'show', '--name-only', '--format=', 'main')).toBe('new');
});

test('a file that changes within the second in which it was staged is set aside as it is', () => {
  const repository = makeRepository({ f: 'aaa5\n' });
  write(join(repository, 'f'), 'bbb5\n');
  git(repository, 'add', 'f');
  write(join(repository, 'f'), 'ccc5\n');
  const { mtimeMs } = statSync(join(repository, '.git/index'));
  utimesSync(join(repository, 'f'), mtimeMs / 1000, mtimeMs / 1000);
  git(repository, 'config', 'core.trustctime', 'false');
  begin(repository);
  expect(git(repository, 'show', 'refs/agt/stash/s1:f')).toBe('ccc5');
  expect(git(repository, 'show', 'refs/agt/stash/s1^2:f')).toBe('bbb5');
  agtOk(repository, 'remove', 's1');
  expect(git(repository, 'diff')).toContain('+ccc5');
  expect(git(repository, 'show', ':f')).toBe('bbb5');
});
