/** Locks that a killed git left on the refs of a session stop no command. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, write } from '../harness/world.ts';

function lock({ repository }: TestSession, ref: string): string {
  const path = join(repository, '.git', `${ref}.lock`);
  write(path, '');
  return path;
}

const REFS = ['refs/agt/tip/s1', 'refs/heads/agtsessions/s1', 'refs/heads/agt/s1'];

describe.each(REFS)('a lock on %s', (ref) => {
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

test('a lock that a living git may hold stays', async () => {
  const session = makeSession();
  const path = lock(session, 'refs/agt/tip/s1');
  const writer = spawn(REAL_GIT, ['update-ref', '--stdin'], { cwd: session.repository });
  await new Promise((done) => writer.once('spawn', done));
  write(join(session.sandbox, 'a.txt'), 'one\n');
  const outcome = agt(session.repository, 'autocommit', '--session-id', 's1');
  expect(outcome.exitCode).toBe(1);
  expect(existsSync(path)).toBe(true);
  writer.stdin.end();
  await new Promise((done) => writer.once('close', done));
  agtOk(session.repository, 'autocommit', '--session-id', 's1');
});
