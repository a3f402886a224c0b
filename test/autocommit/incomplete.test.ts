/** Files that cannot be captured: agt names them, exits with 1, and keeps their last version and the last timestamp. */

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { failureReason } from '../../src/errors.ts';
import { underAny } from '../../src/snapshot/folders.ts';
import { agtWithPermissions, permissionsProblem } from '../harness/privileges.ts';
import {
  type AutocommitReport,
  makeSession,
  manifestOf,
  snapshotTree,
  type TestSession,
} from '../harness/session.ts';
import { agt, git, write } from '../harness/world.ts';

let session: TestSession;
const at = (path: string) => join(session.folder, path);
const timestamp = () => join(session.repository, '.git/agt/timestamps/s1');
const tree = () => snapshotTree(session, 'agtsessions/s1');

function attempt(...options: string[]): AutocommitReport & { exitCode: number | null } {
  const outcome = agtWithPermissions(
    session.repository,
    'autocommit',
    '--session-id',
    's1',
    '--json',
    ...options,
  );
  return { ...(JSON.parse(outcome.stdout) as AutocommitReport), exitCode: outcome.exitCode };
}

describe('files and directories without permission', () => {
  beforeEach(({ skip }) => {
    const problem = permissionsProblem();
    skip(problem !== undefined, problem);
    session = makeSession({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n' });
    write(at('config/key'), 'key\n', 0o600);
    mkdirSync(at('sandbox/dir/empty'));
    chmodSync(at('sandbox/dir/empty'), 0o700);
    expect(attempt().exitCode).toBe(0);
    writeFileSync(timestamp(), '1000\n');
  });

  test('agt keeps the last version of an unreadable file, names it, and captures the rest', () => {
    write(at('config/key'), 'new\n');
    chmodSync(at('config/key'), 0o000);
    write(at('xdg/secret'), 'x', 0o000);
    write(at('sandbox/a.txt'), 'aa\n');
    const report = attempt();
    expect(report).toMatchObject({ exitCode: 1, outcome: 'committed', skipped: [] });
    const reason = 'cannot be read: permission denied (EACCES)';
    expect(report.failed).toEqual([
      { path: 'config/key', reason },
      { path: 'xdg/secret', reason },
    ]);
    expect(report.changes).toEqual([{ path: 'sandbox/a.txt', status: 'modified' }]);
    expect(tree()).toEqual(
      new Map([
        ['config/key', '100644 key\n'],
        ['sandbox/a.txt', '100644 aa\n'],
        ['sandbox/dir/b.txt', '100644 b\n'],
      ]),
    );
    expect(manifestOf(session).skipped).toEqual(report.failed);
    expect(manifestOf(session).modes.others).toMatchObject({ 'config/key': '0600' });
    expect(readFileSync(timestamp(), 'utf8')).toBe('1000\n');
    // Again, with and without the stat cache.
    expect(attempt()).toMatchObject({ exitCode: 1, outcome: 'unchanged', failed: report.failed });
    rmSync(join(session.repository, '.git/agt/scan/s1'));
    expect(attempt()).toMatchObject({ exitCode: 1, outcome: 'unchanged', failed: report.failed });
    for (const path of ['config/key', 'xdg/secret']) chmodSync(at(path), 0o600);
    expect(attempt()).toMatchObject({ exitCode: 0, failed: [] });
    expect(tree().get('config/key')).toBe('100644 new\n');
    expect(Number(readFileSync(timestamp(), 'utf8'))).toBeGreaterThan(1000);
  });

  test('files in an unreadable directory do not count as deleted, until the directory is readable and they are gone', () => {
    chmodSync(at('sandbox/dir'), 0o000);
    const report = attempt();
    expect(report).toMatchObject({
      exitCode: 1,
      changes: [],
      failed: [{ path: 'sandbox/dir', reason: 'cannot be listed: permission denied (EACCES)' }],
    });
    expect(tree().get('sandbox/dir/b.txt')).toBe('100644 b\n');
    expect(manifestOf(session)).toMatchObject({
      empty_directories: expect.arrayContaining(['sandbox/dir/empty']),
      modes: { others: { 'sandbox/dir/empty': '0700' } },
    });
    chmodSync(at('sandbox/dir'), 0o444); // may be listed, and nothing in it looked at
    expect(attempt().failed.map(({ path }) => path)).toEqual(['sandbox/dir/b.txt', 'sandbox/dir/empty']);
    expect(tree().has('sandbox/dir/b.txt')).toBe(true);
    rmSync(at('sandbox/dir'), { recursive: true });
    expect(attempt()).toMatchObject({ exitCode: 0, failed: [] });
    expect(tree().has('sandbox/dir/b.txt')).toBe(false);
  });

  test('an unreadable file does not stop --siblings elsewhere, and is not forgotten by it', () => {
    chmodSync(at('config/key'), 0o000);
    expect(attempt('--siblings', 'sandbox').exitCode).toBe(0);
    expect(attempt('--siblings', 'config').exitCode).toBe(1);
    expect(attempt('--siblings', 'sandbox').exitCode).toBe(0);
    expect(manifestOf(session).skipped.map(({ path }) => path)).toEqual(['config/key']);
    expect(tree().get('config/key')).toBe('100644 key\n');
  });

  test('status names files that could not be captured and the last complete autocommit; --all exits with 1', () => {
    write(at('xdg/secret'), 'x', 0o000);
    const all = agtWithPermissions(session.repository, 'autocommit', '--all');
    expect(all.exitCode).toBe(1);
    expect(all.stderr).toBe(
      'error: s1: xdg/secret cannot be read: permission denied (EACCES)\nerror: s1: not everything could be captured\n',
    );
    const status = agtWithPermissions(session.repository, 'status');
    expect(status.stdout).toMatch(/^s1 .* 5\dy ago /m);
    expect(status.stderr).toBe('error: s1: xdg/secret cannot be read: permission denied (EACCES)\n');
    const json = JSON.parse(agt(session.repository, 'status', '--json').stdout);
    expect(json.sessions[0].last_complete_at).toBe('1970-01-01T00:16:40.000Z');
  });

  test('a session is not removed while a file in it could not be captured', () => {
    write(at('xdg/secret'), 'x', 0o000);
    const outcome = agtWithPermissions(session.repository, 'session', 'remove', '--id', 's1');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('xdg/secret: cannot be read');
    expect(readFileSync(at('xdg/secret'), 'utf8')).toBe('x');
  });
});

test('a file with fewer bytes than its size says is not captured as another file', ({ skip }) => {
  session = makeSession();
  write(at('sandbox/odd'), '');
  // sysfs reports a size of 4096 for files of a few bytes.
  const bind = spawnSync('mount', [
    '--bind',
    '/sys/kernel/mm/transparent_hugepage/enabled',
    at('sandbox/odd'),
  ]);
  skip(bind.status !== 0, 'mount --bind is not allowed here');
  try {
    expect(attempt()).toMatchObject({
      exitCode: 1,
      failed: [{ path: 'sandbox/odd', reason: 'changes all the time' }],
    });
    expect(tree().has('sandbox/odd')).toBe(false);
  } finally {
    spawnSync('umount', ['--lazy', at('sandbox/odd')]);
  }
  expect(git(session.repository, 'fsck', '--strict')).toBe('');
});

test('reasons: of a path, or of agt itself', () => {
  const error = (code: string, errno: number) => Object.assign(new Error(code), { code, errno });
  expect(failureReason('read', error('EIO', -5))).toBe('cannot be read: i/o error (EIO)');
  expect(failureReason('listed', error('ESTALE', -116))).toContain('(ESTALE)');
  for (const own of [
    error('EMFILE', -24),
    error('ENFILE', -23),
    error('ENOMEM', -12),
    new TypeError('a bug'),
  ])
    expect(() => failureReason('read', own)).toThrow(own);
});

test('paths under others', () => {
  const under = underAny(['a/b', 'c']);
  expect(['a/b', 'a/b/x/y', 'c', 'c/d'].map(under)).toEqual([true, true, true, true]);
  expect(['a', 'a/bc', 'a/c', 'cd', 'x/a/b'].map(under)).toEqual([false, false, false, false, false]);
  expect(underAny([])('a')).toBe(false);
});
