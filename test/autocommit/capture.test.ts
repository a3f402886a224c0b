/** The commit that an autocommit makes, its parents, and what happens if the stat cache, the branch or git fails. */
import { readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, changedPaths, makeSession, manifestOf, snapshotTree } from '../harness/session.ts';
import { AGT, git, makeTempDir, REAL_GIT, run, runsAsGit, write } from '../harness/world.ts';

function parents(repository: string, commit: string): string[] {
  return git(repository, 'rev-parse', `${commit}^@`).split('\n');
}

describe('an autocommit', () => {
  test('is a commit by agt on the shadow branch, with two parents, that names its session', () => {
    const session = makeSession();
    const start = git(session.repository, 'rev-parse', 'main');
    const { commit, outcome } = autocommit(session);
    expect(outcome).toBe('committed');
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1', 'refs/agt/tip/s1').split('\n')).toEqual([
      commit,
      commit,
    ]);
    expect(parents(session.repository, 'agtsessions/s1')).toEqual([start, start]);
    expect(git(session.repository, 'log', '-1', '--format=%an <%ae> %cn <%ce>%n%B', 'agtsessions/s1')).toBe(
      `agt <agt@local> agt <agt@local>\nagt autocommit\n\nAgt-Session: s1\nAgt-Head: ${start}\n`,
    );
  });

  test('has the session folder and _/ as its tree; the sandbox, its index and branches stay as they are', () => {
    const session = makeSession({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n' });
    write(join(session.folder, 'xdg/log'), 'thoughts\n');
    const before = git(session.repository, 'for-each-ref', 'refs/heads/agt', 'refs/heads/main');
    autocommit(session);
    expect(git(session.repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s1').split('\n')).toEqual([
      '_/git-dir/ORIG_HEAD',
      '_/index',
      '_/manifest.json',
      '_/staged/a.txt',
      '_/staged/dir/b.txt',
      'sandbox/a.txt',
      'sandbox/dir/b.txt',
      'xdg/log',
    ]);
    expect(git(session.repository, 'for-each-ref', 'refs/heads/agt', 'refs/heads/main')).toBe(before);
    expect(git(session.sandbox, 'status', '--porcelain')).toBe('');
  });

  test('makes no commit if nothing changed; a refreshed index is no change', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    const first = autocommit(session);
    utimesSync(join(session.sandbox, 'a.txt'), 1, 1);
    git(session.sandbox, 'status');
    const second = autocommit(session);
    expect(second).toMatchObject({ outcome: 'unchanged', commit: first.commit, changes: [] });
  });

  test('has the user branch as second parent, and the commit of the agent as third', () => {
    const session = makeSession();
    const first = autocommit(session).commit;
    git(session.repository, 'commit', '-q', '--allow-empty', '-m', 'by the user');
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
    const agent = git(session.sandbox, 'rev-parse', 'HEAD');
    const user = git(session.repository, 'rev-parse', 'main');
    autocommit(session);
    expect(parents(session.repository, 'agtsessions/s1')).toEqual([first, user, agent]);
    write(join(session.sandbox, 'x'), 'x\n');
    const second = git(session.repository, 'rev-parse', 'agtsessions/s1');
    autocommit(session);
    expect(parents(session.repository, 'agtsessions/s1')).toEqual([second, user]);
  });

  test('keeps the commits of the agent reachable, whatever it resets or amends', () => {
    const session = makeSession();
    write(join(session.sandbox, 'x'), 'x\n');
    git(session.sandbox, 'add', 'x');
    git(session.sandbox, 'commit', '-q', '-m', 'one');
    const one = git(session.sandbox, 'rev-parse', 'HEAD');
    autocommit(session);
    git(session.sandbox, 'reset', '-q', '--hard', 'HEAD~1');
    autocommit(session);
    git(session.repository, 'reflog', 'expire', '--expire=now', '--all');
    git(session.repository, 'gc', '-q', '--prune=now');
    expect(git(session.repository, 'log', '-1', '--format=%s', one)).toBe('one');
  });

  test('takes the start commit as second parent if the user branch was deleted', () => {
    const session = makeSession();
    const start = git(session.repository, 'rev-parse', 'main');
    git(session.repository, 'checkout', '-q', '--detach');
    git(session.repository, 'branch', '-D', 'main');
    autocommit(session);
    expect(parents(session.repository, 'agtsessions/s1')).toEqual([start, start]);
  });

  test('passes git fsck --strict', () => {
    const session = makeSession({ '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ../x\n', a: 'a\n' });
    for (const name of [
      '.GIT',
      'git~1',
      '.gitmodules ',
      '.git.',
      'sub/.Git',
      'a\\..\\b',
      '%agt-00',
      '.g\u200cit',
    ]) {
      write(join(session.sandbox, name, 'file'), name);
    }
    symlinkSync('a', join(session.folder, 'xdg/.gitmodules'));
    autocommit(session);
    const checked = run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], { cwd: session.repository });
    expect(checked.stdout + checked.stderr).toBe('');
    expect(checked.exitCode).toBe(0);
    expect([...snapshotTree(session, 'agtsessions/s1').keys()]).toContain('sandbox/.GIT/file');
    expect(manifestOf(session).encoded).toContain('sandbox/.GIT/file');
  });
});

describe('if something fails', () => {
  test('a lost or damaged stat cache costs a full scan and a warning, and no data', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    const manifest = join(session.repository, '.git/agt/scan/s1');
    rmSync(manifest);
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', warnings: [] });
    writeFileSync(manifest, readFileSync(manifest).subarray(0, -30));
    write(join(session.sandbox, 'a.txt'), 'b\n');
    const report = autocommit(session);
    expect(changedPaths(report)).toEqual(['modified sandbox/a.txt']);
    expect(report.warnings).toEqual([
      'the stat cache could not be used (it is damaged); every file was read',
    ]);
  });

  test('agt puts a moved shadow branch back and says so; commits that were put on it stay reachable', () => {
    const session = makeSession();
    const { commit } = autocommit(session);
    const tree = git(session.repository, 'rev-parse', 'main^{tree}');
    const foreign = git(session.repository, 'commit-tree', '-p', 'main', '-m', 'foreign', tree);
    git(session.repository, 'update-ref', 'refs/heads/agtsessions/s1', foreign);
    const report = autocommit(session);
    expect(report.warnings[0]).toContain('agtsessions/s1 was moved to');
    expect(parents(session.repository, 'agtsessions/s1')[0]).toBe(commit);
    expect(parents(session.repository, 'agtsessions/s1')).toContain(foreign);
    git(session.repository, 'branch', '-q', '-D', 'agtsessions/s1');
    expect(autocommit(session).warnings[0]).toContain('agtsessions/s1 was deleted');
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(
      git(session.repository, 'rev-parse', 'refs/agt/tip/s1'),
    );
  });

  test('killed in the middle of the stream: the old snapshot stays the last one', () => {
    const session = makeSession();
    const { commit } = autocommit(session);
    write(join(session.sandbox, 'x'), 'x');
    // A git whose fast-import loses its input half way, as when agt is killed.
    const bin = makeTempDir('bin');
    write(
      join(bin, 'git'),
      `#!/bin/sh\nfor word; do [ "$word" = fast-import ] && { head -c 700 | exec ${REAL_GIT} "$@"; exit $?; }; done\nexec ${REAL_GIT} "$@"\n`,
      0o755,
    );
    const outcome = run(AGT, ['autocommit', '--session-id', 's1'], {
      cwd: session.repository,
      env: runsAsGit(join(bin, 'git')),
    });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('error: git fast-import failed');
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1', 'refs/agt/tip/s1').split('\n')).toEqual([
      commit,
      commit,
    ]);
    expect(changedPaths(autocommit(session))).toEqual(['added sandbox/x']);
  });
});
