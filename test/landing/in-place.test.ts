/** An acceptance of a session that works in the user's own checkout. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, run, write } from '../harness/world.ts';

test('the checkout returns to its branch, which has the work, and the uncommitted files come back', () => {
  const repository = makeRepository({ a: 'a\n', b: 'b\n' });
  write(join(repository, 'b'), 'changed\n');
  write(join(repository, 'untracked'), 'mine\n');
  const status = () => git(repository, 'status', '--porcelain', '--branch');
  const before = status();
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place');
  write(join(repository, 'a'), 'by the agent\n');
  write(join(repository, 'new'), 'new\n');
  const back = `back your uncommitted work in ${repository}: b, untracked\n`;
  for (const end of ['accept', 'reject', 'remove'])
    expect(agt(repository, end, 's1', '-n').stdout).toContain(`would bring ${back}`);
  expect(agtOk(repository, 'accept', 's1', '-n', '--keep')).not.toContain('back your uncommitted');
  expect(agtOk(repository, 'accept', 's1')).toContain(`brought ${back}`);
  expect(status()).toBe(before);
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('by the agent\n');
  expect(git(repository, 'log', '--format=%s', 'main')).toBe('Work of session s1\nfirst');
  expect(git(repository, 'branch', '--list', 'agt/*')).toBe('');
  agtOk(repository, 'session', 'unaccept', 's1');
  expect(status()).toBe(before);
  expect(existsSync(join(repository, 'new'))).toBe(false);
  expect(readFileSync(`${repository}.agt/sessions/s1/sandbox/new`, 'utf8')).toBe('new\n');
});

test('the dry run names work that stays set aside, and the hint brings it into what has landed', () => {
  const lines = (first: string, last: string) => [first, ...'bcdefg', last].join('\n');
  const repository = makeRepository({ doc: lines('a', 'z'), b: 'b\n' });
  write(join(repository, 'doc'), lines('mine', 'z'));
  write(join(repository, 'b'), 'mine\n');
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place');
  write(join(repository, 'doc'), lines('a', 'of the agent'));
  const planned = agtOk(repository, 'accept', 's1', '-n');
  expect(planned).toContain(`would bring back your uncommitted work in ${repository}: b\n`);
  expect(planned).toContain('would leave your uncommitted work set aside, as the branch gets its own: doc\n');
  const [, way = ''] =
    /^hint: merge your changes into it: (.*)$/m.exec(agt(repository, 'accept', 's1').stderr) ?? [];
  expect(readFileSync(join(repository, 'doc'), 'utf8')).toBe(lines('a', 'of the agent'));
  expect(run('sh', ['-c', way], { cwd: '/' }).exitCode).toBe(0);
  expect(readFileSync(join(repository, 'doc'), 'utf8')).toBe(lines('mine', 'of the agent'));
});

test('an ignored file of the user that the agent commits does not land, and comes back', () => {
  const repository = makeRepository({ a: 'a\n', '.gitignore': '*.log\n' });
  write(join(repository, 'mine.log'), 'mine\n');
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place');
  write(join(repository, 'mine.log'), 'by the agent\n');
  write(join(repository, 'new'), 'new\n');
  git(repository, 'add', '--force', '.');
  git(repository, 'commit', '-q', '-m', 'by the agent');
  for (const how of [['--dry-run'], []]) {
    expect(agt(repository, 'accept', 's1', ...how)).toMatchObject({
      exitCode: 1,
      stderr:
        'error: ignored files of yours would be replaced (mine.log)\n' +
        'hint: leave them out: agt accept s1 --exclude=/mine.log\n',
    });
  }
  git(repository, 'checkout', '-q', 'main');
  expect(agt(repository, 'accept', 's1').stderr).toContain(
    `hint: go back to it: git -C ${repository} switch agt/s1\n`,
  );
  git(repository, 'switch', '-q', 'agt/s1');
  agtOk(repository, 'accept', 's1', '--exclude', '*.log');
  expect(git(repository, 'ls-tree', '--name-only', 'main').split('\n')).toEqual(['.gitignore', 'a', 'new']);
  expect(readFileSync(join(repository, 'mine.log'), 'utf8')).toBe('mine\n');
});

test('an agent that has switched to the branch of the user: the way that agt names leads to an accept', () => {
  const repository = makeRepository({ a: 'a\n' });
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place');
  git(repository, 'switch', '-q', 'main');
  write(join(repository, 'a'), 'by the agent\n');
  write(join(repository, 'new'), 'new\n');
  const { stderr } = agt(repository, 'accept', 's1');
  expect(stderr).toMatch(/^error: 2 files in .* would be overwritten, and nothing has changed\n/);
  const [, words = ''] = /^hint: take them back to the work branch: git (.*)$/m.exec(stderr) ?? [];
  git(repository, ...words.split(' '));
  agtOk(repository, 'accept', 's1', '--untracked=all');
  expect(git(repository, 'show', 'main:a', 'main:new')).toBe('by the agent\nnew');
  expect(git(repository, 'status', '--porcelain', '--branch')).toBe('## main');
});

test('work that the session took along is the user’s: unaccept brings it back, and no undo goes before it', () => {
  const repository = makeRepository({ a: 'a\n' });
  const read = (name: string) => readFileSync(join(repository, name), 'utf8');
  write(join(repository, 'a'), 'a\nmine\n');
  write(join(repository, 'untracked'), 'mine\n');
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place', '--with-changes');
  write(join(repository, 'a'), 'a\nmine\nby the agent\n');
  write(join(repository, 'new'), 'new\n');
  agtOk(repository, 'autocommit', 's1');
  for (let i = 0; i < 2; i++) {
    agtOk(repository, 'accept', 's1', '--untracked=all');
    expect(git(repository, 'status', '--porcelain')).toBe('');
    expect(git(repository, 'show', 'main:a', 'main:untracked')).toBe('a\nmine\nby the agent\nmine');
    agtOk(repository, 'session', 'unaccept', 's1');
    expect(git(repository, 'status', '--porcelain')).toBe(' M a\n?? untracked');
    expect([read('a'), read('untracked')]).toEqual(['a\nmine\n', 'mine\n']);
  }
  const sandbox = `${repository}.agt/sessions/s1/sandbox`;
  agtOk(repository, 'undo', 's1');
  expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('a\nmine\n');
  for (const how of [['-n'], []]) {
    const { exitCode, stderr } = agt(repository, 'undo', 's1', ...how);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: nothing to undo: "s1" has no earlier step of its own, and an undo stops at the beginning of the session\n(?:hint: .*\n)*hint: your own work .*: agt restore s1 \w+\n$/,
      ),
    ]);
  }
  agtOk(repository, 'redo', 's1');
  expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('a\nmine\nby the agent\n');
  expect(git(repository, 'status', '--porcelain')).toBe(' M a\n?? untracked');
});

test('after accept --keep and unaccept in place, the checkout has all as before', () => {
  const repository = makeRepository({ a: 'a\n' });
  write(join(repository, 'untracked'), 'mine\n');
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place', '--with-changes');
  write(join(repository, 'a'), 'by the agent\n');
  const before = git(repository, 'status', '--porcelain', '--branch');
  agtOk(repository, 'accept', 's1', '--untracked=all', '--keep');
  agtOk(repository, 'session', 'unaccept', 's1');
  expect(git(repository, 'status', '--porcelain', '--branch')).toBe(before);
  agtOk(repository, 'reject', 's1');
  expect(git(repository, 'status', '--porcelain', '--branch')).toBe('## main\n?? untracked');
});

test('back in a sandbox, it lands what the agent makes in a repository of the user, and nothing of the user', () => {
  const repository = makeRepository({ a: 'a\n' });
  const nested = makeRepository({ committed: 'mine\n' });
  cpSync(nested, join(repository, 'nested\n'), { recursive: true });
  write(join(repository, 'nested\n/untracked'), 'mine\n');
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place');
  write(join(repository, 'a'), 'by the agent\n');
  agtOk(repository, 'accept', 's1');
  agtOk(repository, 'unaccept', 's1');
  write(`${repository}.agt/sessions/s1/sandbox/nested\n/new`, 'by the agent\n');
  const { files } = JSON.parse(agtOk(repository, 'accept', 's1', '-n', '--untracked=all', '--json'));
  expect(files.map(({ path }: { path: string }) => path)).toEqual(['a', 'nested\n/new']);
});
