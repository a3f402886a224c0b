/** Files that git does not look at, or has only in a repository inside of the checkout, are the user's as well. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';
import { begin, killedAt, look } from './checkout.ts';

function withSubmodule(): { repository: string; sub: string } {
  const repository = makeRepository({ a: 'a\n' });
  const origin = makeRepository({ s: 's\n' });
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', origin, 'sub');
  git(repository, 'commit', '-q', '-m', 'submodule');
  return { repository, sub: join(repository, 'sub') };
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
    stderr: expect.stringContaining('error: the branch has its own sub now; yours, '),
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
  git(repository, 'add', '--all');
  git(repository, 'commit', '-q', '-m', 'all');
  git(nested, 'reset', '-q', '--hard');
  git(nested, 'clean', '-fdxq');
  expect(agtOk(repository, 'accept', 's1')).toContain('left out nested\n');
  expect(git(repository, 'show', '--format=', '--name-only')).toBe('a');
  expect(lookAt(nested)).toEqual(before);
  expect(readFileSync(join(nested, 'untracked'), 'utf8')).toBe('mine\n');
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

test('a file that lands as deleted goes, though a rule ignores it and the agent had untracked it', () => {
  const repository = makeRepository({ a: 'a\n', '.gitignore': 'a\n' });
  git(repository, 'add', '-f', 'a');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'tracked');
  begin(repository);
  git(repository, 'rm', '-q', '--cached', 'a');
  git(repository, 'commit', '-q', '-m', 'untracked');
  agtOk(repository, 'accept', 's1');
  expect(existsSync(join(repository, 'a'))).toBe(false);
});

test.each(['skip-worktree', 'assume-unchanged'])(
  'a change in a file marked %s does not land, and stays, whatever the agent commits',
  (mark) => {
    const repository = makeRepository({ a: 'a\n', settings: 'example\n' });
    write(join(repository, 'settings'), 'SECRET\n');
    git(repository, 'update-index', `--${mark}`, 'settings');
    const before = look(repository);
    begin(repository);
    write(join(repository, 'a'), 'agent\n');
    git(repository, 'update-index', `--no-${mark}`, 'settings');
    git(repository, 'commit', '-q', '-a', '-m', 'all');
    for (const options of [['--keep-commits'], ['--commits', 'HEAD']])
      expect(agt(repository, 'accept', 's1', ...options)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('would land (settings)'),
      });
    expect(agtOk(repository, 'accept', 's1')).toContain('left out settings\n');
    expect(git(repository, 'show', 'main:settings')).toBe('example');
    expect(readFileSync(join(repository, 'settings'), 'utf8')).toBe('SECRET\n');
    expect(look(repository).status).toBe(before.status);
    expect(git(repository, 'ls-files', '-v', 'settings')).toBe(
      mark === 'skip-worktree' ? 'S settings' : 'h settings',
    );
  },
);

test('a sparse checkout of the agent goes, and the marks of the user are back', () => {
  const repository = makeRepository({ 'src/a': 'a\n', marked: 'm\n', other: 'o\n' });
  write(join(repository, 'marked'), 'mine\n');
  git(repository, 'update-index', '--skip-worktree', 'marked');
  const before = look(repository);
  begin(repository);
  git(repository, 'sparse-checkout', 'set', 'src');
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
  expect(run(REAL_GIT, ['config', 'core.sparseCheckout'], { cwd: repository }).stdout).toBe('');
  expect(existsSync(join(repository, '.git/info/sparse-checkout'))).toBe(false);
});

test('a file that the user had deleted goes again, and rules that the agent moved keep nothing', () => {
  const repository = makeRepository({ a: 'a\n', 'lib/.gitignore': '*.tmp\n' });
  rmSync(join(repository, 'a'));
  write(join(repository, 'lib/z.tmp'), 'mine\n');
  const before = look(repository);
  begin(repository);
  git(repository, 'rm', '-q', '--cached', 'a');
  write(join(repository, '.gitignore'), 'a\n');
  renameSync(join(repository, 'lib'), join(repository, 'moved'));
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
});

test.each(['fail', 'sweep'])('session fail was killed: session %s brings the session to its end', (next) => {
  const repository = makeRepository({ a: 'a\n' });
  write(join(repository, 'mine'), 'mine\n');
  const before = look(repository);
  begin(repository);
  write(join(repository, 'a'), 'agent\n');
  killedAt('in place: files put back', repository, 'session', 'fail', 's1', '--reason', 'x');
  expect(git(repository, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s1');
  agtOk(repository, 'session', next, ...(next === 'fail' ? ['s1', '--reason', 'x'] : []));
  expect(look(repository)).toEqual(before);
});

/** Staged, unstaged and untracked work. */
function withWork(): string {
  const repository = makeRepository({ a: 'a\n', b: 'b\n', c: 'c\n' });
  write(join(repository, 'b'), 'staged\n');
  git(repository, 'add', 'b');
  write(join(repository, 'a'), 'mine\n');
  write(join(repository, 'new'), 'mine\n');
  mkdirSync(join(repository, 'empty'));
  return repository;
}

test('--with-changes: the agent goes on with the work, and a reject brings back the state of the beginning', () => {
  const repository = withWork();
  const before = look(repository);
  expect(begin(repository, 's1', '--with-changes')).toContain('taken    a, b, new\n');
  expect(look(repository)).toMatchObject({ files: before.files, status: before.status });
  write(join(repository, 'a'), 'mine\nagent\n');
  rmSync(join(repository, 'new'));
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
});

test('--with-changes: the work lands with that of the agent, but for what is left out', () => {
  const repository = withWork();
  begin(repository, 's1', '--with-changes');
  write(join(repository, 'a'), 'mine\nagent\n');
  write(join(repository, 'c'), 'agent\n');
  agtOk(repository, 'accept', 's1', '--untracked=none', '-m', 'Both');
  expect(git(repository, 'show', '--format=%s', '--name-only')).toBe('Both\n\na\nb\nc');
  expect(git(repository, 'show', 'main:a')).toBe('mine\nagent');
  expect(git(repository, 'status', '--porcelain')).toBe('?? new');
  expect(git(repository, 'for-each-ref', 'refs/agt/stash')).toBe('');
});

test('--with-changes: the beginning is killed: the work is as it was', () => {
  for (const point of ['in place: set aside', 'in place: index replaced', 'in place: switched']) {
    const repository = withWork();
    const before = look(repository);
    killedAt(point, repository, 'session', 'new', 's1', '--working-copy', 'in-place', '--with-changes');
    agtOk(repository, 'doctor', '--fix');
    expect(look(repository)).toEqual(before);
  }
});

test('a link in the place of a directory: the agent has the directory, and the link is back afterwards', () => {
  const repository = makeRepository({ 'src/a': 'a\n', lib: 'l\n' });
  mkdirSync(join(repository, 'moved'));
  renameSync(join(repository, 'src'), join(repository, 'moved/src'));
  symlinkSync('moved/src', join(repository, 'src'));
  const before = look(repository);
  begin(repository);
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(readFileSync(join(repository, 'src/a'), 'utf8')).toBe('a\n');
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
});

test('a file lands where the user has an empty directory: it is as git writes it', () => {
  const repository = makeRepository({ a: 'a\n' });
  write(join(repository, 'a'), 'mine\n');
  mkdirSync(join(repository, 'new'), 0o755);
  begin(repository);
  rmSync(join(repository, 'new'), { recursive: true });
  write(join(repository, 'new'), 'new\n', 0o644);
  agtOk(repository, 'accept', 's1', '--untracked', 'all');
  expect(git(repository, 'status', '--porcelain')).toBe(' M a');
  expect(statSync(join(repository, 'new')).mode & 0o777).toBe(0o644);
});
