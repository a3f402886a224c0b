/** Values that a command can do nothing with: one line says so, and nothing is made. Values that look like options. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, run as runProgram, write } from '../harness/world.ts';

test.each([
  ['shim install in ""', ['shim', 'install', '--dir', ''], 2, /^error: --dir is empty\n/],
  [
    'shim install where no directory can be made',
    ['shim', 'install', '--dir', '/proc/x/bin'],
    1,
    /^error: cannot create the directory "\/proc\/x": no such file or directory\n/,
  ],
  [
    'clone where no directory can be made',
    ['clone', '/nowhere/project', '--path', '/proc/x'],
    1,
    /^error: cannot create the directory "\/proc\/x": no such file or directory\n/,
  ],
  ['watch all the time', ['watch', '--interval', '0'], 2, /^error: --interval is at least 0\.1 seconds\n/],
  [
    'undo of a path',
    ['undo', '--', 'README.md'],
    2,
    /^error: a path needs one thing to take back: add --turn N, --step @\{N\} or --agent NAME\nhint: for example: .*--turn N -- README.md\n/,
  ],
  [
    'fork far too often',
    ['session', 'fork', '--from', 's1', '--count', '1000'],
    2,
    /^error: invalid number of forks "1000"\n/,
  ],
  [
    'accept of a commit as a session',
    ['accept', 's1', '--commits', 'agt/s1~1', 'agt/s1', '-n'],
    2,
    /^error: --commits takes one value, and "agt\/s1" is no session\nhint: several: --commits 'agt\/s1~1' --commits agt\/s1\n/,
  ],
  [
    'review of a path without --',
    ['review', 's1', 'README.md'],
    2,
    /^error: unknown argument "README.md"\nhint: if that is a path: agt session review s1 -- README.md\n/,
  ],
  [
    'accept of a path as a session',
    ['accept', 's1', '--include', 'README.md', 'docs', '--exclude', 'x'],
    2,
    /^error: --include takes one value, and "docs" is no session\nhint: several: --include README.md --include docs\n/,
  ],
  [
    'accept in the sandbox of a commit as a session',
    ['accept', '--commits', 'HEAD', 'agt/s1', '-n'],
    2,
    /^hint: several: --commits HEAD --commits agt\/s1\n/m,
  ],
  [
    'remove of sessions by name and by their state',
    ['remove', '--merged', 's1'],
    2,
    /^hint: leave out s1, or --merged\n/m,
  ],
  ['accept as git merges', ['accept', 's1', '--squash'], 2, /^hint: use: agt accept SESSION: one commit/m],
  ['list of the merged ones', ['list', '--merged'], 2, /^hint: use: agt remove --merged -n\n/m],
  ['log of all', ['session', 'log', '--all-sessions'], 2, /^hint: use: agt log --all-sessions\n/m],
  ['show of a turn', ['show', '--turn', '2'], 128, /^hint: did you mean: agt diff --turn 2\?\n/m],
  [
    'run with the work of the user',
    ['run', '--new', 'x', '--with-changes', '--', 'true'],
    2,
    /^hint: use: agt new ID --with-changes, then agt run ID -- COMMAND\n/m,
  ],
  [
    'why in a session',
    ['why', '--session', 's1', 'README.md:1'],
    2,
    /^hint: use: agt -C .* why FILE:LINE\n/m,
  ],
])('%s is refused', (_, args, exitCode, message) => {
  const session = makeSession();
  const outcome = agt(session.sandbox, ...args);
  expect(outcome.stderr).toMatch(message);
  expect(outcome.exitCode).toBe(exitCode);
  expect(outcome.stdout).toBe('');
  expect(readdirSync(session.sandbox)).toEqual(['.git', 'README.md']);
});

test('a count or a turn is no session where there are no snapshots, unless one has that name', () => {
  const { repository } = makeSession();
  const commands = ['undo 2', 'redo 2', 'undo --turn 1', 'undo --turns 2'].map((line) => line.split(' '));
  for (const folder of [repository, makeTempDir()])
    for (const words of commands) expect(agt(folder, ...words).stderr).toBe(agt(folder, 'undo').stderr);
  expect(agt(repository, 'undo', '2', '3').stderr).toMatch(/^error: no session "2" in /);
  agtOk(repository, 'new', '2');
  expect(agt(repository, 'undo', '2').stderr).toMatch(/^error: nothing to undo: "2" is at its first step\n/);
});

test('after -- a path, a text or a name may begin with a hyphen', () => {
  const { sandbox } = makeSession();
  const run = (...args: string[]) => agtOk(sandbox, ...args);
  write(join(sandbox, '-x'), 'word -x\n');
  run('autocommit');
  git(sandbox, 'add', '--all');
  git(sandbox, 'commit', '-qm', 'x');
  const found = run('search', 'word');
  expect([run('search', '--', '-x'), run('search', '--', '-x', '--', '-x')]).toEqual([found, found]);
  expect(agt(sandbox, 'search', '--', '-x', 'README.md').exitCode).toBe(1);
  expect(run('cat', '--', '@:-x')).toBe('word -x');
  for (const place of [['-x:1'], ['-x', '1']]) expect(run('why', '--', ...place)).toContain('+word -x');
  expect(run('why', 'HEAD', '--', '-x:1')).toContain('+word -x');
  write(join(sandbox, '-x'), 'other\n');
  run('autocommit');
  for (const command of [
    'session diff @{1}',
    'session log --stat',
    'restore @{1} -n',
    'undo --step @{0} -n',
    'review -n',
  ])
    expect(run(...command.split(' '), '--', '-x')).toContain('-x');
  expect(run('session', 'show', '--', 's1')).toContain('agt/s1');
  const refused = agt(sandbox, 'accept', '--', 'README.md').stderr;
  expect(refused).toMatch(
    /^error: unexpected argument "README.md" after --\nhint: use: agt accept SESSION --include=PATH\n/,
  );
});

test('shim install makes the directories that are missing', () => {
  const dir = join(makeTempDir('shim'), 'a/b/c');
  expect(agt('/', 'shim', 'install', '--dir', dir).exitCode).toBe(0);
  expect(existsSync(join(dir, 'git'))).toBe(true);
});

test('-C leads out of a directory that is gone, as in git', () => {
  const { repository } = makeSession();
  const script = `mkdir gone && cd gone && rmdir ../gone && exec '${AGT}' -C .. path s1`;
  const { stdout } = runProgram('sh', ['-c', script], { cwd: repository });
  expect(stdout.trim()).toBe(agtOk(repository, 'path', 's1'));
});
