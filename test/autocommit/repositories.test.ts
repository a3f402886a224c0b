/** Captures in repositories of every kind. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, sessionIn, snapshotTree, type TestSession } from '../harness/session.ts';
import { agt, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { expectSound } from './expect-sound.ts';

/** Changed, captured, unchanged, sound. */
function expectWorks(session: TestSession): void {
  autocommit(session);
  write(join(session.sandbox, 'untracked'), 'u\n');
  write(join(session.sandbox, 'staged'), 's\n');
  git(session.sandbox, 'add', '--sparse', 'staged');
  expect(autocommit(session)).toMatchObject({ outcome: 'committed', failed: [], warnings: [] });
  expect(autocommit(session).outcome).toBe('unchanged');
  const tree = snapshotTree(session, 'agtsessions/s1');
  expect(tree.get('sandbox/untracked')).toBe('100644 u\n');
  expect(git(session.repository, 'show', 'agtsessions/s1:_/staged/staged')).toBe('s');
}

describe('kinds of repositories', () => {
  test('sha256', () => {
    const repository = join(makeTempDir(), 'project');
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main', '--object-format=sha256');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
    expectWorks(sessionIn(repository));
    expectSound(repository);
  });

  test('reftable', ({ skip }) => {
    const repository = join(makeTempDir(), 'project');
    const made = run(REAL_GIT, ['init', '-q', '-b', 'main', '--ref-format=reftable', repository], {
      cwd: '/',
    });
    skip(made.exitCode !== 0, 'needs git 2.45 or newer');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
    expectWorks(sessionIn(repository));
    expectSound(repository);
  });

  test('alternates: objects of another repository are used, and not copied', () => {
    const origin = makeRepository({ 'a.txt': 'a\n' });
    const repository = join(makeTempDir(), 'project');
    git('/', 'clone', '-q', '--shared', origin, repository);
    const session = sessionIn(repository);
    const before = git(origin, 'count-objects', '-v');
    expectWorks(session);
    expect(git(origin, 'count-objects', '-v')).toBe(before);
    expectSound(repository);
  });

  test('shallow', () => {
    const origin = makeRepository({ 'a.txt': 'a\n' });
    for (let i = 0; i < 3; i++) git(origin, 'commit', '-q', '--allow-empty', '-m', `${i}`);
    const repository = join(makeTempDir(), 'project');
    git('/', 'clone', '-q', '--depth=1', `file://${origin}`, repository);
    expectWorks(sessionIn(repository));
    expect(git(repository, 'rev-parse', '--is-shallow-repository')).toBe('true');
    expectSound(repository);
  });

  test.for(['blob:none', 'tree:0'])(
    'partial (%s): what is missing is neither fetched nor missed',
    (filter) => {
      const origin = makeRepository({
        'a.txt': 'a\n',
        'b.txt': 'b\n',
        'dir/c.txt': 'c\n',
        'far/d.txt': 'd\n',
      });
      git(origin, 'config', 'uploadpack.allowFilter', 'true');
      git(origin, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
      const repository = join(makeTempDir(), 'project');
      git('/', 'clone', '-q', `--filter=${filter}`, '--sparse', `file://${origin}`, repository);
      git(repository, 'sparse-checkout', 'set', 'dir');
      const session = sessionIn(repository);
      git(session.sandbox, 'sparse-checkout', 'set', 'dir');
      const asked = join(makeTempDir(), 'upload-pack');
      write(asked, '#!/bin/sh\necho asked >"$0.asked"\nexit 1\n', 0o755);
      git(repository, 'config', 'remote.origin.uploadpack', asked);
      expect(run(REAL_GIT, ['fetch'], { cwd: repository }).exitCode).not.toBe(0);
      rmSync(`${asked}.asked`);
      expectWorks(session);
      const tree = snapshotTree(session, 'agtsessions/s1');
      expect(tree.get('sandbox/dir/c.txt')).toBe('100644 c\n');
      expect(tree.has('sandbox/far/d.txt')).toBe(false);
      write(join(session.sandbox, 'far/d.txt'), 'mine\n');
      write(join(session.sandbox, 'a.txt'), 'aa\n');
      expect(autocommit(session)).toMatchObject({ failed: [], warnings: [] });
      expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/far/d.txt')).toBe('100644 mine\n');
      expect(existsSync(`${asked}.asked`)).toBe(false);
    },
  );

  test.for([[], ['--sparse-index']])('sparse checkout %s', (options) => {
    const repository = makeRepository({
      'top.txt': 't\n',
      'in/a.txt': 'a\n',
      'out/b.txt': 'b\n',
      'out/deep/c.txt': 'c\n',
    });
    const session = sessionIn(repository);
    autocommit(session);
    git(session.sandbox, 'sparse-checkout', 'set', '--cone', ...options, 'in');
    autocommit(session);
    expect([...snapshotTree(session, 'agtsessions/s1').keys()].sort()).toEqual([
      'sandbox/in/a.txt',
      'sandbox/top.txt',
    ]);
    expect(git(repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s1:_/staged').split('\n')).toEqual([
      'in/a.txt',
      'out/b.txt',
      'out/deep/c.txt',
      'top.txt',
    ]);
    expectWorks(session);
    git(session.sandbox, 'sparse-checkout', 'disable');
    autocommit(session);
    expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/out/b.txt')).toBe('100644 b\n');
    expectSound(repository);
  });

  test('a split index', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    git(session.repository, 'config', 'core.splitIndex', 'true');
    git(session.sandbox, 'update-index', '--split-index');
    expectWorks(session);
    expectSound(session.repository);
  });

  test('index format 4, untracked cache, fsmonitor with a hook that lies', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    const monitor = join(makeTempDir(), 'fsmonitor');
    // It says that nothing ever changes.
    write(monitor, '#!/bin/sh\necho asked >>"$0.asked"\nprintf "token\\0"\n', 0o755);
    const settings = {
      'core.fsmonitor': monitor,
      'index.version': '4',
      'core.untrackedCache': 'true',
      'feature.manyFiles': 'true',
    };
    for (const [key, value] of Object.entries(settings)) git(session.repository, 'config', key, value);
    git(session.sandbox, 'update-index', '--index-version', '4', '--force-write-index');
    git(session.sandbox, 'status');
    expectWorks(session);
    write(join(session.sandbox, 'a.txt'), 'b\n');
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/a.txt', status: 'modified' }]);
    expectSound(session.repository);
  });

  test('packed refs, a commit graph, a multi-pack index, a repack in between', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    git(session.repository, 'pack-refs', '--all');
    git(session.repository, 'repack', '-q', '-a', '-d', '--write-bitmap-index');
    git(session.repository, 'commit-graph', 'write', '--reachable');
    git(session.repository, 'multi-pack-index', 'write');
    expectWorks(session);
    git(session.repository, 'gc', '-q', '--prune=now');
    expect(autocommit(session).outcome).toBe('unchanged');
    expectSound(session.repository);
  });

  test('replace refs and grafts do not change a snapshot', () => {
    const session = makeSession({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    autocommit(session);
    const [a, b] = git(session.repository, 'rev-parse', 'main:a.txt', 'main:b.txt').split('\n') as [
      string,
      string,
    ];
    git(session.repository, 'replace', a, b);
    write(join(session.sandbox, 'c.txt'), 'a\n');
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/c.txt', status: 'added' }]);
    expect(autocommit(session).outcome).toBe('unchanged');
  });
});

test('somebody has made a repository of the sandbox: its session goes on from inside', () => {
  const session = makeSession({ a: 'a\n' });
  rmSync(join(session.sandbox, '.git'));
  git(session.sandbox, 'init', '-q', '.');
  for (const [file, ...words] of [
    ['b', 'autocommit'],
    ['c', 'autocommit', 's1'],
    ['d', 'session', 'record', '--tool', 'Bash'],
  ] as const) {
    write(join(session.sandbox, file), `${file}\n`);
    expect(agt(session.sandbox, ...words).exitCode).toBe(0);
    expect(git(session.repository, 'show', `agtsessions/s1:sandbox/${file}`)).toBe(file);
  }
});
