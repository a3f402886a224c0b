/** agt session restore and undo bring the index back with every object that it names, also after git has deleted those. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, git, REAL_GIT, run, write } from '../harness/world.ts';

const at = ({ sandbox }: TestSession, path: string) => join(sandbox, path);
const stages = ({ sandbox }: TestSession) => git(sandbox, 'ls-files', '--stage');

/** A merge conflict in `a`, in which `b` is staged, and is another file on disk. */
function inConflict(): TestSession {
  const session = makeSession({ a: 'a\n', b: 'b\n' });
  git(session.sandbox, 'switch', '-q', '-c', 'other');
  write(at(session, 'a'), 'theirs\n');
  git(session.sandbox, 'commit', '-q', '-am', 'theirs');
  git(session.sandbox, 'switch', '-q', 'agt/s1');
  write(at(session, 'a'), 'ours\n');
  git(session.sandbox, 'commit', '-q', '-am', 'ours');
  expect(run(REAL_GIT, ['merge', 'other'], { cwd: session.sandbox }).exitCode).toBe(1);
  write(at(session, 'b'), 'staged and nowhere else\n');
  git(session.sandbox, 'add', 'b');
  write(at(session, 'b'), 'on disk\n');
  return session;
}

/** Deletes every object that nothing refers to. */
function collectGarbage({ repository }: TestSession): void {
  git(repository, 'reflog', 'expire', '--expire=now', '--all');
  git(repository, 'gc', '-q', '--prune=now');
}

function undoIsVerified(session: TestSession): void {
  const undo = agt(session.repository, 'session', 'undo', 's1');
  expect(undo).toMatchObject({ exitCode: 0, stderr: '' });
  expect(undo.stdout).toContain('verified');
  expect(git(session.repository, 'fsck', '--strict')).toBe('');
}

describe('after a hard reset and git gc, undo brings back', () => {
  test('what was staged while there was a conflict', () => {
    const session = inConflict();
    const before = stages(session);
    autocommit(session);
    git(session.sandbox, 'reset', '-q', '--hard');
    collectGarbage(session);
    undoIsVerified(session);
    expect(stages(session)).toBe(before);
    expect(git(session.sandbox, 'show', ':b')).toBe('staged and nowhere else');
    expect(git(session.sandbox, 'show', ':3:a')).toBe('theirs');
  });

  test('stages that no commit has', () => {
    const session = makeSession({ a: 'a\n' });
    const blob = (text: string) =>
      run(REAL_GIT, ['hash-object', '-w', '--stdin'], { cwd: session.sandbox, input: text }).stdout.trim();
    const lines = [1, 2, 3].map((stage) => `100644 ${blob(`stage ${stage}\n`)} ${stage}\td/x\n`);
    run(REAL_GIT, ['update-index', '--index-info'], { cwd: session.sandbox, input: lines.join('') });
    autocommit(session);
    git(session.sandbox, 'reset', '-q', '--hard');
    collectGarbage(session);
    undoIsVerified(session);
    expect([1, 2, 3].map((stage) => git(session.sandbox, 'show', `:${stage}:d/x`))).toEqual([
      'stage 1',
      'stage 2',
      'stage 3',
    ]);
  });

  test('an intent to add', () => {
    const session = makeSession({ a: 'a\n' });
    write(at(session, 'new'), 'new\n');
    git(session.sandbox, 'add', '--intent-to-add', 'new');
    autocommit(session);
    git(session.sandbox, 'reset', '-q');
    rmSync(at(session, 'new'));
    collectGarbage(session);
    undoIsVerified(session);
    expect(git(session.sandbox, 'status', '--porcelain')).toBe(' A new');
  });

  test('a conflict that was resolved, so that git can make it again', () => {
    const session = makeSession({ a: 'a\n' });
    const blob = (text: string) =>
      run(REAL_GIT, ['hash-object', '-w', '--stdin'], { cwd: session.sandbox, input: text }).stdout.trim();
    const lines = [1, 2, 3].map((stage) => `100644 ${blob(`stage ${stage}\n`)} ${stage}\ta\n`);
    run(REAL_GIT, ['rm', '-q', '--cached', 'a'], { cwd: session.sandbox });
    run(REAL_GIT, ['update-index', '--index-info'], { cwd: session.sandbox, input: lines.join('') });
    write(at(session, 'a'), 'resolved\n');
    git(session.sandbox, 'add', 'a');
    autocommit(session);
    git(session.sandbox, 'reset', '-q', '--hard');
    collectGarbage(session);
    undoIsVerified(session);
    git(session.sandbox, 'checkout', '-q', '--merge', '--', 'a');
    expect(git(session.sandbox, 'show', ':3:a')).toBe('stage 3');
  });

  test('the rest of an index that names a missing object', () => {
    const session = makeSession({ a: 'a\n' });
    write(at(session, 'b'), 'staged\n');
    git(session.sandbox, 'add', 'b');
    write(at(session, 'b'), 'on disk\n');
    git(
      session.sandbox,
      'update-index',
      '--add',
      '--info-only',
      '--cacheinfo',
      `100644,${'5'.repeat(40)},gone`,
    );
    autocommit(session);
    expect(git(session.repository, 'show', 'agtsessions/s1:_/staged/b')).toBe('staged');
  });
});
