/** git gives the name of a pruned worktree to a new one. Two sandboxes then name one registration. */
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, type TestSession, tryAutocommit } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

const indexOf = (sandbox: string) => git(sandbox, 'ls-files', '-s');

/** s1 is away while git prunes its worktree, and back when s2 has its registration. */
function makeShared(): TestSession & { other: string } {
  const session = makeSession();
  write(join(session.sandbox, 'mine'), 'mine\n');
  expect(tryAutocommit(session).exitCode).toBe(0);
  const away = `${session.folder}-away`;
  renameSync(session.folder, away);
  git(session.repository, 'worktree', 'prune');
  agtOk(session.repository, 'session', 'new', 's2');
  const other = join(session.folder, '../s2/sandbox');
  write(join(other, 'staged'), 'staged\n');
  git(other, 'add', 'staged');
  renameSync(away, session.folder);
  expect(readFileSync(join(other, '.git'), 'utf8')).toBe(readFileSync(join(session.sandbox, '.git'), 'utf8'));
  return { ...session, other };
}

describe('a sandbox with the .git file of another worktree', () => {
  test('is not captured, and not removed', () => {
    const session = makeShared();
    const before = indexOf(session.other);
    const autocommit = agt(session.repository, 'autocommit', 's1');
    expect(autocommit.exitCode).toBe(1);
    expect(autocommit.stderr).toContain(
      `the sandbox of "s1" has another worktree's .git file: ${session.sandbox}`,
    );
    expect(agt(session.repository, 'session', 'remove', 's1').exitCode).toBe(1);
    expect(indexOf(session.other)).toBe(before);
  });

  test('gets a registration of its own by the command that doctor names', () => {
    const session = makeShared();
    const before = indexOf(session.other);
    write(join(session.sandbox, 'mine'), 'newer\n');
    const { findings } = JSON.parse(agt(session.repository, 'doctor', '--json').stdout);
    expect(findings[0]).toMatchObject({ about: 's1', mend: 'agt restore s1 @' });
    agt(session.repository, 'session', 'restore', 's1', '--to', '@');
    expect(git(session.sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s1');
    expect(git(session.other, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s2');
    expect(indexOf(session.other)).toBe(before);
    expect(agt(session.repository, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
    agtOk(session.repository, 'session', 'undo', 's1');
    expect(readFileSync(join(session.sandbox, 'mine'), 'utf8')).toBe('newer\n');
  });
});

test('a session without snapshots whose registration was pruned is connected again, with its work', () => {
  const session = makeSession();
  write(join(session.sandbox, 'mine'), 'mine\n');
  renameSync(session.folder, `${session.folder}-away`);
  git(session.repository, 'worktree', 'prune');
  renameSync(`${session.folder}-away`, session.folder);
  expect(agt(session.repository, 'doctor').exitCode).toBe(1);
  expect(agt(session.sandbox, 'doctor').stdout).toContain('has a .git file that leads nowhere');
  agtOk(session.repository, 'doctor', '--fix');
  expect(git(session.sandbox, 'status', '--porcelain')).toBe('?? mine');
  expect(git(session.sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s1');
  expect(tryAutocommit(session).exitCode).toBe(0);
  expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/mine')).toBe('mine');
});
