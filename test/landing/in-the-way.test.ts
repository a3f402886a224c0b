/** A filter, a hook, a running command or another worktree is in the way: nothing is lost, and the hints lead on. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

test('a filter fails during accept: the other files go back, and doctor ends the rest', () => {
  const repository = makeRepository({ a: 'a\n', 'x.bin': '1\n', '.gitattributes': '*.bin filter=f\n' });
  const filter = (smudge: string) => git(repository, 'config', 'filter.f.smudge', smudge);
  git(repository, 'config', 'filter.f.clean', 'cat');
  git(repository, 'config', 'filter.f.required', 'true');
  filter('cat');
  const { sandbox } = sessionIn(repository);
  for (const path of ['a', 'x.bin', 'new']) write(join(sandbox, path), 'by the agent\n');
  const before = git(repository, 'rev-parse', 'main');
  filter('false');
  const failed = agt(repository, 'accept', 's1');
  expect(failed.exitCode).not.toBe(0);
  expect(failed.stderr).toMatch(/git could not write x\.bin .*\nhint: a filter may have failed/);
  expect(git(repository, 'rev-parse', 'main')).toBe(before);
  expect(git(repository, 'status', '--porcelain')).toBe(' D x.bin');
  filter('cat');
  expect(agt(repository, 'doctor', '--fix').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
  expect(git(repository, 'status', '--porcelain')).toBe('');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(readFileSync(join(repository, 'x.bin'), 'utf8')).toBe('by the agent\n');
});

test('git cannot sign the merge of sync: agt says so, and undo goes back', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n' });
  write(join(sandbox, 'a'), 'by the agent\n');
  git(sandbox, 'commit', '-q', '-a', '-m', 'by the agent');
  const head = git(sandbox, 'rev-parse', 'HEAD');
  write(join(repository, 'b'), 'by the user\n');
  git(repository, 'commit', '-q', '-a', '-m', 'by the user');
  git(repository, 'config', 'commit.gpgSign', 'true');
  git(repository, 'config', 'gpg.program', '/bin/false');
  const refused = agt(repository, 'sync', 's1');
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.stderr).toContain(
    `error: git did not finish the merge in the sandbox of "s1", without a conflict\nhint: go on: git -C ${sandbox} commit\nhint: or go back: agt undo s1\n`,
  );
  agtOk(repository, 'undo', 's1');
  expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(head);
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
});

test.each([
  ['run', ['run', 's1']],
  ['exec', ['session', 'exec', 's1', '--tool', 'Bash']],
])(
  'accept, reject and remove leave a session in which a command of agt %s runs; --keep does not wait',
  async (how, words) => {
    const { repository, sandbox, folder } = makeSession();
    write(join(sandbox, 'new'), 'by the agent\n');
    const script = ': >started; while [ ! -e stop ]; do sleep 0.05; done';
    const running = spawn(AGT, [...words, '--', 'sh', '-c', script], { cwd: repository, stdio: 'ignore' });
    const ended = new Promise((resolve) => running.on('exit', resolve));
    const owner = () =>
      how === 'run'
        ? (JSON.parse(readFileSync(join(repository, '.git/agt/sessions/s1.json'), 'utf8')).owner as unknown)
        : existsSync(join(repository, '.git/agt/commands/s1'))
          ? how
          : undefined;
    try {
      while (!existsSync(join(sandbox, 'started')) || owner() === undefined)
        await new Promise((resolve) => setTimeout(resolve, 20));
      for (const command of ['accept', 'reject', 'remove']) {
        const refused = agt(repository, command, 's1');
        expect(refused.exitCode).toBe(1);
        expect(refused.stderr).toMatch(/^error: "sh" runs in session "s1" \(process \d+\)\nhint: wait until/);
        expect(agt(repository, command, 's1', '-n').stderr).toBe(refused.stderr);
      }
      expect(git(repository, 'log', '--format=%s', 'main')).toBe('first');
      agtOk(repository, 'accept', 's1', '--keep', '-m', 'Kept');
      expect(git(repository, 'log', '-1', '--format=%s', 'main')).toBe('Kept');
      if (how === 'exec') running.kill('SIGKILL'); // its command goes on
      expect(agt(repository, 'reject', 's1', '-n').stderr).toMatch(/^error: "sh" runs in session "s1"/);
      expect(agt(repository, 'remove', 's1', '--force', '-n').exitCode).toBe(0);
    } finally {
      write(join(sandbox, 'stop'), '');
      await ended;
    }
    while (agt(repository, 'reject', 's1', '-n').exitCode !== 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    if (how === 'exec') expect(readdirSync(join(repository, '.git/agt/commands/s1'))).toEqual([]);
    agtOk(repository, 'reject', 's1');
    expect(existsSync(folder)).toBe(false);
  },
);

test('unaccept of merged commits that are no longer the tip: the revert that it names works', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'new'), 'by the agent\n');
  git(sandbox, 'add', 'new');
  git(sandbox, 'commit', '-q', '-m', 'by the agent');
  agtOk(repository, 'accept', 's1', '--keep-commits');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'by the user');
  const { stderr } = agt(repository, 'session', 'unaccept', 's1');
  const revert = /git (revert -m 1 [0-9a-f]+)\n/.exec(stderr)?.[1] ?? '';
  git(repository, ...revert.split(' '), '--no-edit');
  expect(existsSync(join(repository, 'new'))).toBe(false);
});

test('in place: another worktree has the branch to return to, so the session stays as it is', () => {
  const repository = makeRepository();
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place');
  write(join(repository, 'new'), 'by the agent\n');
  git(repository, 'worktree', 'add', '-q', '../other', 'main');
  const tip = git(repository, 'rev-parse', 'main');
  for (const command of ['accept', 'reject']) {
    expect(agt(repository, command, 's1').stderr).toMatch(
      /^error: "main" is checked out in .*other, so session "s1" cannot return to it\nhint: switch that worktree/,
    );
  }
  expect(git(repository, 'rev-parse', 'main')).toBe(tip);
  expect(readFileSync(join(repository, 'new'), 'utf8')).toBe('by the agent\n');
  git(join(repository, '../other'), 'switch', '-q', '--detach');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'show', 'main:new')).toBe('by the agent');
});

test('in place: accept overlaps with work that was set aside: it says both, and doctor names that work', () => {
  const repository = makeRepository({ a: 'a\n' });
  write(join(repository, 'a'), 'by the user\n');
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place');
  write(join(repository, 'a'), 'by the agent\n');
  const accepted = agt(repository, 'accept', 's1', '-m', 'Taken');
  expect(accepted.exitCode).toBe(1);
  expect(accepted.stdout).toMatch(/^accepted s1: 1 file changed/);
  expect(accepted.stderr).toMatch(
    /^error: session "s1" has ended, but the branch has its own a now; yours, as before the session, is set aside, and all else of yours is back\n/,
  );
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('Taken');
  const [, show = ''] = /^hint: merge your changes into it: (.*) \| git /m.exec(accepted.stderr) ?? [];
  expect(run('sh', ['-c', show], { cwd: '/' }).stdout).toContain('\n-a\n+by the user\n');
  expect(agt(repository, 'doctor').stdout).toContain(
    'work of yours from before this session is still set aside',
  );
  expect(agt(repository, 'unaccept', 's1')).toMatchObject({
    exitCode: 0,
    stderr: 'warning: refs/agt/stash/s1 still has work of yours; see: agt doctor\n',
  });
  const [, letGo = ''] = /^hint: when you need it no more: agt (.*)$/m.exec(accepted.stderr) ?? [];
  expect(run('sh', ['-c', `${AGT} ${letGo}`], { cwd: '/' }).exitCode).toBe(0);
  expect(agt(repository, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
});

test('the same accept again changes nothing and says so, also when somebody has moved the branch', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'new'), 'by the agent\n');
  agtOk(repository, 'accept', 's1');
  const landed = git(repository, 'rev-parse', 'main');
  const again = (...words: string[]) => agt(repository, 'accept', 's1', ...words);
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'later');
  const later = git(repository, 'rev-parse', 'main');
  for (const words of [['-n'], []]) {
    const { exitCode, stdout, stderr } = again('--json', '-m', 'words', ...words);
    expect([exitCode, stderr]).toEqual([
      0,
      'warning: "s1" is accepted already, and nothing has changed now\n',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'accepted', commit: landed });
  }
  expect(git(repository, 'rev-parse', 'main')).toBe(later);
  // More of the same session, or a part of it, needs the session.
  const back = 'hint: bring it back, and leave main as it is: agt undo s1\n';
  for (const part of ['--commits=nonsense', '--include=new', '--exclude=new', '--committed-only', '--seen'])
    expect(again(part)).toMatchObject({
      exitCode: 1,
      stderr: `error: session "s1" is accepted; agt cannot accept it\n${back}`,
    });
  expect(agt(repository, 'reject', 's1').stderr).toBe(`error: session "s1" is already accepted\n${back}`);
  agtOk(repository, 'undo', 's1');
  write(join(sandbox, 'newer'), 'by the agent\n');
  write(join(sandbox, 'rest'), 'by the agent\n');
  again('--exclude=rest');
  expect(again('-n').stderr).toBe(
    'warning: "s1" is accepted already, and nothing has changed now; to go on with what stayed out: agt undo s1\n',
  );
});

describe('files that the user has already as accept would write them', () => {
  /** A new session takes along a file of each kind; the agent adds one more. */
  function withChanges() {
    const files = {
      a: 'a\n',
      b: 'b\n',
      'run.sh': 'x\n',
      gone: 'x\n',
      was: 'x\n',
      'dir/f': 'x\n',
      file: 'x\n',
    };
    const repository = makeRepository(files);
    rmSync(join(repository, 'dir'), { recursive: true });
    write(join(repository, 'dir'), 'a file now\n');
    rmSync(join(repository, 'file'));
    write(join(repository, 'file/f'), 'in a directory now\n');
    write(join(repository, 'a'), 'by the user\n');
    write(join(repository, 'b'), 'staged by the user\n');
    git(repository, 'add', 'b');
    chmodSync(join(repository, 'run.sh'), 0o755);
    rmSync(join(repository, 'gone'));
    write(join(repository, 'new ü'), 'not tracked\n');
    symlinkSync('a', join(repository, 'link'));
    const { sandbox } = JSON.parse(agtOk(repository, 'new', 's1', '--with-changes', '--json'));
    write(join(sandbox, 'by-agent'), 'by the agent\n');
    write(join(sandbox, 'was'), 'by the agent\n');
    return { repository, sandbox };
  }

  test('they are not in the way, and unaccept leaves them uncommitted again', () => {
    const { repository } = withChanges();
    const changed = () =>
      git(repository, 'status', '--porcelain', '-uall')
        .split('\n')
        .map((line) => line.slice(3));
    const before = changed().toSorted();
    agtOk(repository, 'accept', 's1', '-m', 'All', '--untracked=all');
    expect(git(repository, 'status', '--porcelain')).toBe('');
    expect(git(repository, 'show', 'main:a')).toBe('by the user');
    expect(git(repository, 'ls-tree', '--name-only', 'main').split('\n')).toHaveLength(9);
    agtOk(repository, 'unaccept', 's1');
    expect(changed().toSorted()).toEqual(before);
    expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('by the user\n');
    expect(readFileSync(join(repository, 'b'), 'utf8')).toBe('staged by the user\n');
    expect(readFileSync(join(repository, 'new ü'), 'utf8')).toBe('not tracked\n');
  });

  test('one byte more, another mode, or another version staged is in the way', () => {
    const { repository } = withChanges();
    write(join(repository, 'a'), 'by the user, later\n');
    chmodSync(join(repository, 'new ü'), 0o755);
    write(join(repository, 'b'), 'staged then\n');
    git(repository, 'add', 'b');
    write(join(repository, 'b'), 'staged by the user\n');
    const before = git(repository, 'status', '--porcelain');
    const refused = agt(repository, 'accept', 's1', '-m', 'All', '--untracked=all');
    expect(refused.stderr).toMatch(
      /3 files in .*\nhint: a: not committed\nhint: b: staged\nhint: new Ã¼: not tracked\n/,
    );
    expect(git(repository, 'status', '--porcelain')).toBe(before);
  });

  test.each([
    'landing: branch locked#1',
    'landing: index has what is there#1',
    'landing: worktree brought along#1',
    'landing: branch moved#1',
  ])('killed at %s: they stay', (point) => {
    const { repository } = withChanges();
    const before = git(repository, 'status', '--porcelain');
    const env = { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT };
    const words = ['accept', 's1', '-m', 'All', '--untracked=all'];
    expect(run(process.execPath, [KILLABLE, ...words], { cwd: repository, env }).exitCode).toBe(null);
    agtOk(repository, 'doctor', '--fix');
    const isMoved = point.includes('moved');
    expect(git(repository, 'status', '--porcelain')).toBe(isMoved ? '' : before);
    expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('by the user\n');
    expect(readFileSync(join(repository, 'b'), 'utf8')).toBe('staged by the user\n');
    expect(readFileSync(join(repository, 'new ü'), 'utf8')).toBe('not tracked\n');
  });
});
