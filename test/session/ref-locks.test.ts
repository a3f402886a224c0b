/** Locks that a killed git left on the refs of a session stop no command. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { ofToday } from '../harness/today.ts';
import { AGT, agt, agtOk, GIT_MODE, git, REAL_GIT, run, write } from '../harness/world.ts';

function lock({ repository }: TestSession, ref: string): string {
  const path = join(repository, '.git', `${ref}.lock`);
  write(path, '');
  return path;
}

const REFS = ['refs/agt/tip/s1', 'refs/heads/agtsessions/s1', 'refs/heads/agt/s1'];

describe.each(ofToday(REFS))('a lock on %s', (ref) => {
  test.each([
    ['autocommit', ['autocommit', '--session-id', 's1']],
    ['session restore', ['session', 'restore', 's1', '--to', '@']],
    ['session fork', ['session', 'fork', '--from', 's1', '--id', 's2']],
    ['session remove', ['session', 'remove', 's1']],
    ['session remove --delete-branch', ['session', 'remove', 's1', '--delete-branch', '--force']],
  ])('does not stop %s', (_, args) => {
    const session = makeSession();
    write(join(session.sandbox, 'a.txt'), 'one\n');
    agtOk(session.repository, 'autocommit', '--session-id', 's1');
    write(join(session.sandbox, 'a.txt'), 'two\n');
    const path = lock(session, ref);
    agtOk(session.repository, ...args);
    expect(existsSync(path)).toBe(false);
    git(session.repository, 'fsck', '--strict');
  });
});

describe('locks on all refs of a session', () => {
  const lockedSession = () => {
    const session = makeSession();
    for (const text of ['one\n', 'two\n']) {
      write(join(session.sandbox, 'a.txt'), text);
      agtOk(session.repository, 'autocommit', '--session-id', 's1');
    }
    write(join(session.sandbox, 'a.txt'), 'three\n');
    return { ...session, lockAll: () => REFS.map((ref) => lock(session, ref)) };
  };
  const stored = ({ repository }: TestSession) => git(repository, 'show', 'agtsessions/s1:sandbox/a.txt');

  test('stop neither undo and redo, nor the restore of a removed session', () => {
    const session = lockedSession();
    for (const args of [['undo'], ['redo'], ['remove'], ['restore', '--to', '@{1}']]) {
      session.lockAll();
      agtOk(session.repository, 'session', args[0] as string, 's1', ...args.slice(1));
    }
    git(session.repository, 'fsck', '--strict');
  });

  test('stop neither the guard nor agt watch', async () => {
    const session = lockedSession();
    session.lockAll();
    expect(run(GIT_MODE, ['reset', '-q', '--hard'], { cwd: session.sandbox })).toMatchObject({ stderr: '' });
    expect(stored(session)).toBe('three');
    session.lockAll();
    const watch = spawn(AGT, ['watch', 's1'], { cwd: session.repository, stdio: 'ignore' });
    const ended = new Promise((done) => watch.once('close', done));
    write(join(session.sandbox, 'a.txt'), 'four\n');
    while (stored(session) !== 'four' && watch.exitCode === null)
      await new Promise((done) => setTimeout(done, 50));
    watch.kill();
    await ended;
    expect(stored(session)).toBe('four');
  });
});

test('a lock that a living git may hold stays', async () => {
  const session = makeSession();
  const path = lock(session, 'refs/agt/tip/s1');
  const writer = spawn(REAL_GIT, ['update-ref', '--stdin'], { cwd: session.repository });
  await new Promise((done) => writer.once('spawn', done));
  write(join(session.sandbox, 'a.txt'), 'one\n');
  const outcome = agt(session.repository, 'autocommit', '--session-id', 's1');
  expect(outcome.exitCode).not.toBe(0);
  expect(existsSync(path)).toBe(true);
  writer.stdin.end();
  await new Promise((done) => writer.once('close', done));
  agtOk(session.repository, 'autocommit', '--session-id', 's1');
});
