/** One grammar for the session of a command, and messages that name the word that is wrong. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession } from '../../harness/session.ts';
import { agt, agtOk, git, type Outcome, write } from '../../harness/world.ts';

const COMMANDS = [
  ['autocommit'],
  ['du'],
  ['session', 'show'],
  ['session', 'path'],
  ['session', 'log'],
  ['session', 'diff'],
  ['session', 'undo', '--dry-run'],
  ['session', 'export', '--dry-run', '--allow-dirty', '--as', 'x', '--remote', 'origin'],
  ['session', 'restore', '--to', '@', '--dry-run'],
  ['session', 'remove', '--dry-run'],
] as const;

/** The output without what changes by itself: times and the free disk space. */
function timeless(outcome: Outcome): Outcome {
  return { ...outcome, stdout: outcome.stdout.replace(/ +\d+ seconds? ago|[\d.]+ \w+ free/g, '') };
}

describe('the session of a command', () => {
  test('is its first argument, --session, or an option of the agt of simbo1905', () => {
    const { repository, sandbox } = makeSession();
    git(repository, 'remote', 'add', 'origin', '.');
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
    agtOk(repository, 'session', 'new', 's2');
    for (const id of ['s1', 's2']) agtOk(repository, 'autocommit', id, '--label', 'first');
    write(join(sandbox, 'x'), 'x');
    for (const id of ['s1', 's2']) agtOk(repository, 'autocommit', id, '--label', 'second');
    for (const command of COMMANDS) {
      const plain = timeless(agt(repository, ...command, 's1'));
      expect(plain.stderr).not.toContain('error');
      for (const option of ['--session-id', '--id'])
        expect([option, timeless(agt(repository, ...command, option, 's1'))]).toEqual([option, plain]);
      expect(timeless(agt(repository, ...command, 's1', '--session=s1'))).toEqual(plain);
    }
  });

  test('is refused if two different ones are given, and nothing changes', () => {
    const { repository } = makeSession();
    agtOk(repository, 'session', 'new', 's2');
    const before = git(repository, 'for-each-ref');
    for (const command of COMMANDS) {
      expect(agt(repository, ...command, 's1', '--session-id', 's2')).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: 'error: two sessions are given: "s1" and "s2"\nhint: give one\n',
      });
    }
    expect(agt(repository, 'session', 'fork', 's1', '--from', 's2').exitCode).toBe(2);
    expect(agt(repository, 'session', 'new', 's3', '--id', 's4').exitCode).toBe(2);
    expect(git(repository, 'for-each-ref')).toBe(before);
  });

  test('may be left out with "session", and forks the session of the current directory', () => {
    const { repository, sandbox } = makeSession();
    expect(agtOk(sandbox, 'fork', '--id', 's2')).toContain('session  s2\n');
    expect(agtOk(repository, 'new', 's3')).toContain('session  s3\n');
    expect(agt(repository, 'list', '--json')).toEqual(agt(repository, 'session', 'list', '--json'));
    expect(agtOk(repository, 'help', 'fork')).toBe(agtOk(repository, 'session', 'fork', '--help'));
    agtOk(repository, 'remove', 's3');
    expect(agt(repository, 'remove', 's3')).toMatchObject({ exitCode: 0 });
  });
});

test.each([
  [['session', 'new', '-z'], 'unknown option "-z"', 'agt session new --help'],
  [['session', 'undo', '--n'], 'unknown option "--n"', 'agt session undo --help'],
  [['session', 'show', 'a', 'b'], 'unknown argument "b"', 'agt session show --help'],
  [['clone'], '<url> is missing', 'agt clone --help'],
  [['config', 'set', 'agt.guard'], '<value> is missing', 'agt config set --help'],
  [['session', 'nosuch'], 'unknown command "session nosuch"', 'agt help session'],
])('agt %s names the word and the help of the command', (words, message, help) => {
  expect(agt(makeSession().repository, ...words)).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: `error: ${message}\nhint: see: ${help}\n`,
  });
});

test.each([
  [['session', 'redo', '--path=f'], 'agt restore SNAPSHOT -- PATH'],
  [['snapshot', 'undo'], 'agt undo'],
  [['snapshot', 'redo'], 'agt redo'],
  [['snapshot', 'log'], 'agt snapshot list'],
])('agt %s names the command that does it', (words, command) => {
  const { exitCode, stdout, stderr } = agt(makeSession().sandbox, ...words);
  expect([exitCode, stdout, stderr]).toEqual([
    expect.toBeOneOf([1, 2]),
    '',
    expect.stringContaining(`\nhint: use: ${command}\n`),
  ]);
});

test('export of a session without commits is refused', () => {
  const { repository } = makeSession();
  git(repository, 'remote', 'add', 'origin', '.');
  expect(agt(repository, 'session', 'export', 's1')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: session "s1" has no commits of its own to export\nhint: commit in the sandbox first\n',
  });
});
