/** `.agtignore` in the session folder: what is left out, what is noted of it, and where it has no say. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readIgnoreFile } from '../../src/snapshot/ignore-file.ts';
import {
  autocommit,
  changedPaths,
  makeSession,
  manifestOf,
  snapshotTree,
  tryAutocommit,
} from '../harness/session.ts';
import { agt, agtOk, git, makeTempDir, write } from '../harness/world.ts';

const REASON = 'matches .agtignore';

test('without .agtignore nothing is ignored, whatever .gitignore says', () => {
  const session = makeSession({ '.gitignore': 'cache/\n' });
  write(join(session.sandbox, 'cache/x'), 'x');
  autocommit(session);
  expect(snapshotTree(session, 'agtsessions/s1').has('sandbox/cache/x')).toBe(true);
  expect(manifestOf(session)).not.toHaveProperty('agtignore');
});

test('gitignore syntax from the session folder: directories once, negation, case, anchors', () => {
  const session = makeSession({ 'kept/.agtignore': '*\n', '.agtignore': '*\n' });
  for (const path of [
    'sandbox/node_modules/a/b',
    'sandbox/x.o',
    'sandbox/keep.o',
    'sandbox/X.O',
    'xdg/cache/y',
  ])
    write(join(session.folder, path), 'x');
  write(
    join(session.folder, '.agtignore'),
    '# caches\nnode_modules/\n*.o\n!keep.o\n/xdg/cache\n/node_modules2\n',
  );
  write(join(session.sandbox, 'node_modules2'), 'x');
  const report = autocommit(session);
  expect(report).toMatchObject({
    skipped: [],
    ignored: ['sandbox/node_modules', 'sandbox/x.o', 'xdg/cache'],
  });
  expect([...snapshotTree(session, 'agtsessions/s1').keys()].sort()).toEqual([
    'sandbox/.agtignore',
    'sandbox/X.O',
    'sandbox/keep.o',
    'sandbox/kept/.agtignore',
    'sandbox/node_modules2',
  ]);
  expect(manifestOf(session)).toMatchObject({
    skipped: report.ignored.map((path) => ({ path, reason: REASON })),
    agtignore: ['# caches', 'node_modules/', '*.o', '!keep.o', '/xdg/cache', '/node_modules2', ''],
  });
  expect(tryAutocommit(session)).toMatchObject({ exitCode: 0, stdout: 's1: nothing changed\n', stderr: '' });
});

test('files that it names leave the next snapshot; files that it no longer names come back', () => {
  const session = makeSession({ 'a.txt': 'a\n' });
  write(join(session.sandbox, 'cache/x'), 'x');
  autocommit(session);
  writeFileSync(join(session.folder, '.agtignore'), 'cache\n');
  expect(changedPaths(autocommit(session))).toEqual(['deleted sandbox/cache/x']);
  write(join(session.sandbox, 'cache/x'), 'y');
  expect(autocommit(session).outcome).toBe('unchanged');
  rmSync(join(session.folder, '.agtignore'));
  expect(changedPaths(autocommit(session))).toEqual(['added sandbox/cache/x']);
  expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/cache/x')).toBe('y');
});

test('names are matched as UTF-8; names that are not UTF-8 are captured', () => {
  const session = makeSession();
  write(join(session.sandbox, 'müll/x'), 'x');
  writeFileSync(Buffer.from(`${session.sandbox}/m\xfcll`, 'latin1'), 'x');
  write(join(session.folder, '.agtignore'), 'müll\n');
  expect(autocommit(session).ignored).toEqual(['sandbox/müll']);
  expect(snapshotTree(session, 'agtsessions/s1').has('sandbox/m\xfcll')).toBe(true);
});

test('a fork has the same rules; a session with ignored files alone is removed without asking', () => {
  const session = makeSession();
  write(join(session.sandbox, 'cache/x'), 'x');
  write(join(session.folder, '.agtignore'), 'cache%20\ncache\n');
  const forked = agt(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2');
  expect(forked).toMatchObject({ exitCode: 0, stderr: '' });
  write(join(session.folder, '../s2/sandbox/cache/y'), 'y');
  expect(autocommit({ ...session, id: 's2' }).ignored).toEqual(['sandbox/cache']);
  expect(manifestOf(session, 'agtsessions/s2').agtignore).toEqual(['cache%2520', 'cache', '']);
  agtOk(session.repository, 'session', 'remove', '--id', 's1');
});

test('a session that was removed comes back with it', () => {
  const session = makeSession();
  write(join(session.folder, '.agtignore'), 'cache/\n');
  autocommit(session);
  agtOk(session.repository, 'session', 'remove', '--id', 's1');
  agtOk(session.repository, 'session', 'restore', 's1', '--to', '@{0}');
  expect(readFileSync(join(session.folder, '.agtignore'), 'utf8')).toBe('cache/\n');
});

test('an unusable .agtignore stops the autocommit', () => {
  const session = makeSession();
  const { commit } = autocommit(session);
  write(join(session.sandbox, 'x'), 'x');
  for (const make of [mkdirSync, (path: string) => symlinkSync('/etc/passwd', path)]) {
    const path = join(session.folder, '.agtignore');
    make(path);
    expect(tryAutocommit(session)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('.agtignore is not a regular file'),
    });
    rmSync(path, { recursive: true });
  }
  expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(commit);
});

test('a restore leaves alone files that it names now or named in the snapshot', () => {
  const session = makeSession();
  write(join(session.sandbox, 'cache/x'), '1');
  autocommit(session, '--label', 'without');
  write(join(session.folder, '.agtignore'), 'cache/\n');
  autocommit(session, '--label', 'with');
  write(join(session.sandbox, 'cache/x'), '2');
  write(join(session.sandbox, 'a.txt'), 'a\n');
  const back = agt(session.repository, 'session', 'restore', 's1', '--to', 'without');
  expect(back).toMatchObject({
    exitCode: 0,
    stderr: 'warning: cache/x was not compared, because .agtignore matches it\n',
  });
  expect(readFileSync(join(session.sandbox, 'cache/x'), 'utf8')).toBe('2');
  rmSync(join(session.folder, '.agtignore'));
  expect(agt(session.repository, 'session', 'restore', 's1', '--to', 'with').exitCode).toBe(0);
  expect(readFileSync(join(session.sandbox, 'cache/x'), 'utf8')).toBe('2');
  expect(agt(session.repository, 'session', 'restore', 's1', '--to', 'without').exitCode).toBe(0);
  expect(readFileSync(join(session.sandbox, 'cache/x'), 'utf8')).toBe('1');
});

test('repeated questions get the same answers', () => {
  const folder = makeTempDir();
  write(join(folder, '.agtignore'), '*.log\n!keep.log\ncache/\n');
  const file = readIgnoreFile(folder);
  for (let i = 0; i < 250_000; i++) {
    if (!file?.ignores(`sandbox/${i}.log`, false) || file.ignores(`sandbox/${i}/keep.log`, false))
      throw new Error(`another answer at ${i}`);
  }
  expect([file?.ignores('xdg/cache', true), file?.ignores('xdg/cache', false)]).toEqual([true, false]);
});
