import {
  chmodSync,
  existsSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { snapshotFolder } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, write } from '../harness/world.ts';

const FILES = {
  'a.txt': 'a\n',
  'b.txt': 'b\n',
  'gone.txt': 'x\n',
  'dir/file': 'x\n',
  'was-file': 'x\n',
  'run.sh': '#!/bin/sh\n',
  '.gitignore': '*.log\n',
};

/** A worktree with every kind of uncommitted work. */
function unfinished(): string {
  const repository = makeRepository(FILES);
  writeFileSync(join(repository, 'a.txt'), 'staged\n');
  git(repository, 'add', 'a.txt');
  writeFileSync(join(repository, 'a.txt'), 'staged, then changed\n');
  writeFileSync(join(repository, 'b.txt'), 'changed\n');
  rmSync(join(repository, 'gone.txt'));
  git(repository, 'rm', '-q', '-r', 'dir');
  writeFileSync(join(repository, 'dir'), 'a file now\n');
  rmSync(join(repository, 'was-file'));
  write(join(repository, 'was-file/inner'), 'a directory now\n');
  chmodSync(join(repository, 'run.sh'), 0o755);
  write(join(repository, 'new/ünter "tracked".txt'), 'untracked\n', 0o600);
  symlinkSync('a.txt', join(repository, 'link'));
  write(join(repository, 'x.log'), 'ignored\n');
  write(join(repository, 'new.txt'), 'new and staged\n');
  git(repository, 'add', 'new.txt');
  return repository;
}

describe('agt session new and the uncommitted work of the user', () => {
  test('agt new names the work that stays behind, and agt run --new does so once', () => {
    const repository = makeRepository(FILES);
    writeFileSync(join(repository, 'a.txt'), 'changed\n');
    const notes =
      'note: uncommitted work stays in your worktree alone: a.txt\n' +
      'note: for a session that takes it along: agt session new --with-changes\n';
    expect(agt(repository, 'new', 'one').stderr).toBe(notes);
    expect(agt(repository, 'run', '--new', 'two', 'three', '--', 'true').stderr).toBe(
      `session two\n${notes}session three\n`,
    );
  });

  test('--with-changes makes the sandbox as the worktree is, index included, and leaves the worktree alone', () => {
    const repository = unfinished();
    const status = git(repository, 'status', '--porcelain', '-uall');
    const before = snapshotFolder(join(repository, '..'), ['project']);
    const index = readFileSync(join(repository, '.git/index'));
    const created = JSON.parse(agtOk(repository, 'new', 's1', '--with-changes', '--json'));
    const { sandbox } = created;
    expect(git(sandbox, 'status', '--porcelain', '-uall')).toBe(status);
    expect(git(sandbox, 'diff', '--cached')).toBe(git(repository, 'diff', '--cached'));
    expect(git(sandbox, 'diff')).toBe(git(repository, 'diff'));
    expect(readFileSync(join(sandbox, 'new/ünter "tracked".txt'), 'utf8')).toBe('untracked\n');
    expect(statSync(join(sandbox, 'new/ünter "tracked".txt')).mode & 0o777).toBe(0o600);
    expect(readlinkSync(join(sandbox, 'link'))).toBe('a.txt');
    expect(existsSync(join(sandbox, 'x.log'))).toBe(false);
    expect(created.left_behind).toEqual([]);
    expect(created.taken_along).toContain(Buffer.from('new/ünter "tracked".txt').toString('latin1'));
    expect(snapshotFolder(join(repository, '..'), ['project'])).toEqual(before);
    expect(readFileSync(join(repository, '.git/index')).equals(index)).toBe(true);
    const captured = JSON.parse(agtOk(repository, 'autocommit', '--session-id', 's1', '--json'));
    expect(captured.outcome).toBe('unchanged');
    expect(git(repository, 'show', 'agtsessions/s1:sandbox/b.txt')).toBe('changed');
  });

  test('without it, agt names what stays behind; it refuses conflicts and sessions that start elsewhere', () => {
    const repository = unfinished();
    const { stdout, stderr } = agt(repository, 'new', 's1');
    expect(stdout).toMatch(/^session {2}s1\nsandbox {2}.*\nbranch {3}agt\/s1 at \w+ from main\n$/);
    expect(stderr).toMatch(
      /^note: uncommitted work stays in your worktree alone: a\.txt, b\.txt, dir\/file, gone\.txt, new\.txt, and \d more\nnote: for a session that takes it along: agt session new --with-changes\n$/,
    );
    const { sandbox } = JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json'));
    expect(agt(sandbox, 'new', 's2').stderr).toBe(
      'note: it has the commits of s1 alone; with its files: agt fork s1\n',
    );
    expect(agt(repository, 'new', 'quiet', '-q')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    const { left_behind: named } = JSON.parse(agtOk(repository, 'new', 'quiet-json', '-q', '--json'));
    expect(named).toContain('b.txt');
    git(repository, 'branch', 'other', git(repository, 'commit-tree', '-m', 'other', 'HEAD^{tree}'));
    expect(agt(repository, 'new', 's3', '--from', 'other').stderr).toBe('');
    expect(agt(repository, 'new', 's4', '--from', 'other', '--with-changes')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        'error: there are no changes to take along: a session from "other" does not',
      ),
    });
    git(repository, 'stash', '-q', '-u');
    git(repository, 'checkout', '-q', '-b', 'side');
    writeFileSync(join(repository, 'b.txt'), 'side\n');
    git(repository, 'commit', '-q', '-a', '-m', 'side');
    git(repository, 'checkout', '-q', 'main');
    writeFileSync(join(repository, 'b.txt'), 'main\n');
    git(repository, 'commit', '-q', '-a', '-m', 'main');
    expect(agt(repository, 'git', 'merge', 'side').exitCode).toBe(1);
    expect(agt(repository, 'new', 's5', '--with-changes').stderr).toContain(
      'error: cannot take along conflicts (b.txt)\n',
    );
    expect(agtOk(repository, 'list')).not.toContain('s5');
  });

  test('with a damaged index agt makes the session, and says that it could not look', () => {
    const repository = makeRepository(FILES);
    writeFileSync(join(repository, '.git/index'), 'damaged');
    const { exitCode, stderr, stdout } = agt(repository, 'session', 'new', 's1', '--json');
    expect([exitCode, JSON.parse(stdout).left_behind]).toEqual([0, null]);
    expect(agt(repository, 'session', 'new', 's2').stderr).toMatch(
      /^note: agt could not look for uncommitted work in your worktree: .*index/,
    );
    expect(stderr).toBe('');
    expect(agt(repository, 'session', 'new', 's3', '--with-changes').exitCode).not.toBe(0);
  });

  test('agt.setup runs in the sandbox; a file of the worktree cannot set it; --quiet prints nothing', () => {
    const repository = makeRepository({ '.agt/config': '[agt]\n\tsetup = touch stranger\n' });
    agtOk(
      repository,
      'config',
      'set',
      'agt.setup',
      'echo "made in $AGT_SESSION" | tee made; test "$AGT_SESSION" != bad',
    );
    const good = agt(repository, 'new', 'good', '--json');
    const { sandbox } = JSON.parse(good.stdout);
    expect(good).toMatchObject({ exitCode: 0, stderr: 'made in good\n' });
    expect(readFileSync(join(sandbox, 'made'), 'utf8')).toBe('made in good\n');
    expect(existsSync(join(sandbox, 'stranger'))).toBe(false);
    const bad = agt(repository, 'new', 'bad', '--quiet');
    expect(bad).toMatchObject({ exitCode: 1, stdout: '' });
    expect(bad.stderr).toMatch(
      /^made in bad\nerror: agt\.setup \(echo .*\) ended with exit code 1\nhint: the session is there: /,
    );
    expect(agt(repository, 'new', 'none', '-q', '--no-setup')).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
    expect([...agtOk(repository, 'list').matchAll(/ active /g)]).toHaveLength(3);
  });
});

test('unaccept leaves what the user had not committed before as it was', () => {
  const repository = makeRepository(FILES);
  writeFileSync(join(repository, 'a.txt'), 'mine\n');
  writeFileSync(join(repository, 'new.txt'), 'mine\n');
  rmSync(join(repository, 'gone.txt'));
  const status = git(repository, 'status', '--porcelain');
  const sandbox = JSON.parse(agtOk(repository, 'new', 's1', '--with-changes', '--json')).sandbox;
  writeFileSync(join(sandbox, 'work.txt'), 'of the agent\n');
  agtOk(repository, 'accept', 's1', '--untracked=all');
  expect(git(repository, 'status', '--porcelain')).toBe('');
  agtOk(repository, 'session', 'unaccept', 's1');
  expect(git(repository, 'status', '--porcelain')).toBe(status);
  expect(['a.txt', 'new.txt'].map((name) => readFileSync(join(repository, name), 'utf8'))).toEqual([
    'mine\n',
    'mine\n',
  ]);
  expect(existsSync(join(repository, 'work.txt'))).toBe(false);
  agtOk(repository, 'accept', 's1', '--untracked=all');
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('files that only the checkout has converted are no changes of the user', () => {
  const repository = makeRepository({
    '.gitattributes': '*.bat eol=crlf\n',
    'a.bat': 'a\n',
    f: 'f\n',
    g: 'g\n',
  });
  write(join(repository, 'f'), 'f\nmore\n');
  write(join(repository, 'new.bat'), 'new\r\n');
  rmSync(join(repository, 'g'));
  agtOk(repository, 'session', 'new', 's1', '--with-changes');
  expect(agtOk(repository, 'session', 'log', 's1', '--stat').split('\n').slice(1)).toEqual([
    expect.stringMatching(/ 1 +1 +1 .* with your changes/),
    '    M  +1 -0  f',
    '    D  +0 -1  g',
    '    A  +1 -0  new.bat',
  ]);
});

test('a change that the user has committed since is no work of the session', () => {
  const repository = makeRepository(FILES);
  write(join(repository, 'a.txt'), 'mine\n');
  write(join(repository, 'new.txt'), 'mine\n');
  const { sandbox } = JSON.parse(agtOk(repository, 'new', 's1', '--with-changes', '--json'));
  write(join(sandbox, 'work.txt'), 'of the agent\n');
  write(join(sandbox, 'new.txt'), 'mine\nof the agent\n');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', 'mine');
  const [row] = JSON.parse(agtOk(repository, 'list', '--json'));
  expect(row).toMatchObject({ merge: 'clean', diff: { files: 2, insertions: 2, deletions: 0 } });
  const stat = 'M new.txt\n  A work.txt';
  expect(agtOk(repository, 'accept', 's1', '-n')).toContain(
    `would accept s1: 2 files changed, +2 -0\n  ${stat}`,
  );
  expect(agtOk(repository, 'diff', 's1', '--base', '--shortstat')).toContain(
    '2 files changed, 2 insertions(+)',
  );
  expect(agtOk(repository, 'review', 's1').match(/^\+of.*|^-.*/gm)).toHaveLength(4);
});
