/** The locks that a killed git leaves on refs and settings stop no command, and those of a living git stay. */
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, type TestSession } from '../../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, write } from '../../harness/world.ts';

/** The agent has committed, so that there is something to accept. */
function makeWork(): TestSession {
  const session = makeSession();
  write(join(session.sandbox, 'work'), 'work\n');
  git(session.sandbox, 'add', 'work');
  git(session.sandbox, 'commit', '-q', '-m', 'work');
  agtOk(session.repository, 'autocommit', 's1');
  return session;
}

function lock({ repository }: TestSession, name: string): string {
  const path = join(repository, '.git', name);
  write(path, '');
  return path;
}

const ACCEPT = ['session', 'accept', 's1'];
const DELETE = ['session', 'remove', 's1', '--delete-branch', '--force'];

describe('a lock that a killed git has left', () => {
  test.each([
    ['packed-refs.lock', ACCEPT],
    ['packed-refs.lock', DELETE],
    ['HEAD.lock', ACCEPT],
    ['refs/heads/main.lock', ACCEPT],
  ])('%s does not stop agt %j', (name, command) => {
    const session = makeWork();
    const path = lock(session, name);
    agtOk(session.repository, ...command);
    expect(existsSync(path)).toBe(false);
    if (command === ACCEPT) expect(git(session.repository, 'log', '-1', '--format=%s')).toBe('work');
    git(session.repository, 'fsck', '--strict');
  });

  test.each(['index.lock', 'HEAD.lock', 'ORIG_HEAD.lock'])('%s of a sandbox does not stop a sync', (name) => {
    const session = makeWork();
    write(join(session.repository, 'by-user'), 'by the user\n');
    git(session.repository, 'add', '-A');
    git(session.repository, 'commit', '-q', '-m', 'by the user');
    const [registration = ''] = globSync('worktrees/*', { cwd: join(session.repository, '.git') });
    const path = lock(session, `${registration}/${name}`);
    agtOk(session.repository, 'session', 'sync', 's1');
    expect(existsSync(path)).toBe(false);
    expect(existsSync(join(session.sandbox, 'by-user'))).toBe(true);
  });

  test('several of them do not stop it either', () => {
    const session = makeWork();
    const paths = ['refs/heads/main.lock', 'HEAD.lock', 'packed-refs.lock'].map((name) =>
      lock(session, name),
    );
    agtOk(session.repository, ...ACCEPT);
    expect(paths.filter((path) => existsSync(path))).toEqual([]);
  });

  test('on the settings does not stop a new session', () => {
    const session = makeWork();
    git(session.repository, 'config', '--unset-all', 'uploadpack.hideRefs');
    const path = lock(session, 'config.lock');
    write(join(session.repository, 'sub/file'), '');
    agtOk(join(session.repository, 'sub'), 'session', 'new', 's2');
    expect(existsSync(path)).toBe(false);
    expect(git(session.repository, 'config', '--get-all', 'uploadpack.hideRefs')).toContain('refs/agt');
  });

  test('on HEAD of a sandbox does not stop a restore', () => {
    const session = makeWork();
    git(session.sandbox, 'checkout', '-q', '--detach');
    agtOk(session.repository, 'autocommit', 's1');
    const [registration = ''] = globSync('worktrees/*', { cwd: join(session.repository, '.git') });
    const path = lock(session, `${registration}/HEAD.lock`);
    agtOk(session.repository, 'session', 'restore', 's1', '--to', '@{1}');
    expect(existsSync(path)).toBe(false);
    expect(git(session.sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s1');
  });

  test('on the index of the user stays: a person may be writing a message', () => {
    const session = makeWork();
    const path = lock(session, 'index.lock');
    const refused = agt(session.repository, ...ACCEPT);
    expect(refused.exitCode).toBe(75);
    expect(refused.stderr).toContain('index.lock');
    expect(existsSync(path)).toBe(true);
    expect(git(session.repository, 'log', '-1', '--format=%s')).not.toBe('work');
  });
});

test('a lock that a living git may hold stays', async () => {
  const session = makeWork();
  const path = lock(session, 'packed-refs.lock');
  const writer = spawn(REAL_GIT, ['update-ref', '--stdin'], { cwd: session.repository });
  await new Promise((done) => writer.once('spawn', done));
  const refused = agt(session.repository, ...DELETE);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr).toContain('packed-refs.lock');
  expect(existsSync(path)).toBe(true);
  writer.stdin.end();
  await new Promise((done) => writer.once('close', done));
  agtOk(session.repository, ...DELETE);
  expect(existsSync(path)).toBe(false);
});
