/** A snapshot is not lost if git could move only one of the two refs that lead to it. */
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession, tryAutocommit } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

/** A session in which git could move the shadow branch to a new snapshot, but not agt's own tip. */
function halfMoved(): TestSession & { newest: string } {
  const session = makeSession({ a: 'one\n' });
  write(join(session.sandbox, 'a'), 'two\n');
  autocommit(session);
  write(join(session.sandbox, 'a'), 'three\n');
  // agt cannot take this for the lock of a killed git.
  const lock = join(session.repository, '.git/refs/agt/tip/s1.lock');
  mkdirSync(lock);
  expect(tryAutocommit(session).exitCode).not.toBe(0);
  rmdirSync(lock);
  const newest = git(session.repository, 'rev-parse', 'agtsessions/s1');
  expect(newest).not.toBe(git(session.repository, 'rev-parse', 'refs/agt/tip/s1'));
  return { ...session, newest };
}

test('the next autocommit takes the snapshot of the branch as the last one', () => {
  const session = halfMoved();
  expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', commit: session.newest, warnings: [] });
  expect(git(session.repository, 'rev-parse', 'refs/agt/tip/s1')).toBe(session.newest);
});

test('it can be restored after the next one', () => {
  const session = halfMoved();
  write(join(session.sandbox, 'a'), 'four\n');
  autocommit(session);
  agtOk(session.repository, 'session', 'restore', 's1', '--to', session.newest);
  expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('three\n');
});

test('the command that doctor names loses nothing', () => {
  const { repository, newest } = halfMoved();
  const { findings } = JSON.parse(agt(repository, 'doctor', '--json').stdout);
  expect(findings).toMatchObject([{ about: 's1', mend: 'agt autocommit s1' }]);
  agtOk(repository, 'autocommit', '--session-id', 's1');
  expect(git(repository, 'rev-parse', 'refs/agt/tip/s1')).toBe(newest);
});

test('commits that somebody else put on the branch become parents, not snapshots', () => {
  const session = makeSession({ a: 'one\n' });
  autocommit(session);
  const tree = git(session.repository, 'rev-parse', 'agtsessions/s1^{tree}');
  const foreign = git(session.repository, 'commit-tree', '-p', 'agtsessions/s1', '-m', 'theirs', tree);
  git(session.repository, 'update-ref', 'refs/heads/agtsessions/s1', foreign);
  const report = autocommit(session);
  expect(report.commit).not.toBe(foreign);
  expect(report.warnings).toHaveLength(1);
  expect(git(session.repository, 'log', '-1', '--format=%P', report.commit ?? '').split(' ')).toContain(
    foreign,
  );
});
