/** Files that git does not look at, or has only in a repository inside of the checkout, are the user's as well. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, REAL_GIT, run, write } from '../../harness/world.ts';
import { begin, killedAt, look } from './checkout.ts';

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

test('what is too large for a snapshot stays in the checkout, and the end of the session names it', () => {
  const repository = makeRepository({ a: 'a\n' });
  agtOk(repository, 'config', 'set', 'agt.maxFileSize', '10k');
  begin(repository);
  write(join(repository, 'new'), 'z'.repeat(20_000));
  write(join(repository, 'a'), 'agent\n');
  expect(agtOk(repository, 'reject', 's1')).toContain('\nstays in your checkout, in no snapshot: new');
  expect(git(repository, 'status', '--short')).toBe('?? new');
});

test('a file of the user that was too large for a snapshot, and that the agent has changed, is named', () => {
  const repository = makeRepository({ big: 'x'.repeat(20_000) });
  agtOk(repository, 'config', 'set', 'agt.maxFileSize', '10k');
  begin(repository);
  write(join(repository, 'big'), 'y'.repeat(20_000));
  expect(agt(repository, 'reject', 's1')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('agt could not bring back big in '),
  });
  expect(readFileSync(join(repository, 'big'), 'utf8')).toBe('y'.repeat(20_000));
});
