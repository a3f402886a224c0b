/** The folder `_/` of a snapshot: the index, the staged tree and the manifest. */
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, manifestOf } from '../harness/session.ts';
import { git, REAL_GIT, run, write } from '../harness/world.ts';

describe('_/', () => {
  test('_/index is the raw index, _/staged its tree; both follow the staged content', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    write(join(session.sandbox, 'a.txt'), 'staged\n');
    git(session.sandbox, 'add', 'a.txt');
    write(join(session.sandbox, 'a.txt'), 'on disk\n');
    autocommit(session);
    expect(git(session.repository, 'show', 'agtsessions/s1:_/staged/a.txt')).toBe('staged');
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/a.txt')).toBe('on disk');
    const gitDir = git(session.sandbox, 'rev-parse', '--absolute-git-dir');
    const stored = run(REAL_GIT, ['cat-file', 'blob', 'agtsessions/s1:_/index'], {
      cwd: session.repository,
    }).stdout;
    expect(stored).toBe(readFileSync(join(gitDir, 'index')).toString('latin1'));
    expect(existsSync(join(gitDir, 'index.lock'))).toBe(false);
  });

  test('_/stages holds every stage of a conflict, and the operation is named', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    git(session.sandbox, 'checkout', '-q', '-b', 'other');
    write(join(session.sandbox, 'a.txt'), 'theirs\n');
    git(session.sandbox, 'commit', '-q', '-a', '-m', 'theirs');
    git(session.sandbox, 'checkout', '-q', 'agt/s1');
    write(join(session.sandbox, 'a.txt'), 'ours\n');
    git(session.sandbox, 'commit', '-q', '-a', '-m', 'ours');
    expect(run(REAL_GIT, ['merge', '-q', 'other'], { cwd: session.sandbox }).exitCode).toBe(1);
    autocommit(session);
    expect(git(session.repository, 'ls-tree', '--name-only', 'agtsessions/s1:_').split('\n')).toEqual([
      'auto-merge',
      'git-dir',
      'index',
      'manifest.json',
      'stages',
    ]);
    for (const [stage, text] of [
      ['1', 'a'],
      ['2', 'ours'],
      ['3', 'theirs'],
    ])
      expect(git(session.repository, 'show', `agtsessions/s1:_/stages/${stage}/a.txt`)).toBe(text);
    expect(manifestOf(session).operation).toBe('merge');
    git(session.sandbox, 'add', 'a.txt');
    git(session.sandbox, 'commit', '-q', '-m', 'merged');
    autocommit(session);
    expect(manifestOf(session).operation).toBeNull();
    expect(git(session.repository, 'show', 'agtsessions/s1:_/staged/a.txt')).toContain('ours');
  });

  test('the manifest holds HEAD, unusual permissions, empty directories, label and tool', () => {
    const session = makeSession({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    write(join(session.folder, 'config/key'), 'secret\n', 0o600);
    mkdirSync(join(session.sandbox, 'hollow/inner'), { recursive: true });
    chmodSync(join(session.sandbox, 'hollow'), 0o700);
    autocommit(session, '--label', 'tests pass', '--tool', 'edit');
    expect(manifestOf(session)).toEqual({
      version: 1,
      session: 's1',
      head: { ref: 'refs/heads/agt/s1', commit: git(session.repository, 'rev-parse', 'main') },
      operation: null,
      git_dir_digest: expect.stringMatching(/^[0-9a-f]{40}$/),
      label: 'tests pass',
      tool: 'edit',
      modes: {
        file: '0644',
        program: '0755',
        directory: '0755',
        others: { 'config/key': '0600', 'sandbox/hollow': '0700' },
      },
      empty_directories: ['sandbox/hollow/inner', 'xdg'],
      encoded: [],
      skipped: [],
    });
    const message = git(session.repository, 'log', '-1', '--format=%B', 'agtsessions/s1');
    expect(message).toMatch(
      /^tests pass\n\nAgt-Session: s1\nAgt-Head: \w+\nAgt-Label: tests pass\nAgt-Tool: edit\n/,
    );
  });

  test('a new label makes a snapshot of its own; no label makes none', () => {
    const session = makeSession();
    autocommit(session);
    expect(autocommit(session, '--label', 'here').outcome).toBe('committed');
    expect(autocommit(session, '--label', 'here').outcome).toBe('unchanged');
    expect(autocommit(session).outcome).toBe('unchanged');
  });

  test('a detached HEAD is captured, and a change of HEAD alone is a change', () => {
    const session = makeSession();
    autocommit(session);
    git(session.sandbox, 'checkout', '-q', '--detach');
    expect(autocommit(session).outcome).toBe('committed');
    expect(manifestOf(session).head.ref).toBeNull();
  });
});
