import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, type Outcome, write } from '../harness/world.ts';

function cat(session: TestSession, file: string): Outcome {
  return agt(session.repository, 'session', 'cat', session.id, file);
}

/** Two snapshots: src/a.c contains `a` and then `b`; the labels are `one` and `at 9:30`. */
function twoStates(): TestSession {
  const session = makeSession({ 'src/a.c': 'start\n', 'config/x': 'of the project\n' });
  write(join(session.sandbox, 'src/a.c'), 'a\n');
  write(join(session.sandbox, 'early'), 'early\n');
  autocommit(session, '--label', 'one');
  write(join(session.sandbox, 'src/a.c'), 'b\n');
  write(join(session.sandbox, 'a:b'), 'colon\n');
  write(join(session.folder, 'xdg/log'), 'logged\n');
  write(join(session.folder, 'config/x'), 'of the session\n');
  autocommit(session, '--label', 'at 9:30');
  return session;
}

describe('agt session cat', () => {
  test('prints a file of a snapshot, for every form of snapshot and path', () => {
    const session = twoStates();
    const files: [string, string][] = [
      ['one:src/a.c', 'a\n'],
      ['@{1}:./src//a.c', 'a\n'],
      ['@:src/a.c', 'b\n'],
      ['at 9:30:src/a.c', 'b\n'],
      ['at 9:30:a:b', 'colon\n'],
      ['agtsessions/s1^:src/a.c', 'a\n'],
      ['@:xdg/log', 'logged\n'],
      ['@:../xdg/log', 'logged\n'],
      ['@:config/x', 'of the project\n'],
      ['@:../config/x', 'of the session\n'],
      [`@:${join(session.folder, 'config/x')}`, 'of the session\n'],
    ];
    for (const [file, content] of files) {
      expect([file, cat(session, file)]).toEqual([file, { exitCode: 0, stdout: content, stderr: '' }]);
    }
    expect(agt(join(session.sandbox, 'src'), 'session', 'cat', 'one:a.c').stdout).toBe('a\n');
    agtOk(session.repository, 'session', 'remove', '--id', 's1');
    expect(cat(session, 'one:src/a.c').stdout).toBe('a\n');
  });

  test('prints every byte of a file, and the target of a symbolic link', () => {
    const session = makeSession();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    write(join(session.sandbox, 'bytes'), bytes);
    write(join(session.sandbox, 'text'), 'one\r\ntwo');
    write(join(session.sandbox, '.gitattributes'), '* text=auto eol=crlf\n');
    write(join(session.sandbox, '.GIT'), 'encoded\n');
    write(join(session.sandbox, 'é'), 'é\n');
    symlinkSync('nowhere/at all', join(session.sandbox, 'link'));
    autocommit(session);
    expect(cat(session, '@:bytes').stdout).toBe(bytes.toString('latin1'));
    expect(cat(session, '@:text').stdout).toBe('one\r\ntwo');
    expect(cat(session, '@:link').stdout).toBe('nowhere/at all');
    expect(cat(session, '@:.GIT').stdout).toBe('encoded\n');
    expect(cat(session, '@:é').exitCode).toBe(0);
  });

  test('suggests other paths and snapshots if the file is not there', () => {
    const session = twoStates();
    expect(cat(session, '@:a.c')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: no file "a.c" in "@"\nhint: files of that name in this snapshot: src/a.c\n',
    });
    const below = join(session.sandbox, 'src');
    expect(agt(below, 'session', 'cat', '@:src/a.c').stderr).toBe(
      'error: no file "src/src/a.c" in "@"\nhint: paths count from the current directory: @:a.c\n',
    );
    expect(agt(below, 'session', 'cat', '@:early/log').stderr).toContain('in this snapshot: ../../xdg/log\n');
    expect(cat(session, 'one:xdg/log').stderr).toBe(
      'error: no file "xdg/log" in "one"\nhint: the nearest snapshot that has it: @{0} (at 9:30)\n',
    );
    expect(cat(session, '@:src').stderr).toBe('error: "src" is a directory in "@"\nhint: it contains: a.c\n');
    for (const path of ['src/', 'src/.', 'src/../src/'])
      expect(cat(session, `@:${path}`).stdout).toBe('a.c\n');
    expect(agt(below, 'cat', '@:..').stdout).toBe(cat(session, '@:').stdout);
    expect(cat(session, '@:').stdout).toMatch(/^src\/$/m);
    expect(cat(session, '@:_/manifest.json').stderr).toBe('error: no file "_/manifest.json" in "@"\n');
  });

  test('snapshot and path may be two words', () => {
    const session = twoStates();
    const [one, two] = ['@{1}:src/a.c', '@:src/a.c'].map((word) => cat(session, word).stdout);
    expect(agt(session.repository, 'cat', 's1', '@{1}', 'src/a.c').stdout).toBe(one);
    expect(agt(session.sandbox, 'cat', '@', 'src/a.c').stdout).toBe(two);
  });

  test.each([
    [
      'src/a.c',
      2,
      /^error: no snapshot given in "src\/a.c"\nhint: for the newest: agt session cat s1 @:src\/a.c\n/,
    ],
    ['nope:src/a.c', 1, /^error: no snapshot "nope" of "s1"/],
    ['@:../../etc/passwd', 1, /^error: "..\/..\/etc\/passwd" is not in session "s1"\n/],
  ])('refuses %s', (file, exitCode, message) => {
    const outcome = cat(twoStates(), file);
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.stdout).toBe('');
    expect(outcome.stderr).toMatch(message);
  });
});

test.each([
  [['cat', 's1'], 'no file of session "s1" given\nhint: for its newest version: agt session cat s1 @:PATH\n'],
  [['cat', 's1', '@{1}'], 'no path given after "@{1}"\nhint: add it: agt session cat s1 \'@{1}\' PATH\n'],
  [['cat', 's1', '@{0}', 'a', 'b'], 'unknown argument "b"\n'],
  [
    ['fork', 's1', 'two'],
    'unknown argument "two"\nhint: the id of the new session: --id ID, its snapshot: --at SNAPSHOT\n',
  ],
])('agt %s names the thing, the reason and the next step', (words, message) => {
  const { exitCode, stdout, stderr } = agt(twoStates().repository, ...words);
  expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining(`error: ${message}`)]);
});

test.each([
  ['cat', 'fix-lgoin', '@:a'],
  ['fork', 'fix-logn'],
  ['session', 'show', 'fixlogin'],
  ['accept', 'fix-'],
  ['run', 'fix-lugin', '--', 'true'],
  ['autocommit', 'fix-logins'],
])('agt %s %s: a session id that is nearly right is named', (...words) => {
  const { exitCode, stderr } = agt(makeSession({}, 'fix-login').repository, ...words);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('\nhint: did you mean: fix-login?\n')]);
});
