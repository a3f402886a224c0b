import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, snapshotFolder } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

describe('agt session fork', () => {
  test('gives the new session the whole state of the other one, which stays as it is', () => {
    const session = makeSession({ 'a.txt': 'a\n', '.gitignore': '.env\n' });
    write(join(session.sandbox, 'by-agent'), 'x\n');
    git(session.sandbox, 'add', 'by-agent');
    git(session.sandbox, 'commit', '-q', '-m', 'by the agent');
    write(join(session.sandbox, 'a.txt'), 'uncommitted\n');
    write(join(session.sandbox, '.env'), 'TOKEN\n', 0o600);
    write(join(session.folder, 'config/settings'), 'x\n');
    write(join(session.folder, 'xdg/log'), 'x\n');
    symlinkSync('a.txt', join(session.sandbox, 'link'));
    const before = snapshotFolder(session.folder);
    const status = git(session.sandbox, 'status', '--porcelain');

    const fork = JSON.parse(
      agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2', '--json'),
    );
    expect(fork).toMatchObject({
      session_id: 's2',
      from: 's1',
      user_branch: 'refs/heads/main',
      state: 'active',
    });
    expect(snapshotFolder(join(fork.sandbox, '..'))).toEqual(before);
    expect(snapshotFolder(session.folder)).toEqual(before);
    expect(git(fork.sandbox, 'status', '--porcelain')).toBe(status);
    expect(git(fork.sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s2');
    expect(git(fork.sandbox, 'log', '-1', '--format=%s')).toBe('by the agent');
    expect(lstatSync(join(fork.sandbox, '.env')).mode & 0o777).toBe(0o600);

    write(join(fork.sandbox, 'a.txt'), 'other\n');
    expect(readFileSync(join(session.sandbox, 'a.txt'), 'utf8')).toBe('uncommitted\n');
    agtOk(session.repository, 'autocommit', '--session-id', 's2');
    const chain = git(session.repository, 'rev-list', '--first-parent', 'agtsessions/s2').split('\n');
    expect(chain).toContain(git(session.repository, 'rev-parse', 'agtsessions/s1'));
  });

  test('a detached HEAD is detached in the fork', () => {
    const session = makeSession();
    git(session.sandbox, 'checkout', '-q', '--detach');
    const outcome = agt(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stderr).toContain('warning: HEAD is detached at');
    const sandbox = agtOk(session.repository, 'session', 'path', 's2');
    expect(git(sandbox, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('HEAD');
  });

  test('what could not be captured is named', () => {
    const session = makeSession();
    git(session.sandbox, 'init', '-q', 'nested');
    const outcome = agt(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    expect(outcome.stderr).toBe(
      'warning: not in the fork: sandbox/nested/.git: belongs to a nested repository\n',
    );
  });

  test.each([
    ['an unknown session', ['--from', 'nope'], 1, /no session "nope"/],
    ['no session', [], 2, /missing required argument: from/],
    ['an id that is taken', ['--from', 's1', '--id', 's1'], 1, /session "s1" exists already/],
  ])('refuses %s and makes nothing', (_what, args, exitCode, message) => {
    const session = makeSession();
    const outcome = agt(session.repository, 'session', 'fork', ...args);
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.stderr).toMatch(message);
    expect(JSON.parse(agtOk(session.repository, 'session', 'list', '--json'))).toHaveLength(1);
    expect(existsSync(join(session.folder, '../s2'))).toBe(false);
  });
});
