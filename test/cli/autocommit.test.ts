/** The options of agt autocommit. */
import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  autocommit,
  changedPaths,
  makeSession,
  manifestOf,
  snapshotTree,
  tryAutocommit,
} from '../harness/session.ts';
import { AGT, agt, agtOk, git, run, write } from '../harness/world.ts';

describe('options', () => {
  test('--siblings scans only those folders; the others keep their last version, their permissions included', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    write(join(session.folder, 'config/key'), 'one\n', 0o600);
    write(join(session.folder, 'xdg/log'), 'one\n');
    autocommit(session);
    for (const path of ['config/key', 'xdg/log', 'sandbox/a.txt']) write(join(session.folder, path), 'two\n');
    chmodSync(join(session.folder, 'config/key'), 0o640);
    expect(changedPaths(autocommit(session, '--siblings', 'sandbox'))).toEqual(['modified sandbox/a.txt']);
    const tree = snapshotTree(session, 'agtsessions/s1');
    expect(tree.get('config/key')).toBe('100644 one\n');
    expect(manifestOf(session).modes.others).toEqual({ 'config/key': '0600' });
    expect(changedPaths(autocommit(session))).toEqual(['modified config/key', 'modified xdg/log']);
    expect(tryAutocommit(session, '--siblings', 'nowhere').exitCode).toBe(2);
  });

  test('--timestamp reads files again that were modified since', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    expect(autocommit(session, '--timestamp', '0').outcome).toBe('unchanged');
    expect(tryAutocommit(session, '--timestamp', 'yesterday').stderr).toContain(
      'invalid Unix time "yesterday"',
    );
  });

  test('--dry-run writes nothing at all', () => {
    const session = makeSession();
    autocommit(session);
    write(join(session.sandbox, 'x'), 'x'.repeat(100));
    const objects = () => git(session.repository, 'count-objects', '-v');
    const before = [objects(), git(session.repository, 'for-each-ref')];
    expect(autocommit(session, '--dry-run').outcome).toBe('would-commit');
    expect(tryAutocommit(session, '--dry-run').stdout).toBe('A sandbox/x\ns1: would capture 1 path\n');
    expect([objects(), git(session.repository, 'for-each-ref')]).toEqual(before);
  });

  test('--all captures every active session, says only what happened, and goes on past one that fails', () => {
    const session = makeSession();
    agtOk(session.repository, 'session', 'new', '--id', 's2');
    agtOk(session.repository, 'session', 'new', '--id', 's3');
    expect(agtOk(session.repository, 'autocommit', '--all').split('\n')).toHaveLength(3);
    expect(agtOk(session.repository, 'autocommit', '--all')).toBe('');
    write(join(session.folder, '../s3/sandbox/x'), 'x');
    rmSync(join(session.folder, '../s2'), { recursive: true });
    const outcome = run(AGT, ['autocommit', '--all'], {
      cwd: session.repository,
    });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stdout).toMatch(/^s3: captured 1 path as /);
    expect(outcome.stderr).toContain('error: the sandbox of "s2" is gone');
  });
});

test.each([
  ['small', 10],
  ['large', 6 * 1024 * 1024],
])('a %s log that a process writes all the time is captured as far as it went', async (_, size) => {
  const session = makeSession();
  const log = join(session.sandbox, 'server.log');
  write(log, 'x'.repeat(size));
  const script = 'while :; do echo "one more line" >>"$1"; done';
  const writer = spawn('/bin/sh', ['-c', script, 'sh', log], { stdio: 'ignore' });
  try {
    const outcomes = [1, 2, 3].map(() => agt(session.repository, 'autocommit', 's1'));
    expect(outcomes.map(({ stderr }) => stderr)).toEqual(['', '', '']);
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(git(session.repository, 'rev-list', '--count', 'main..agtsessions/s1')).toBe('3');
  } finally {
    writer.kill();
  }
  const captured = git(session.repository, 'show', 'agtsessions/s1:sandbox/server.log');
  expect(readFileSync(log, 'latin1').startsWith(captured)).toBe(true);
  expect(captured.length).toBeGreaterThan(size);
  expect(agtOk(session.repository, 'autocommit', 's1')).toContain('captured 1 path');
  expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/server.log')).toBe(
    readFileSync(log, 'latin1').trimEnd(),
  );
});
