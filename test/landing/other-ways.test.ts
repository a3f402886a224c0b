/** unaccept when the branch has moved on, reject, and sync. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { withSessionLock } from '../../src/session/lock.ts';
import { openSession } from '../harness/opened.ts';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, write } from '../harness/world.ts';

let repository: string;
let sandbox: string;
beforeEach(() => {
  ({ repository, sandbox } = makeSession({ a: '1\n2\n3\n', b: 'b\n' }));
  write(join(sandbox, 'new'), 'new\n');
});

const tip = () => git(repository, 'rev-parse', 'main');

test('unaccept names the commit that the user has made of an acceptance by amends, also below others', () => {
  agtOk(repository, 'accept', 's1');
  write(join(repository, 'new'), 'newer\n');
  git(repository, 'commit', '-q', '--amend', '-am', 'My words');
  git(repository, 'commit', '-q', '--amend', '--no-edit', '--author', 'Other <other@example.com>');
  const amended = tip().slice(0, 12);
  for (const text of ['one', 'two']) git(repository, 'commit', '-q', '--allow-empty', '-m', text);
  expect(agt(repository, 'unaccept', 's1').stderr).toMatch(
    new RegExp(
      `^error: "main" has the commit \\w+ in another form, as ${amended}\nhint: .*: git revert ${amended}\n`,
    ),
  );
});

test('unaccept changes nothing if the branch has moved on, a remote has the commit, or a file is in the way', () => {
  expect(agt(repository, 'session', 'unaccept', 's1').stderr).toContain('"s1" was not accepted');
  agtOk(repository, 'accept', 's1');
  const landed = tip();
  const refused = (message: RegExp) => {
    const before = [tip(), git(repository, 'status', '--porcelain')];
    for (const how of [['--dry-run'], []]) {
      const outcome = agt(repository, 'session', 'unaccept', 's1', ...how);
      expect(outcome.stderr).toMatch(message);
      expect(outcome.exitCode).toBe(1);
    }
    expect([tip(), git(repository, 'status', '--porcelain')]).toEqual(before);
    expect(existsSync(sandbox)).toBe(false);
  };
  write(join(repository, 'new'), 'changed since\n');
  refused(/1 file in .* would be overwritten, and nothing has changed\nhint: new: not committed/);
  git(repository, 'commit', '-q', '-a', '-m', 'on top');
  refused(/"main" has newer commits\nhint: undo it by a new commit, on "main": git revert \w+\n/);
  git(repository, 'reset', '-q', '--hard', landed);
  git(makeTempDir(), 'init', '-q', '--bare', join(repository, '../origin.git'));
  git(repository, 'remote', 'add', 'origin', join(repository, '../origin.git'));
  git(repository, 'push', '-q', 'origin', 'main');
  git(repository, 'remote', 'set-head', 'origin', 'main');
  refused(/origin\/main has the commit already\nhint: undo it by a new commit/);
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  refused(/"main" does not have the commit any more\nhint: bring only the session back: agt undo s1/);
  agtOk(repository, 'undo', 's1');
  expect(readFileSync(join(sandbox, 'new'), 'utf8')).toBe('new\n');
});

test('reject leaves every branch of the user, keeps the reason, and undo brings all back', () => {
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  const work = git(sandbox, 'rev-parse', 'HEAD');
  const before = git(repository, 'for-each-ref', 'refs/heads/main');
  expect(agtOk(repository, 'reject', 's1', '--dry-run')).toContain('would reject s1');
  expect(existsSync(sandbox)).toBe(true);
  const report = JSON.parse(agtOk(sandbox, 'reject', '--reason', 'no use', '--json'));
  expect(report).toMatchObject({ session_id: 's1', state: 'rejected', reason: 'no use', dry_run: false });
  expect(git(repository, 'for-each-ref', 'refs/heads/main')).toBe(before);
  expect(git(repository, 'branch', '--list', 'agt/*')).toBe('');
  const shown = JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json'));
  expect(shown).toMatchObject({ state: 'rejected', state_reason: 'no use' });
  expect(agtOk(repository, 'reject', 's1')).toBe('s1: rejected before; bring it back: agt undo s1');
  expect(agt(repository, 'accept', 's1').exitCode).toBe(1);
  const back = agtOk(repository, 'undo', 's1');
  expect(back).toContain('now at "before reject", ');
  expect(back).toMatch(/\nto take this back: agt reject s1$/);
  expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(work);
  expect(git(sandbox, 'status', '--porcelain', '--branch')).toBe('## agt/s1\n?? new');
});

test('reject --force names the files that no snapshot has, in a dry run as well', () => {
  agtOk(repository, 'config', 'set', 'agt.maxFileSize', '1k');
  write(join(sandbox, 'large'), 'x'.repeat(5000));
  expect(agt(repository, 'reject', 's1', '-n').stderr).toContain('large');
  const end = ' with it, in no snapshot: sandbox/large$';
  for (const command of ['reject', 'remove'])
    expect(agtOk(repository, command, 's1', '--force', '-n')).toMatch(new RegExp(`\nwould delete${end}`));
  expect(agtOk(repository, 'reject', 's1', '--force')).toMatch(new RegExp(`\ndeleted${end}`));
});

test('a work branch that a worktree of the user has checked out stays', () => {
  git(sandbox, 'switch', '-q', '--detach');
  const linked = join(makeTempDir(), 'linked');
  git(repository, 'worktree', 'add', '-q', linked, 'agt/s1');
  agtOk(repository, 'reject', 's1');
  expect(git(linked, 'status', '--porcelain', '--branch')).toBe('## agt/s1');
});

test('a sync that git refuses leaves nothing behind, and no file or directory in another form', () => {
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-q', '-m', 'by the agent');
  write(join(repository, 'b'), 'by the user\n');
  git(repository, 'commit', '-q', '-a', '-m', 'by the user');
  write(join(sandbox, 'new'), 'changed\r\n');
  mkdirSync(join(sandbox, 'empty'));
  git(repository, 'config', 'branch.agt/s1.mergeoptions', '-s none-such');
  const refused = agt(repository, 'sync', 's1');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('git did not merge "main" in the sandbox of "s1"; nothing has changed');
  expect(git(sandbox, 'status', '--porcelain')).toMatch(/^ ?M new$/);
  expect(readFileSync(join(sandbox, 'new'), 'utf8')).toBe('changed\r\n');
  expect(existsSync(join(sandbox, 'empty'))).toBe(true);
  expect(existsSync(git(sandbox, 'rev-parse', '--git-path', 'AUTO_MERGE'))).toBe(false);
});

test('sync merges or rebases, and undo goes back to the snapshot before', () => {
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-q', '-m', 'by the agent');
  const before = git(sandbox, 'rev-parse', 'HEAD');
  expect(agtOk(repository, 'sync', 's1')).toBe('s1 has all commits of main');
  write(join(repository, 'b'), 'by the user\n');
  git(repository, 'commit', '-q', '-a', '-m', 'by the user');
  git(repository, 'config', 'merge.ff', 'only');
  expect(agtOk(repository, 'sync', 's1', '-n')).toBe('would merge 1 commit of main into s1');
  expect(agtOk(sandbox, 'sync')).toContain('merged 1 commit of main into s1');
  expect(git(sandbox, 'rev-list', '--parents', '-1', 'HEAD').split(' ')).toHaveLength(3);
  agtOk(repository, 'undo', 's1');
  expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(before);
  write(join(sandbox, 'b'), 'uncommitted\n');
  for (const option of ['-n', '--json']) {
    expect(agt(repository, 'sync', 's1', option, '--rebase').stderr).toMatch(
      /^error: git does not rebase the sandbox of "s1" with uncommitted changes; nothing has changed\nhint: commit b in the sandbox first: /,
    );
  }
  git(sandbox, 'commit', '-q', '-a', '-m', 'a conflict');
  for (const how of [[], ['--rebase']]) {
    const preview = agt(repository, 'sync', 's1', '-n', ...how);
    expect(preview).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: 'error: main would conflict with s1 in 1 file: b\n',
    });
  }
  expect(git(sandbox, 'status', '--porcelain', '--branch')).toBe('## agt/s1');
  write(join(repository, 'user'), 'user\n');
  git(repository, 'add', 'user');
  git(repository, 'commit', '-q', '-m', 'one more');
  write(join(sandbox, 'user'), 'agent\n');
  expect(agt(repository, 'sync', 's1', '-n').stderr).toMatch(/^error: 1 file .*\nhint: user: not tracked\n/);
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  rmSync(join(sandbox, 'user'));
  git(sandbox, 'reset', '-q', '--hard', before);
  const report = JSON.parse(agtOk(repository, 'sync', 's1', '--rebase', '--json'));
  expect(report).toMatchObject({
    session_id: 's1',
    branch: 'main',
    commits: 1,
    operation: 'rebase',
    conflicts: [],
  });
  expect(git(sandbox, 'log', '--format=%s')).toBe('by the agent\nby the user\nfirst');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'log', '--format=%s', 'main')).toBe('by the agent\nby the user\nfirst');
});

test('sync after a part goes on from the branch with a copy of the other commit, and calls it no merge', () => {
  for (const name of ['one', 'two']) {
    write(join(sandbox, name), name);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', name);
  }
  agtOk(repository, 'accept', 's1', '--include', 'one', '--keep');
  expect(agtOk(repository, 'sync', 's1', '-n')).toBe('s1 would go on from main (1 commit, accepted from s1)');
  const said = agtOk(repository, 'sync', 's1');
  const head = git(sandbox, 'rev-parse', 'HEAD').slice(0, 10);
  expect(said).toBe(`s1 goes on from main (1 commit, accepted from s1), and is at ${head}`);
  expect(git(sandbox, 'log', '--format=%s%d', 'main~1..').replace(/ \(.*/g, '')).toBe('two\none');
});

test('sync after a part of what is uncommitted says that the rest stays', () => {
  for (const name of ['one', 'two']) write(join(sandbox, name), name);
  agtOk(repository, 'accept', 's1', '--include', 'one', '--keep', '--untracked=all');
  expect(agtOk(repository, 'sync', 's1')).toMatch(/; what has not landed stays in the sandbox, uncommitted$/);
  expect(git(sandbox, 'status', '--short')).toContain('?? two');
});

test('sync after accept --keep goes on from the branch, with only the later work uncommitted', () => {
  write(join(repository, '.git/info/exclude'), '*.log\n');
  git(sandbox, 'add', 'new');
  git(sandbox, 'commit', '-q', '-m', 'by the agent');
  write(join(sandbox, 'b'), 'landed\n');
  write(join(sandbox, 'ignored.log'), 'ignored\n');
  agtOk(repository, 'accept', 's1', '--keep');
  write(join(repository, 'user'), 'user\n');
  git(repository, 'add', 'user');
  git(repository, 'commit', '-q', '-m', 'by the user');
  write(join(sandbox, 'later'), 'later\n');
  expect(agtOk(repository, 'list')).toContain('clean, accepted before');
  const unaccept = agt(repository, 'session', 'unaccept', 's1').stderr;
  expect(unaccept).toContain('"main" has newer commits');
  expect(unaccept).not.toContain('agt session undo');
  const before = git(sandbox, 'rev-parse', 'HEAD');
  const dirty = git(sandbox, 'status', '--porcelain');
  expect(agtOk(repository, 'sync', 's1', '-n')).toBe(
    's1 would go on from main (2 commits, 1 of them accepted from s1)',
  );
  const tip = git(repository, 'rev-parse', 'main').slice(0, 10);
  expect(agtOk(repository, 'sync', 's1')).toContain(
    `s1 goes on from main (2 commits, 1 of them accepted from s1), and is at ${tip}`,
  );
  expect(git(sandbox, 'status', '--porcelain', '--branch')).toBe('## agt/s1\n?? later');
  expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(git(repository, 'rev-parse', 'main'));
  expect(readFileSync(join(sandbox, 'user'), 'utf8')).toBe('user\n');
  agtOk(repository, 'undo', 's1');
  expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(before);
  expect(git(sandbox, 'status', '--porcelain')).toBe(dirty);
  // A new file of the user in the place of an ignored one.
  write(join(repository, 'ignored.log'), 'user\n');
  git(repository, 'add', '--force', 'ignored.log');
  git(repository, 'commit', '-q', '-m', 'not ignored');
  expect(agt(repository, 'sync', 's1').stderr).toMatch(
    /^error: 1 file in .* would be overwritten, and nothing has changed\nhint: ignored.log: not tracked\n/,
  );
  expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
  rmSync(join(sandbox, 'ignored.log'));
  agtOk(repository, 'sync', 's1');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'diff', '--name-only', 'main~1', 'main')).toBe('later');
});

test('after a part has landed, sync keeps the other files that the agent has committed or added tracked', () => {
  for (const name of ['one', ':(top)two', 'ignored.log']) write(join(sandbox, name), 'by the agent\n');
  write(join(repository, '.git/info/exclude'), '*.log\n');
  git(sandbox, 'add', '--force', 'one', './:(top)two', 'ignored.log');
  git(sandbox, 'commit', '-qm', 'By the agent');
  write(join(sandbox, 'a'), 'part\n');
  agtOk(repository, 'accept', 's1', '--keep', '--include', 'a');
  write(join(sandbox, 'one'), 'later\n');
  agtOk(repository, 'sync', 's1');
  expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('By the agent');
  expect(git(sandbox, 'status', '--porcelain')).toBe(' M one\n?? new');
  const { files } = JSON.parse(agtOk(repository, 'accept', 's1', '--untracked=none', '--json'));
  expect(files.map(({ path }: { path: string }) => path)).toEqual([':(top)two', 'ignored.log', 'one']);
});

test('sync takes no commit away from another branch that the agent is on', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  git(repository, 'branch', 'topic');
  git(sandbox, 'switch', '-q', 'topic');
  write(join(sandbox, 'w'), 'w\n');
  git(sandbox, 'add', 'w');
  git(sandbox, 'commit', '-q', '-m', 'on topic');
  const tip = git(repository, 'rev-parse', 'topic');
  agtOk(repository, 'accept', 's1', '--keep');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'later');
  const refused = agt(repository, 'sync', 's1', '--rebase');
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('is on "topic", and agt rebases only the work branch'),
  });
  expect(git(repository, 'rev-parse', 'topic')).toBe(tip);
  agt(repository, 'sync', 's1');
  git(repository, 'merge-base', '--is-ancestor', tip, 'topic');
});

test('accept waits for another agt that works on the session, unless --wait=0', async () => {
  const { repository: opened, record } = openSession({
    repository,
    sandbox,
    folder: join(sandbox, '..'),
    id: 's1',
  });
  const taken = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const held = withSessionLock({ repository: opened, id: record.session_id }, () => {
    taken.resolve();
    return done.promise;
  });
  await taken.promise;
  const exitCodeOf = (seconds: string) =>
    new Promise((resolve) =>
      spawn(AGT, ['accept', 's1', '--wait', seconds], { cwd: repository, stdio: 'ignore' }).on(
        'exit',
        resolve,
      ),
    );
  expect(await exitCodeOf('0')).toBe(75);
  const waiting = exitCodeOf('60');
  done.resolve();
  await held;
  expect(await waiting).toBe(0);
  expect(git(repository, 'ls-tree', '--name-only', 'main')).toContain('new');
});
