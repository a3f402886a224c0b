/** agt session restore --path and --dry-run: the paths that they take and list. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../harness/session.ts';
import { agt, agtOk, makeRepository, run, write } from '../harness/world.ts';

test.each([[], ['--dry-run']])('a path that nobody knows is an error that names it %s', (...options) => {
  const session = makeSession({ a: 'a\n' });
  autocommit(session, '--label', 'then');
  write(join(session.sandbox, 'a'), 'changed\n');
  const restore = ['session', 'restore', 's1', '--to', 'then', '--path', 'a', '--path', 'nosuch', ...options];
  const done = agt(session.repository, ...restore);
  expect(done.exitCode).toBe(1);
  expect(done.stderr).toMatch(/^error: "nosuch" is neither in snapshot \w+ nor in the session\nhint: /);
  expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('changed\n');
});

test('a path that is on disk alone is deleted, as the snapshot does not have it', () => {
  const session = makeSession({ a: 'a\n' });
  autocommit(session, '--label', 'then');
  write(join(session.sandbox, 'new'), 'new\n');
  const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then', '--path', 'new');
  expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('restored 1 path, verified') });
});

test('--dry-run lists what the restore would write, also if the sandbox is no worktree any more', () => {
  const session = makeSession({ a: 'a\n', b: 'b\n', 'c/d': 'd\n' });
  autocommit(session, '--label', 'then');
  write(join(session.sandbox, 'a'), 'changed\n');
  rmSync(join(session.sandbox, 'b'));
  rmSync(join(session.sandbox, '.git'));
  const preview = agt(session.repository, 'session', 'restore', 's1', '--to', 'then', '--dry-run');
  expect(preview.stdout).toMatch(/^M a\nA b\ns1: would restore 2 paths to \w+\n$/);
  const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
  expect(done.stdout).toContain('restored 2 paths, verified');
});

test('a file that is as in the snapshot: says so, and makes no snapshot', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  agtOk(repository, 'autocommit', 's1');
  write(join(sandbox, 'b'), 'b\n');
  agtOk(repository, 'autocommit', 's1');
  const log = () => agtOk(repository, 'session', 'log', 's1');
  const before = log();
  for (const words of [['-n'], ['--json'], []])
    expect(agtOk(repository, 'restore', 's1', '@{1}', ...words, '--', 'a')).toMatch(
      words[0] === '--json' ? /"changed": 0/ : /^s1: nothing to restore: as in \w{10} already$/,
    );
  expect(log()).toBe(before);
});

test('paths are shown as people write them; those beside the sandbox too', () => {
  const session = makeSession({ a: 'a\n', 'xdg/log': 'in the sandbox\n' });
  write(join(session.folder, 'xdg/log'), 'beside it\n');
  write(join(session.folder, 'config/c'), 'c\n');
  autocommit(session, '--label', 'then');
  for (const name of ['sandbox/a', 'sandbox/xdg/log', 'xdg/log', 'config/c'])
    rmSync(join(session.folder, name));
  const listed = ['a', 'xdg/log', '../xdg/log', 'config/c'];
  const restore = ['session', 'restore', 's1', '--to', 'then', '-n'];
  expect(agtOk(session.repository, ...restore, '--path', 'sandbox/a')).toMatch(/^A a\n/);
  for (const [words, shown] of [
    [['session', 'cat', 's1', 'then:sandbox/a'], /^a$/],
    [['session', 'diff', 's1', 'then', '--name-only', '--', 'sandbox/a'], /^a$/],
  ] as const)
    expect(agtOk(session.repository, ...words)).toMatch(shown);
  for (const path of listed)
    expect(agtOk(session.repository, ...restore, '--path', path)).toMatch(
      new RegExp(`^A ${path}\ns1: would restore 1 path `),
    );
  const { changes } = JSON.parse(agtOk(session.repository, ...restore, '--json'));
  expect(changes.map(({ path }: { path: string }) => path).sort()).toEqual(listed.sort());
});

test('a path in a folder without a session is named as it is there', () => {
  const folder = makeRepository({ a: 'a\n', 'xdg/log': 'log\n' });
  agtOk(folder, 'snapshot');
  write(join(folder, 'xdg/log'), 'changed\n');
  const restore = (path: string) => agt(folder, 'snapshot', 'restore', '@', '-n', '--path', path);
  expect(restore('xdg/log').stdout).toMatch(/^M xdg\/log\n/);
  const about = (path: string) => restore(path).stderr.replace(/^hint: to see .*\n/m, '');
  const hint = 'hint: paths are relative to the folder, or to the current directory if that is in it\n';
  expect(about('config')).toMatch(
    new RegExp(`^error: "config" is neither in snapshot \\w+ nor in the folder\n${hint}$`),
  );
  for (const path of ['..', '../config', '/etc'])
    expect(restore(path)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `error: "${path}" is not in the folder ${folder}\n${hint}`,
    });
});

test.each(['session', 'snapshot'])('agt %s restore refuses an empty path, and changes nothing', (command) => {
  const folder = makeRepository({ a: 'a\n' });
  agtOk(folder, 'snapshot', '--label', 'then');
  write(join(folder, 'a'), 'changed\n');
  const words = command === 'session' ? ['--to', 'then'] : ['then'];
  expect(agt(folder, command, 'restore', ...words, '--path', '')).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'error: a path is empty\nhint: give a path, or leave it out to restore everything\n',
  });
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('changed\n');
});

test('--path and --only exclude each other', () => {
  const folder = makeRepository({ a: 'a\n' });
  agtOk(folder, 'session', 'new', 's1');
  agtOk(folder, 'autocommit', 's1', '--label', 'then');
  expect(agt(folder, 'session', 'restore', 's1', '--to', 'then', '--path', 'a', '--only', 'xdg')).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'error: paths and --only exclude each other\nhint: a path may begin with xdg/ or config/\n',
  });
});

test('after a restore, @ is its result: a hash means the same snapshot again', () => {
  const session = makeSession({ a: 'a\n', b: 'b\n' });
  const { commit } = autocommit(session, '--label', 'then');
  const text = (name: string) => readFileSync(join(session.sandbox, name), 'utf8');
  const restore = (to: string, path: string) =>
    agtOk(session.repository, 'session', 'restore', 's1', '--to', to, '--path', path);
  for (const name of ['a', 'b']) write(join(session.sandbox, name), 'changed\n');
  restore('@', 'a');
  restore('@', 'b');
  expect([text('a'), text('b')]).toEqual(['a\n', 'changed\n']);
  restore(commit ?? '', 'b');
  expect(text('b')).toBe('b\n');
});

test.each([['--', 'b'], ['--path', 'b'], ['--only', 'config'], ['--files-only']])(
  'a part does not stand for a session without its sandbox: %s %s',
  (...part) => {
    const session = makeSession({ a: 'a\n', b: 'b\n' });
    const { repository } = session;
    autocommit(session);
    write(join(session.sandbox, 'b'), 'changed\n');
    autocommit(session);
    const refused = (error: string) => {
      for (const options of [[], ['-n']])
        expect(agt(repository, 'restore', 's1', '@{1}', ...options, ...part)).toEqual({
          exitCode: 1,
          stdout: '',
          stderr: error,
        });
    };
    rmSync(session.sandbox, { recursive: true });
    refused(
      `error: the sandbox of "s1" is gone: ${session.sandbox}\nhint: first bring all of it back: agt restore s1 @\n`,
    );
    agtOk(repository, 'restore', 's1', '@');
    agtOk(repository, 'reject', 's1');
    refused(
      'error: session "s1" is rejected, not active\nhint: bring it back: agt undo s1\n' +
        'hint: to see what it did: agt session diff s1\n',
    );
    agtOk(repository, 'undo', 's1');
    agtOk(repository, 'restore', 's1', '@{1}', ...part);
    expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('a\n');
  },
);

test.each([
  ['a commit', 'git add -A && git commit -qm c'],
  ['a file in the index', 'git add new'],
  ['an empty directory with another name', 'mv empty other'],
  ['a directory with another name', 'mv d e'],
])('undo, after what nobody has captured: the dry run says the same: %s', (_, script) => {
  const { repository, sandbox } = makeSession({ 'd/a': 'a\n' });
  mkdirSync(join(sandbox, 'empty'));
  agtOk(repository, 'autocommit', 's1');
  write(join(sandbox, 'new'), 'new\n');
  agtOk(repository, 'autocommit', 's1');
  run('sh', ['-c', script], { cwd: sandbox });
  const undo = (...args: string[]) => {
    const { snapshot, changes, refs } = JSON.parse(agtOk(repository, 'undo', 's1', '--json', ...args));
    return { snapshot, changes, refs };
  };
  const planned = undo('-n');
  expect(undo()).toEqual(planned);
  expect(existsSync(join(sandbox, 'new'))).toBe(true);
});
