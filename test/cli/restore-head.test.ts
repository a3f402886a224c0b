/** agt session restore of HEAD and the work branch: on a branch without commits, and while HEAD is elsewhere. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

const headOf = ({ sandbox }: TestSession) => git(sandbox, 'rev-parse', '--symbolic-full-name', 'HEAD');
const headFile = ({ sandbox }: TestSession) =>
  readFileSync(join(git(sandbox, 'rev-parse', '--absolute-git-dir'), 'HEAD'), 'utf8');
const workTip = ({ repository }: TestSession) => git(repository, 'rev-parse', 'agt/s1');

function commit({ sandbox }: TestSession, name: string): string {
  write(join(sandbox, name), `${name}\n`);
  git(sandbox, 'add', name);
  git(sandbox, 'commit', '-q', '-m', name);
  return git(sandbox, 'rev-parse', 'HEAD');
}

function restoreIsVerified(session: TestSession): void {
  const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
  expect(done).toMatchObject({ exitCode: 0, stderr: '' });
  expect(done.stdout).toContain('verified');
}

/** A dry run tells the same about HEAD and the branches. */
function restoreAsForetold({ repository }: TestSession) {
  const restore = (...more: string[]) =>
    agt(repository, 'session', 'restore', 's1', '--to', 'then', '--json', ...more);
  const dry = restore('-n');
  const done = restore();
  expect(dry.stderr).toMatch(/^warning: /);
  expect(done.stderr).toContain(dry.stderr);
  expect(JSON.parse(done.stdout).refs).toEqual(JSON.parse(dry.stdout).refs);
  return done;
}

test('a branch that has moved since stays, and HEAD is detached', () => {
  const session = makeSession({ a: 'a\n' });
  git(session.sandbox, 'switch', '-q', '-c', 'feature');
  const then = commit(session, 'one');
  autocommit(session, '--label', 'then');
  const moved = commit(session, 'two');
  expect(restoreAsForetold(session).stderr).toContain(
    `HEAD is detached at ${then.slice(0, 10)}: branch "feature" has moved since`,
  );
  expect(git(session.sandbox, 'rev-parse', 'HEAD', 'feature')).toBe(`${then}\n${moved}`);
  git(session.sandbox, 'switch', '-q', 'feature');
  const { stdout, stderr } = agt(session.repository, 'restore', 's1', 'then');
  expect(stdout).toContain('s1: restored 1 path, but not HEAD of the sandbox\n');
  expect(stderr).toMatch(/\nerror: not as in snapshot [0-9a-f]{10}:\n {2}HEAD of the sandbox\n$/);
});

describe('a branch without commits', () => {
  const onOrphan = (): TestSession => {
    const session = makeSession({ a: 'a\n' });
    git(session.sandbox, 'switch', '-q', '--orphan', 'fresh');
    write(join(session.sandbox, 'b'), 'b\n');
    git(session.sandbox, 'add', 'b');
    autocommit(session, '--label', 'then');
    return session;
  };
  const isOnOrphan = (session: TestSession) => {
    expect(headFile(session)).toBe('ref: refs/heads/fresh\n');
    expect(git(session.sandbox, 'status', '--porcelain', '--branch')).toBe(
      '## No commits yet on fresh\nA  b',
    );
  };

  test('is HEAD again after a restore', () => {
    const session = onOrphan();
    git(session.sandbox, 'switch', '-qf', 'agt/s1');
    restoreIsVerified(session);
    isOnOrphan(session);
  });

  test('is HEAD again in a removed session, and where HEAD is damaged', () => {
    const session = onOrphan();
    agtOk(session.repository, 'session', 'remove', 's1');
    restoreIsVerified(session);
    isOnOrphan(session);
    writeFileSync(join(git(session.sandbox, 'rev-parse', '--absolute-git-dir'), 'HEAD'), '');
    expect(agtOk(session.repository, 'session', 'restore', 's1', '--to', 'then')).toContain('verified');
    isOnOrphan(session);
  });

  test('that has commits by now keeps them, and HEAD stays', () => {
    const session = onOrphan();
    const later = commit(session, 'later');
    const done = restoreAsForetold(session);
    expect(done.exitCode).toBe(1);
    expect(done.stderr).toMatch(
      /^warning: HEAD was not restored: branch "fresh" had no commit .* has some now/,
    );
    expect(done.stderr).toContain('HEAD of the sandbox');
    expect(git(session.sandbox, 'rev-parse', 'fresh')).toBe(later);
    expect(headFile(session)).toBe('ref: refs/heads/fresh\n');
  });

  test('may be the work branch, whose later commits stay in the snapshots', () => {
    const session = makeSession({ a: 'a\n' });
    git(session.sandbox, 'update-ref', '-d', 'refs/heads/agt/s1');
    autocommit(session, '--label', 'then');
    const later = commit(session, 'later');
    restoreIsVerified(session);
    expect(git(session.sandbox, 'status', '--branch', '--porcelain')).toContain('No commits yet on agt/s1');
    git(session.repository, 'merge-base', '--is-ancestor', later, 'agtsessions/s1');
    agtOk(session.repository, 'session', 'undo', 's1');
    expect(workTip(session)).toBe(later);
  });
});

describe('the work branch while HEAD is elsewhere', () => {
  test('is kept by the snapshot, and comes back', () => {
    const session = makeSession({ a: 'a\n' });
    const tip = commit(session, 'mine');
    git(session.sandbox, 'switch', '-q', '--detach', 'HEAD~1');
    autocommit(session, '--label', 'then');
    git(session.sandbox, 'branch', '-q', '-f', 'agt/s1', 'HEAD');
    git(session.repository, 'merge-base', '--is-ancestor', tip, 'agtsessions/s1');
    restoreIsVerified(session);
    expect(workTip(session)).toBe(tip);
    expect(headOf(session)).toBe('HEAD');
  });

  test('that moves alone is a change', () => {
    const session = makeSession({ a: 'a\n' });
    git(session.sandbox, 'switch', '-q', '--detach');
    autocommit(session);
    const tree = git(session.sandbox, 'rev-parse', 'HEAD^{tree}');
    const tip = git(session.sandbox, 'commit-tree', '-p', 'HEAD', '-m', 'elsewhere', tree);
    git(session.sandbox, 'update-ref', 'refs/heads/agt/s1', tip);
    expect(autocommit(session).outcome).toBe('committed');
    expect(autocommit(session).outcome).toBe('unchanged');
    git(session.repository, 'update-ref', '-d', 'refs/heads/agt/s1');
    git(session.repository, 'merge-base', '--is-ancestor', tip, 'agtsessions/s1');
    agtOk(session.repository, 'session', 'restore', 's1', '--to', '@');
    expect(autocommit(session).outcome).toBe('unchanged');
  });

  test('is where the rebase in progress has to find it', () => {
    const session = makeSession({ a: 'a\n' });
    commit(session, 'one');
    const tip = commit(session, 'two');
    const env = { GIT_SEQUENCE_EDITOR: 'sed -i 1s/pick/edit/', GIT_EDITOR: 'true' };
    const rebase = (...args: string[]) => run(REAL_GIT, ['rebase', ...args], { cwd: session.sandbox, env });
    expect(rebase('-q', '-i', '--no-ff', 'HEAD~2').exitCode).toBe(0);
    git(session.sandbox, 'commit', '-q', '--amend', '-m', 'one, amended');
    autocommit(session, '--label', 'then');
    expect(rebase('--continue').exitCode).toBe(0);
    const rebased = workTip(session);
    restoreIsVerified(session);
    expect(workTip(session)).toBe(tip);
    expect(rebase('--continue')).toMatchObject({ exitCode: 0 });
    expect(workTip(session)).not.toBe(tip);
    expect(git(session.repository, 'diff', rebased, 'agt/s1')).toBe('');
  });

  test('stays where it is while another worktree has it checked out', () => {
    const session = makeSession({ a: 'a\n' });
    const tip = commit(session, 'mine');
    git(session.sandbox, 'switch', '-q', '--detach', 'HEAD~1');
    autocommit(session, '--label', 'then');
    git(session.sandbox, 'branch', '-q', '-f', 'agt/s1', 'HEAD');
    git(session.repository, 'switch', '-q', 'agt/s1');
    const done = restoreAsForetold(session);
    expect(done.exitCode).toBe(1);
    expect(done.stderr).toMatch(/warning: agt\/s1 was not restored: .*checked out in /);
    expect(done.stderr).toContain('the work branch');
    expect(workTip(session)).not.toBe(tip);
    expect(git(session.repository, 'status', '--porcelain')).toBe('');
  });
});
