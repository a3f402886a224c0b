/** agt session restore moves no branch that somebody else uses, and leaves no commit behind that nothing keeps. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const isKept = ({ repository }: TestSession, commit: string) =>
  git(repository, 'merge-base', '--is-ancestor', commit, 'agtsessions/s1');

function commit(directory: string, name: string): string {
  write(join(directory, name), `${name}\n`);
  git(directory, 'add', name);
  git(directory, 'commit', '-q', '-m', name);
  return git(directory, 'rev-parse', 'HEAD');
}

describe('restore keeps commits that the work branch alone has', () => {
  test('of a removed session, to which the user has added a commit', () => {
    const session = makeSession();
    commit(session.sandbox, 'agent');
    autocommit(session);
    agtOk(session.repository, 'session', 'remove', 's1');
    git(session.repository, 'switch', '-q', 'agt/s1');
    const fixUp = commit(session.repository, 'user');
    git(session.repository, 'switch', '-q', 'main');
    agtOk(session.repository, 'session', 'restore', 's1', '--to', '@');
    isKept(session, fixUp);
    expect(git(session.sandbox, 'log', '-1', '--format=%s')).toBe('user');
    expect(git(session.sandbox, 'status', '--porcelain')).toBe('');
  });

  test('of a session whose folder is gone, with and without its registration', () => {
    for (const prune of [false, true]) {
      const session = makeSession();
      autocommit(session);
      const late = commit(session.sandbox, 'late');
      rmSync(session.folder, { recursive: true });
      if (prune) git(session.repository, 'worktree', 'prune');
      agtOk(session.repository, 'session', 'restore', 's1', '--to', '@');
      isKept(session, late);
    }
  });

  test('and what was staged, if the folder is gone and the index is still there', () => {
    const session = makeSession();
    autocommit(session);
    write(join(session.sandbox, 'staged'), 'staged\n');
    git(session.sandbox, 'add', 'staged');
    git(session.sandbox, 'commit', '-q', '-m', 'detached');
    git(session.sandbox, 'switch', '-q', '--detach');
    const detached = commit(session.sandbox, 'more');
    write(join(session.sandbox, 'staged'), 'staged again\n');
    git(session.sandbox, 'add', 'staged');
    rmSync(session.folder, { recursive: true });
    agtOk(session.repository, 'session', 'restore', 's1', '--to', '@');
    isKept(session, detached);
    expect(git(session.repository, 'show', 'agtsessions/s1~2:_/staged/staged')).toBe('staged again');
  });
});

describe('restore detaches HEAD instead of moving a work branch that', () => {
  const captured = (): { session: TestSession; then: string } => {
    const session = makeSession();
    autocommit(session, '--label', 'then');
    const then = git(session.sandbox, 'rev-parse', 'HEAD');
    commit(session.sandbox, 'later');
    agtOk(session.repository, 'session', 'remove', 's1');
    return { session, then };
  };
  const expectDetached = ({ repository, sandbox }: TestSession, then: string, reason: RegExp) => {
    const tip = git(repository, 'rev-parse', 'agt/s1');
    const done = agt(repository, 'session', 'restore', 's1', '--to', 'then');
    expect(done.stderr).toMatch(reason);
    expect(done.stdout).not.toContain('verified');
    expect(done.exitCode).toBe(1);
    expect(git(repository, 'rev-parse', 'agt/s1')).toBe(tip);
    expect(git(sandbox, 'rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD')).toBe(`${then}\nHEAD`);
  };

  test('the user has checked out', () => {
    const { session, then } = captured();
    git(session.repository, 'switch', '-q', 'agt/s1');
    expectDetached(session, then, /branch "agt\/s1" is checked out in /);
    expect(git(session.repository, 'status', '--porcelain')).toBe('');
  });

  test('another worktree has checked out', () => {
    const { session, then } = captured();
    git(session.repository, 'worktree', 'add', '-q', join(makeTempDir(), 'other'), 'agt/s1');
    expectDetached(session, then, /branch "agt\/s1" is checked out in .*other/);
  });

  test('the user is rebasing', () => {
    const { session, then } = captured();
    git(session.repository, 'switch', '-q', 'agt/s1');
    const env = { GIT_SEQUENCE_EDITOR: 'sed -i 1s/pick/edit/' };
    const rebase = ['rebase', '-q', '-i', '--no-ff', 'HEAD~1'];
    expect(run(REAL_GIT, rebase, { cwd: session.repository, env }).exitCode).toBe(0);
    expectDetached(session, then, /branch "agt\/s1" is being rebased in /);
    expect(git(session.repository, 'rebase', '--continue')).toBe('');
  });
});

test.each(['session', 'folder'])('in a %s, HEAD stays on the branch of an undone turn', (kind) => {
  const cwd = kind === 'session' ? makeSession().sandbox : makeRepository();
  const was = git(cwd, 'branch', '--show-current');
  const agent = agentIn(cwd, 'codex', 'c-1');
  for (const name of ['a', 'b']) {
    agent.says(name);
    agent.begins(name);
    if (name === 'a') git(cwd, 'switch', '-qc', 'wild');
    write(join(cwd, name), name);
    agent.ends(name);
  }
  const stays = `hint: HEAD stays on branch wild: turn 1 moved it (was on branch ${was}); to move it back: git switch ${was}\n`;
  for (const words of [['-n'], []]) expect(agt(cwd, 'undo', '--turn', '1', ...words).stderr).toBe(stays);
  git(cwd, 'switch', '-q', was);
  expect(agt(cwd, 'undo', '--turn', '1').stderr).not.toContain('stays');
});

test.each(['session', 'folder'])(
  'in a %s, a branch that an undone turn moved stays, and the hint moves it',
  (kind) => {
    const cwd = kind === 'session' ? makeSession().sandbox : makeRepository();
    const was = commit(cwd, 'a');
    const agent = agentIn(cwd, 'codex', 'c-1');
    for (const [n, act] of [
      () => git(cwd, 'reset', '-q', '--hard', 'HEAD~1'),
      () => write(join(cwd, 'b'), 'b\n'),
    ].entries()) {
      agent.says(`turn ${n}`);
      agent.begins(String(n));
      act();
      agent.ends(String(n));
    }
    const branch = git(cwd, 'branch', '--show-current');
    const now = git(cwd, 'rev-parse', '--short=10', 'HEAD');
    const undone = agt(cwd, 'undo', '--turn', '1');
    const [, line, command = ''] = /^hint: (.*); to move it back: git (.*)$/m.exec(undone.stderr) ?? [];
    expect(line).toBe(`branch ${branch} stays at ${now}: turn 1 moved it (was ${was.slice(0, 10)})`);
    git(cwd, ...command.split(' '));
    expect(git(cwd, 'rev-parse', 'HEAD')).toBe(was);
    expect(git(cwd, 'status', '--porcelain')).toBe('?? b');
    expect(agt(cwd, 'undo', '--turn', '1').stderr).not.toContain('stays');
  },
);
