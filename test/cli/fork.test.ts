import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, snapshotFolder } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

describe('agt session fork', () => {
  test('gives the new session everything of the other one, and leaves that one as it is', () => {
    const session = makeSession({ 'a.txt': 'a\n', '.gitignore': '.env\n' });
    write(join(session.sandbox, 'by-agent'), 'x\n');
    git(session.sandbox, 'add', 'by-agent');
    git(session.sandbox, 'commit', '-q', '-m', 'by the agent');
    write(join(session.sandbox, 'a.txt'), 'uncommitted\n');
    write(join(session.sandbox, '.env'), 'TOKEN\n', 0o600);
    write(join(session.folder, 'config/settings'), 'x\n');
    write(join(session.folder, 'xdg/log'), 'x\n');
    symlinkSync('a.txt', join(session.sandbox, 'link'));
    const before = snapshotFolder(session.folder);
    const status = git(session.sandbox, 'status', '--porcelain');

    const fork = JSON.parse(
      agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2', '--json'),
    );
    expect(fork).toMatchObject({
      session_id: 's2',
      from: 's1',
      user_branch: 'refs/heads/main',
      state: 'active',
    });
    expect(snapshotFolder(join(fork.sandbox, '..'))).toEqual(before);
    expect(snapshotFolder(session.folder)).toEqual(before);
    expect(git(fork.sandbox, 'status', '--porcelain')).toBe(status);
    expect(git(fork.sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s2');
    expect(git(fork.sandbox, 'log', '-1', '--format=%s')).toBe('by the agent');
    expect(lstatSync(join(fork.sandbox, '.env')).mode & 0o777).toBe(0o600);

    write(join(fork.sandbox, 'a.txt'), 'other\n');
    expect(readFileSync(join(session.sandbox, 'a.txt'), 'utf8')).toBe('uncommitted\n');
    agtOk(session.repository, 'autocommit', '--session-id', 's2');
    const chain = git(session.repository, 'rev-list', '--first-parent', 'agtsessions/s2').split('\n');
    expect(chain).toContain(git(session.repository, 'rev-parse', 'agtsessions/s1'));
  });

  test('keeps a detached HEAD detached', () => {
    const session = makeSession();
    git(session.sandbox, 'checkout', '-q', '--detach');
    const outcome = agt(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stderr).toContain('warning: HEAD is detached at');
    const sandbox = agtOk(session.repository, 'session', 'path', 's2');
    expect(git(sandbox, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('HEAD');
  });

  test('of a session on a branch of its own says why HEAD is detached, and has nothing to undo', () => {
    const { repository, sandbox } = makeSession({ a: 'a\n' });
    git(sandbox, 'switch', '-qc', 'side');
    write(join(sandbox, 'a'), 'changed\n');
    const { stderr } = agt(repository, 'fork', 's1', '--id', 's2');
    const at = git(sandbox, 'rev-parse', 'HEAD').slice(0, 10);
    const why = `branch "side" is checked out in ${sandbox}`;
    expect(stderr).toBe(`warning: HEAD is detached at ${at}: ${why}\n`);
    const undo = () => agt(repository, 'undo', 's2');
    expect(undo().stderr).toContain('error: nothing to undo: ');
    const fork = agtOk(repository, 'session', 'path', 's2');
    write(join(fork, 'a'), 'changed in the fork\n');
    const undone = undo();
    expect([undone.exitCode, undone.stderr]).toEqual([0, '']);
    expect(readFileSync(join(fork, 'a'), 'utf8')).toBe('changed\n');
    expect(undo().stderr).toContain('error: nothing to undo: ');
  });

  test('names files that could not be captured', () => {
    const session = makeSession();
    git(session.sandbox, 'init', '-q', 'nested');
    const outcome = agt(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    expect(outcome.stderr).toBe(
      'warning: not in the fork: sandbox/nested/.git: belongs to a nested repository\n',
    );
  });

  test('restores files, index, HEAD and work branch of any earlier snapshot', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    write(join(session.sandbox, 'a.txt'), 'staged\n');
    git(session.sandbox, 'add', 'a.txt');
    write(join(session.sandbox, 'untracked'), 'x\n');
    autocommit(session, '--label', 'then');
    const before = snapshotFolder(session.folder);
    const status = git(session.sandbox, 'status', '--porcelain');
    git(session.sandbox, 'commit', '-q', '-m', 'later');
    write(join(session.sandbox, 'untracked'), 'y\n');
    autocommit(session);
    write(join(session.sandbox, 'untracked'), 'not captured\n');

    const tip = git(session.repository, 'rev-parse', 'agtsessions/s1');
    const args = ['session', 'fork', '--from', 's1', '--id', 's2', '--at', 'then', '--json'];
    const fork = JSON.parse(agtOk(session.repository, ...args));
    expect(snapshotFolder(join(fork.sandbox, '..'))).toEqual(before);
    expect(git(fork.sandbox, 'status', '--porcelain')).toBe(status);
    expect(git(fork.sandbox, 'rev-parse', 'agt/s2')).toBe(git(session.repository, 'rev-parse', 'main'));
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(tip);
    expect(readFileSync(join(session.sandbox, 'untracked'), 'utf8')).toBe('not captured\n');
  });

  test('finds the commit of the work branch for a snapshot with a detached HEAD', () => {
    const session = makeSession();
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
    const work = git(session.sandbox, 'rev-parse', 'HEAD');
    autocommit(session);
    git(session.sandbox, 'checkout', '-q', '--detach', 'main');
    autocommit(session, '--label', 'detached');
    git(session.sandbox, 'checkout', '-q', 'agt/s1');
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'another');
    autocommit(session);
    agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2', '--at', 'detached');
    const sandbox = agtOk(session.repository, 'session', 'path', 's2');
    expect(git(session.repository, 'rev-parse', 'agt/s2')).toBe(work);
    expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(git(session.repository, 'rev-parse', 'main'));
    expect(git(sandbox, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('HEAD');
  });

  test('continues a rebase on a work branch of its own', () => {
    const session = makeSession({ a: 'start\n' });
    write(join(session.sandbox, 'a'), 'by the agent\n');
    git(session.sandbox, 'commit', '-q', '-a', '-m', 'by the agent');
    const work = git(session.sandbox, 'rev-parse', 'HEAD');
    write(join(session.repository, 'a'), 'by the user\n');
    git(session.repository, 'commit', '-q', '-a', '-m', 'by the user');
    run(REAL_GIT, ['rebase', '-q', 'main'], { cwd: session.sandbox });
    autocommit(session, '--label', 'conflict');
    const status = git(session.sandbox, 'status').replaceAll('agt/s1', 'agt/s2');
    git(session.sandbox, 'rebase', '--abort');

    agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2', '--at', 'conflict');
    const sandbox = agtOk(session.repository, 'session', 'path', 's2');
    expect(git(sandbox, 'status')).toBe(status);
    expect(git(session.repository, 'rev-parse', 'agt/s2')).toBe(work);
    write(join(sandbox, 'a'), 'both\n');
    git(sandbox, 'add', 'a');
    git(sandbox, '-c', 'core.editor=true', 'rebase', '--continue');
    expect(git(sandbox, 'log', '--format=%s', 'agt/s2')).toBe('by the agent\nby the user\nfirst');
    expect(git(session.repository, 'rev-parse', 'agt/s1')).toBe(work);
  });

  test('goes back to its own work branch at the end of a bisect', () => {
    const session = makeSession();
    for (const name of ['one', 'two', 'three', 'four'])
      git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', name);
    git(session.sandbox, 'bisect', 'start', 'HEAD', 'HEAD~4');
    agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    const sandbox = agtOk(session.repository, 'session', 'path', 's2');
    expect(git(sandbox, 'bisect', 'log')).toBe(git(session.sandbox, 'bisect', 'log'));
    git(sandbox, 'bisect', 'reset');
    expect(git(sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s2');
    git(session.sandbox, 'bisect', 'reset');
    expect(git(session.sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s1');
  });

  test.each(['removed', 'without its folder'])('works from a session that is %s', (how) => {
    const session = makeSession();
    write(join(session.sandbox, 'x'), 'x\n');
    autocommit(session, '--label', 'then');
    if (how === 'removed') agtOk(session.repository, 'session', 'remove', '--id', 's1');
    else rmSync(session.folder, { recursive: true });
    agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2', '--at', 'then');
    const outcome = agt(session.repository, 'session', 'fork', '--from', 's1', '--id', 's3');
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stderr).toMatch(
      /^warning: "s1" has no sandbox; the fork starts from its last snapshot, of /,
    );
    for (const id of ['s2', 's3']) {
      const sandbox = agtOk(session.repository, 'session', 'path', id);
      expect(readFileSync(join(sandbox, 'x'), 'utf8')).toBe('x\n');
    }
  });

  test('creates several forks from one autocommit', () => {
    const session = makeSession();
    write(join(session.sandbox, 'x'), 'x\n');
    const args = ['session', 'fork', '--from', 's1', '--id', 'try', '--count', '3', '--json'];
    const forks = JSON.parse(agtOk(session.repository, ...args)) as { session_id: string; sandbox: string }[];
    expect(forks.map((fork) => fork.session_id)).toEqual(['try-1', 'try-2', 'try-3']);
    for (const { sandbox } of forks) expect(readFileSync(join(sandbox, 'x'), 'utf8')).toBe('x\n');
    const tips = forks.map((fork) => git(session.repository, 'rev-parse', `agtsessions/${fork.session_id}`));
    expect(new Set(tips)).toEqual(new Set([git(session.repository, 'rev-parse', 'agtsessions/s1')]));
    agtOk(session.repository, 'session', 'fork', '--from', 's1', '--count', '2');
    expect(JSON.parse(agtOk(session.repository, 'session', 'list', '--json'))).toHaveLength(6);
  });

  test('creates none of several forks if one id is taken', () => {
    const session = makeSession();
    const tip = git(session.repository, 'rev-parse', 'agtsessions/s1');
    git(session.repository, 'branch', 'agt/try-2');
    write(join(session.sandbox, 'x'), 'x\n');
    const args = ['session', 'fork', '--from', 's1', '--id', 'try', '--count', '3'];
    const outcome = agt(session.repository, ...args);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toMatch(/^error: branch "agt\/try-2" already exists\n/);
    expect(JSON.parse(agtOk(session.repository, 'session', 'list', '--json'))).toHaveLength(1);
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(tip);
  });

  test('names the forks it made if one of several fails', () => {
    const session = makeSession();
    // A directory of this name is no lock of a killed git.
    mkdirSync(join(session.repository, '.git/refs/heads/agt/try-2.lock'));
    const args = ['session', 'fork', '--from', 's1', '--id', 'try', '--count', '3'];
    const outcome = agt(session.repository, ...args);
    expect(outcome.exitCode).not.toBe(0);
    expect(outcome.stderr).toMatch(/^error: .*try-2.*\nhint: created before that: try-1\n$/s);
    const listed = JSON.parse(agtOk(session.repository, 'session', 'list', '--json'));
    expect(listed.map((found: { session_id: string }) => found.session_id)).toEqual(['s1', 'try-1']);
    expect(existsSync(join(session.folder, '../try-2'))).toBe(false);
  });

  test.each([
    ['an unknown session', ['--from', 'nope'], 1, /no session "nope"/],
    ['no session', [], 1, /no session given, and this folder has no snapshots yet/],
    ['an id that is taken', ['--from', 's1', '--id', 's1'], 1, /session "s1" already exists/],
    ['an unknown snapshot', ['--from', 's1', '--at', 'nope'], 1, /no snapshot "nope" of "s1"/],
    ['no forks', ['--from', 's1', '--count', '0'], 2, /invalid number of forks "0"/],
  ])('refuses %s and creates nothing', (_what, args, exitCode, message) => {
    const session = makeSession();
    const outcome = agt(session.repository, 'session', 'fork', ...args);
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.stderr).toMatch(message);
    expect(JSON.parse(agtOk(session.repository, 'session', 'list', '--json'))).toHaveLength(1);
    expect(existsSync(join(session.folder, '../s2'))).toBe(false);
  });
});
