/** agt session restore of the files that git keeps for a worktree alone, and links and pipes in their places. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const gitDirOf = ({ sandbox }: TestSession) => git(sandbox, 'rev-parse', '--absolute-git-dir');

function restoreIsVerified(session: TestSession, to = 'then'): void {
  const done = agt(session.repository, 'session', 'restore', 's1', '--to', to);
  expect(done).toMatchObject({ exitCode: 0, stderr: '' });
  expect(done.stdout).toContain('verified');
}

/** Commits c1 to c5 on the work branch. */
function withCommits(): TestSession {
  const session = makeSession({ a: 'a\n' });
  for (const n of [1, 2, 3, 4, 5]) {
    write(join(session.sandbox, 'a'), `${n}\n`);
    git(session.sandbox, 'commit', '-q', '-am', `c${n}`);
  }
  return session;
}

describe('restore brings back', () => {
  test('what git bisect knows already', () => {
    const session = withCommits();
    git(session.sandbox, 'bisect', 'start', 'HEAD', 'HEAD~4');
    const log = git(session.sandbox, 'bisect', 'log');
    const refs = git(session.sandbox, 'for-each-ref', 'refs/bisect');
    autocommit(session, '--label', 'then');
    git(session.sandbox, 'bisect', 'reset');
    restoreIsVerified(session);
    expect(git(session.sandbox, 'bisect', 'log')).toBe(log);
    expect(git(session.sandbox, 'for-each-ref', 'refs/bisect')).toBe(refs);
    expect(git(session.sandbox, 'bisect', 'good')).toContain('Bisecting');
  });

  test('a series of picks between two of them, which leaves nothing but its list', () => {
    const session = withCommits();
    git(session.sandbox, 'switch', '-q', '--detach', 'HEAD~4');
    expect(run(REAL_GIT, ['cherry-pick', 'agt/s1', 'agt/s1~1'], { cwd: session.sandbox }).exitCode).toBe(1);
    write(join(session.sandbox, 'a'), 'resolved\n');
    git(session.sandbox, 'commit', '-q', '-am', 'resolved');
    expect(existsSync(join(gitDirOf(session), 'CHERRY_PICK_HEAD'))).toBe(false);
    const status = git(session.sandbox, 'status');
    expect(status).toContain('Cherry-pick currently in progress');
    autocommit(session, '--label', 'then');
    git(session.sandbox, 'cherry-pick', '--quit');
    restoreIsVerified(session);
    expect(git(session.sandbox, 'status')).toBe(status);
    agtOk(session.repository, 'session', 'undo', 's1');
    expect(git(session.sandbox, 'status')).not.toContain('progress');
  });

  test('the conflicts that rerere follows', () => {
    const session = withCommits();
    const { sandbox } = session;
    git(sandbox, 'config', 'rerere.enabled', 'true');
    git(sandbox, 'switch', '-q', '--detach', 'HEAD~4');
    write(join(sandbox, 'a'), 'other\n');
    git(sandbox, 'commit', '-q', '-am', 'other');
    const merge = () => run(REAL_GIT, ['merge', '-q', 'agt/s1'], { cwd: sandbox });
    expect(merge().exitCode).toBe(1);
    expect(git(sandbox, 'rerere', 'status')).toBe('a');
    autocommit(session, '--label', 'then');
    git(sandbox, 'merge', '--abort');
    restoreIsVerified(session);
    expect(git(sandbox, 'rerere', 'status')).toBe('a');
    write(join(sandbox, 'a'), 'resolved\n');
    git(sandbox, 'commit', '-q', '-am', 'merged');
    git(sandbox, 'reset', '-q', '--hard', 'HEAD~1');
    merge();
    expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('resolved\n');
  });

  test('the message of a squash, and takes it away again', () => {
    const session = withCommits();
    git(session.sandbox, 'switch', '-q', '--detach', 'HEAD~1');
    autocommit(session, '--label', 'before');
    git(session.sandbox, 'merge', '-q', '--squash', 'agt/s1');
    const message = readFileSync(join(gitDirOf(session), 'SQUASH_MSG'), 'utf8');
    autocommit(session, '--label', 'then');
    git(session.sandbox, 'commit', '-q', '-m', 'squashed');
    restoreIsVerified(session);
    expect(readFileSync(join(gitDirOf(session), 'SQUASH_MSG'), 'utf8')).toBe(message);
    restoreIsVerified(session, 'before');
    expect(existsSync(join(gitDirOf(session), 'SQUASH_MSG'))).toBe(false);
  });

  test('a rebase, although a message of another operation lies there', () => {
    const session = withCommits();
    const env = { GIT_SEQUENCE_EDITOR: 'sed -i 1s/pick/edit/' };
    run(REAL_GIT, ['rebase', '-q', '-i', '--no-ff', 'HEAD~2'], { cwd: session.sandbox, env });
    const status = git(session.sandbox, 'status');
    autocommit(session, '--label', 'then');
    git(session.sandbox, 'rebase', '--abort');
    writeFileSync(join(gitDirOf(session), 'MERGE_MSG'), 'left over\n');
    restoreIsVerified(session);
    expect(git(session.sandbox, 'status')).toBe(status);
    expect(existsSync(join(gitDirOf(session), 'MERGE_MSG'))).toBe(false);
  });

  test("the worktree's own refs, settings, ORIG_HEAD and sparse checkout, also of a removed session", () => {
    const session = makeSession({ a: 'a\n', 'd/b': 'b\n', 'e/c': 'c\n' });
    const { sandbox } = session;
    git(session.repository, 'config', 'extensions.worktreeConfig', 'true');
    git(sandbox, 'config', '--worktree', 'user.email', 'own@example.com');
    git(sandbox, 'sparse-checkout', 'set', 'd');
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'on a ref of the worktree');
    git(sandbox, 'update-ref', 'refs/worktree/mine', 'HEAD');
    git(sandbox, 'reset', '-q', '--soft', 'HEAD~1');
    const state = () => [
      git(sandbox, 'config', 'user.email'),
      git(sandbox, 'sparse-checkout', 'list'),
      git(sandbox, 'log', '-1', '--format=%s', 'refs/worktree/mine'),
      git(sandbox, 'rev-parse', 'ORIG_HEAD'),
      git(sandbox, 'status', '--porcelain'),
    ];
    const then = state();
    autocommit(session, '--label', 'then');
    git(sandbox, 'config', '--worktree', 'user.email', 'other@example.com');
    git(sandbox, 'sparse-checkout', 'disable');
    git(sandbox, 'update-ref', '-d', 'refs/worktree/mine');
    restoreIsVerified(session);
    expect(state()).toEqual(then);
    agtOk(session.repository, 'session', 'remove', 's1');
    git(session.repository, 'reflog', 'expire', '--expire=now', '--all');
    git(session.repository, 'gc', '-q', '--prune=now');
    restoreIsVerified(session);
    expect(state()).toEqual(then);
  });
});

describe('in the git directory of a sandbox', () => {
  test('a link is not captured, and not written through', () => {
    const session = makeSession();
    const secret = join(makeTempDir(), 'secret');
    writeFileSync(secret, 'nobody may read this\n');
    const message = join(gitDirOf(session), 'MERGE_MSG');
    writeFileSync(message, 'message\n');
    autocommit(session, '--label', 'then');
    rmSync(message);
    symlinkSync(secret, message);
    const report = autocommit(session);
    expect(report.warnings.join()).toContain('MERGE_MSG is a link');
    const held = git(session.repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s1:_');
    expect(held).not.toContain('MERGE_MSG');
    for (const target of [secret, join(makeTempDir(), 'dangling')]) {
      rmSync(message, { force: true });
      symlinkSync(target, message);
      const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
      expect(done.stderr).toContain('MERGE_MSG');
      expect(readFileSync(message, 'utf8')).toBe('message\n');
      expect(readFileSync(secret, 'utf8')).toBe('nobody may read this\n');
      expect(existsSync(join(target))).toBe(target === secret);
    }
  });

  test('a link in place of a directory is not followed', () => {
    const session = makeSession();
    const outside = makeTempDir('outside');
    const info = join(gitDirOf(session), 'info');
    mkdirSync(info, { recursive: true });
    writeFileSync(join(info, 'sparse-checkout'), '/*\n');
    autocommit(session, '--label', 'then');
    rmSync(info, { recursive: true });
    symlinkSync(outside, info);
    const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
    expect(done.exitCode).toBe(1);
    expect(done.stderr).toContain('info/sparse-checkout');
    expect(existsSync(join(outside, 'sparse-checkout'))).toBe(false);
  });

  test.each(['MERGE_HEAD', 'MERGE_MSG', 'index', 'HEAD'])('a named pipe as %s stops no capture', (name) => {
    const session = makeSession();
    autocommit(session, '--label', 'then');
    const path = join(gitDirOf(session), name);
    rmSync(path, { force: true });
    expect(run('mkfifo', [path], { cwd: session.repository }).exitCode).toBe(0);
    write(join(session.sandbox, 'new'), 'new\n');
    const report = autocommit(session);
    expect(report.changes).toEqual([{ path: 'sandbox/new', status: 'added' }]);
    expect(report.warnings.join()).toContain(name);
    const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
    expect(done.stdout).toContain('verified');
    expect(git(session.sandbox, 'status', '--porcelain')).toBe('');
  });
});
