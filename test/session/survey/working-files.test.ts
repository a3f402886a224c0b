import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readWorkingFiles } from '../../../src/session/survey/working-files.ts';
import { git, makeRepository, REAL_GIT, run, write } from '../../harness/world.ts';

/** Compares with `git status`; returns the paths. */
function expectAsGit(repository: string): string[] {
  const listed = run(REAL_GIT, ['status', '--porcelain', '-z', '-uall', '--no-renames'], {
    cwd: repository,
    env: { GIT_OPTIONAL_LOCKS: '0' },
  }).stdout;
  const unstaged = listed.split('\0').filter((line) => line[1] !== ' ' && line !== '' && !line.endsWith('/'));
  const exclude = readFileSync(join(repository, '.git/info/exclude'), 'utf8');
  const found = readWorkingFiles(repository, join(repository, '.git'), 20, [exclude], '/nonexistent');
  const paths = [...(found?.present ?? []), ...(found?.deleted ?? [])].sort();
  expect(paths).toEqual([...new Set(unstaged.map((line) => line.slice(3)))].sort());
  return paths;
}

describe('readWorkingFiles', () => {
  test('finds the files that git status finds: changed, deleted, untracked and not ignored', () => {
    const repository = makeRepository({
      'a.txt': 'a\n',
      'dir/b.txt': 'b\n',
      'dir/c.txt': 'c\n',
      'turns/into.txt': 'a file\n',
      'becomes-directory': 'x\n',
      'run.sh': '#!/bin/sh\n',
      'tracked.log': 'ignored by name, but tracked\n',
      '.gitignore': '*.log\n/build/\n!keep.log\nnested/*\n!nested/yes\n',
      'dir/.gitignore': '!special.log\n/only-here\n',
    });
    expect(expectAsGit(repository)).toEqual([]);
    write(join(repository, '.git/info/exclude'), 'private*\n');
    for (const path of [
      'new.txt',
      'x.log',
      'keep.log',
      'build/out',
      'dir/special.log',
      'dir/only-here',
      'only-here',
    ])
      write(join(repository, path), 'untracked\n');
    for (const path of [
      'nested/no',
      'nested/yes',
      'private.txt',
      'deep/er/private',
      'deep/er/file',
      'a b\nc.txt',
    ])
      write(join(repository, path), 'untracked\n');
    symlinkSync('nowhere', join(repository, 'link'));
    mkdirSync(join(repository, 'empty'));
    git(repository, 'init', '-q', 'inner');
    write(join(repository, 'inner/file'), 'of another repository\n');
    expect(expectAsGit(repository)).toContain('dir/special.log');

    writeFileSync(join(repository, 'a.txt'), 'b\n');
    writeFileSync(join(repository, 'tracked.log'), 'changed\n');
    rmSync(join(repository, 'dir/b.txt'));
    utimesSync(join(repository, 'dir/c.txt'), 1000, 1000);
    chmodSync(join(repository, 'run.sh'), 0o755);
    rmSync(join(repository, 'turns'), { recursive: true });
    writeFileSync(join(repository, 'turns'), 'no directory\n');
    rmSync(join(repository, 'becomes-directory'));
    write(join(repository, 'becomes-directory/file'), 'x\n');
    expect(expectAsGit(repository)).toContain('becomes-directory/file');
    git(repository, 'add', '-A', '.', ':!inner');
    expect(expectAsGit(repository)).toEqual([]);
  });

  test('sees through the carriage returns of core.autocrlf, and reads every version of the index', () => {
    const repository = makeRepository({ 'a.txt': 'one\ntwo\n', 'b.txt': 'x\n' });
    git(repository, 'config', 'core.autocrlf', 'true');
    rmSync(join(repository, 'a.txt'));
    git(repository, 'checkout', '-q', 'a.txt');
    expect(readFileSync(join(repository, 'a.txt'), 'utf8')).toContain('\r\n');
    utimesSync(join(repository, 'a.txt'), 1000, 1000);
    expect(expectAsGit(repository)).toEqual([]);
    for (const version of ['4', '3', '2']) {
      git(repository, 'update-index', '--index-version', version);
      writeFileSync(join(repository, 'b.txt'), `version ${version}\n`);
      expect(expectAsGit(repository)).toEqual(['b.txt']);
    }
    writeFileSync(join(repository, 'b.txt'), 'x\n');
    expect(expectAsGit(repository)).toEqual([]);
    git(repository, 'update-index', '--split-index');
    expect(readWorkingFiles(repository, join(repository, '.git'), 20, [], '/nonexistent')).toBeUndefined();
  });

  test('finds a submodule that has checked out another commit, on a branch too', () => {
    const repository = makeRepository();
    git(repository, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', makeRepository(), 'l');
    git(repository, 'commit', '-q', '-m', 'with a submodule');
    expect(expectAsGit(repository)).toEqual([]);
    const inside = join(repository, 'l');
    git(inside, 'commit', '-q', '--allow-empty', '-m', 'inside');
    expect(expectAsGit(repository)).toEqual(['l']);
    git(inside, 'pack-refs', '--all');
    expect(expectAsGit(repository)).toEqual(['l']);
    git(inside, 'checkout', '-q', '--detach');
    expect(expectAsGit(repository)).toEqual(['l']);
    git(repository, 'add', 'l');
    expect(expectAsGit(repository)).toEqual([]);
    git(repository, 'submodule', 'deinit', '-q', '--force', 'l');
    expect(expectAsGit(repository)).toEqual([]);
  });
});
