/** The guard captures the session before a git command that can destroy work in its sandbox. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { identify } from '../../../src/disk/lock-owner.ts';
import { copyOf, makeSession, newSession, type TestSession } from '../../harness/session.ts';
import { ofToday } from '../../harness/today.ts';
import { AGT, agtOk, GIT_MODE, git, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';
import { words } from '../../twin/compare.ts';

let shim: string;
beforeAll(() => {
  const dir = makeTempDir('shim');
  const env = { PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}`, AGT_GIT_PATH: undefined };
  expect(run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env }).exitCode).toBe(0);
  shim = join(dir, 'git');
});

/** Its sandbox has a commit on top of main, a stash, a branch `x`, and untracked and ignored files. */
const sessionWithWork = () => copyOf('with-work', makeWork);

function makeWork(): TestSession {
  const session = newSession({ a: 'a\n', 'd/b': 'b\n', '.gitignore': '*.o\n' });
  const put = (path: string, text: string) => writeFileSync(join(session.sandbox, path), text);
  git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  git(session.sandbox, 'branch', 'x');
  put('a', 'stashed\n');
  expect(run(GIT_MODE, ['stash', '-q'], { cwd: session.sandbox }).exitCode).toBe(0);
  put('a', 'work\n');
  put('new', 'untracked\n');
  put('x.o', 'ignored\n');
  return session;
}

const subject = ({ repository }: TestSession) =>
  git(repository, 'log', '-1', '--format=%s', 'agtsessions/s1');

describe.each([
  ['the executable', () => GIT_MODE],
  ['the shim', () => shim],
])('through %s', (_, program) => {
  const env = () => ({ PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}`, AGT_GIT_PATH: undefined });
  const call = (session: TestSession, line: string, more = {}) =>
    run(program(), words(line), { cwd: session.sandbox, env: { ...env(), ...more } });

  test.each(
    ofToday([
      'reset --hard HEAD~1',
      'clean -fdx',
      'checkout -- a',
      'checkout -f main~0',
      'switch --discard-changes --detach main',
      'restore a',
      'stash',
      'mv -f d/b a',
      'checkout-index -f a',
      'read-tree --reset -u HEAD',
      'rm -rf a d',
    ]),
  )('git %s: the guard captures the work, and agt session undo brings it back', (line) => {
    const session = sessionWithWork();
    const twin = sessionWithWork();
    const outcome = call(session, line);
    const real = run(REAL_GIT, words(line), { cwd: twin.sandbox });
    const same = (text: string) => text.replaceAll(/\b[0-9a-f]{7,}\b/g, 'OID');
    expect({ ...outcome, stdout: same(outcome.stdout), stderr: same(outcome.stderr) }).toEqual({
      ...real,
      stdout: same(real.stdout),
      stderr: same(real.stderr),
    });
    expect(subject(session)).toBe(`before git ${line}`);
    agtOk(session.sandbox, 'session', 'undo');
    const read = (path: string) => readFileSync(join(session.sandbox, path), 'utf8');
    expect([read('a'), read('new'), read('x.o'), read('d/b')]).toEqual([
      'work\n',
      'untracked\n',
      'ignored\n',
      'b\n',
    ]);
    expect(git(session.sandbox, 'log', '-1', '--format=%s')).toBe('by the agent');
  });

  test.each(
    ofToday([
      ['stash drop', 'refs/worktree/stash@{0}'],
      ['stash clear', 'refs/worktree/stash@{0}'],
      ['tag -d only', 'only'],
      ['branch -D x', 'x'],
      ['update-ref -d refs/heads/x', 'x'],
      ['checkout -q -B x main', 'x'],
      ['switch -q -C x main', 'x'],
      ['stash pop -q', 'refs/worktree/stash@{0}'],
    ]),
  )('git %s: the commit that loses its ref stays reachable', (line, name) => {
    const session = sessionWithWork();
    git(session.sandbox, 'switch', '-q', 'x');
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'only on x');
    git(session.sandbox, 'tag', 'only');
    git(session.sandbox, 'switch', '-q', 'agt/s1');
    if (line.startsWith('stash pop')) git(session.sandbox, 'checkout', '-q', '--', 'a');
    const commit = git(session.sandbox, 'rev-parse', name);
    const outcome = call(session, line);
    expect([outcome.exitCode, outcome.stderr]).toEqual([0, '']);
    git(session.repository, 'merge-base', '--is-ancestor', commit, 'agtsessions/s1');
  });

  test('an alias counts as the command that it stands for; a command that git refuses is captured too', () => {
    const session = sessionWithWork();
    git(session.repository, 'config', 'alias.nuke', 'reset --hard');
    expect(call(session, 'nuke').exitCode).toBe(0);
    expect(subject(session)).toBe('before git reset --hard');
    writeFileSync(join(session.sandbox, 'a'), 'again\n');
    expect(call(session, 'checkout no-such-thing').exitCode).toBe(1);
    expect(subject(session)).toBe('before git checkout no-such-thing');
  });

  test('an alias for a script of git or for the shell, which calls the real git, is captured too', () => {
    const session = sessionWithWork();
    git(session.repository, 'config', 'alias.rewrite', 'filter-branch --msg-filter cat');
    git(session.repository, 'config', 'alias.wipe', '!git reset -q --hard; git clean -q');
    call(session, 'rewrite');
    expect(subject(session)).toBe('before git filter-branch --msg-filter cat');
    writeFileSync(join(session.sandbox, 'a'), 'again\n');
    expect(call(session, 'wipe -fd').exitCode).toBe(0);
    expect(subject(session)).toBe('before git ! git reset -q --hard; git clean -q -fd');
    expect(existsSync(join(session.sandbox, 'new'))).toBe(false);
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/new')).toBe('untracked');
  });

  test('the sandbox is found from a subdirectory and with -C', () => {
    const session = sessionWithWork();
    expect(
      run(program(), ['reset', '--hard'], { cwd: join(session.sandbox, 'd'), env: env() }).exitCode,
    ).toBe(0);
    expect(subject(session)).toBe('before git reset --hard');
    writeFileSync(join(session.sandbox, 'a'), 'again\n');
    run(program(), ['-C', session.sandbox, 'checkout', '.'], { cwd: '/', env: env() });
    expect(subject(session)).toBe(`before git checkout .`);
  });

  test('without a change there is no new snapshot', () => {
    const session = sessionWithWork();
    agtOk(session.repository, 'autocommit', '--session-id', 's1');
    const tip = git(session.repository, 'rev-parse', 'agtsessions/s1');
    expect(call(session, 'checkout main~0 -- a').exitCode).toBe(0);
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(tip);
  });

  test('nothing is captured outside a sandbox, for a harmless command, or with agt.guard=false', () => {
    const session = sessionWithWork();
    const tip = git(session.repository, 'rev-parse', 'agtsessions/s1');
    run(program(), ['reset', '--hard'], { cwd: session.repository, env: env() });
    call(session, 'stash list');
    call(session, 'reset -q');
    agtOk(session.repository, 'config', 'set', 'agt.guard', 'false');
    call(session, 'reset --hard');
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(tip);
    expect(existsSync(join(session.sandbox, 'new'))).toBe(true);
  });

  test('git worktree remove: the sandbox that git removes is captured', () => {
    const session = sessionWithWork();
    const { sandbox } = JSON.parse(agtOk(session.repository, 'session', 'new', '--id', 's2', '--json'));
    writeFileSync(join(sandbox, 'b'), 'work\n');
    expect(call(session, `worktree remove --force ${sandbox}`).exitCode).toBe(0);
    expect(git(session.repository, 'log', '-1', '--format=%s', 'agtsessions/s2')).toMatch(
      /^before git worktree/,
    );
  });

  test('the guard waits for another autocommit of the session', async () => {
    const session = sessionWithWork();
    const lock = join(session.repository, '.git/agt/locks/s1');
    const holder = spawn('sh', ['-c', 'sleep 1; rm "$0"', lock], { stdio: 'ignore' });
    write(lock, JSON.stringify(identify(holder.pid as number)));
    const ended = new Promise((resolve) => holder.on('exit', resolve));
    const outcome = call(session, 'reset --hard');
    await ended;
    expect(outcome.stderr).toBe('');
    expect(subject(session)).toBe('before git reset --hard');
  });

  test('when the guard fails, it prints one warning, and git runs', () => {
    const session = sessionWithWork();
    // A directory of this name is no lock of a killed git.
    mkdirSync(join(session.repository, '.git/refs/agt/tip/s1.lock'));
    const outcome = call(session, 'reset --hard');
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stderr).toMatch(
      /^warning: agt: the session was not captured before this command: [^\n]+\n$/,
    );
    expect(outcome.stdout).toMatch(/^HEAD is now at /);
  });
});

/**
 * git overwrites and removes ignored files without a warning. The branch `other`, one commit after main, tracks x.o; in
 * the sandbox x.o is ignored. `d/x.o` is ignored on every branch.
 */
describe('the guard captures an ignored file before', () => {
  const sessionWithIgnoredFiles = () =>
    copyOf('with-ignored-files', () => {
      const session = makeSession({ a: 'a\n', 'd/b': 'b\n', '.gitignore': '*.o\n' });
      const { sandbox } = session;
      const setUp = `
      git checkout -q -b other; echo theirs >x.o; git add -f x.o; git commit -q -m 'adds x.o'
      git rm -q x.o; git commit -q -m 'removes x.o'; git branch removed; git reset -q --hard HEAD^
      git checkout -q agt/s1; echo mine >c; git add c; git commit -q -m mine
      echo precious >x.o; echo precious >d/x.o`;
      expect(run('sh', ['-euc', setUp], { cwd: sandbox }).stderr).toBe('');
      return session;
    });

  test.each(
    ofToday([
      ['merge -q other', 'x.o'],
      ['pull -q --no-rebase . other', 'x.o'],
      ['rebase -q other', 'x.o'],
      ['cherry-pick other', 'x.o'],
      ['revert --no-edit removed', 'x.o'],
      ['bisect start removed main', 'x.o'],
      ['sparse-checkout set nothing', 'd/x.o'],
    ]),
  )('git %s', (line, path) => {
    const session = sessionWithIgnoredFiles();
    const outcome = run(GIT_MODE, words(line), { cwd: session.sandbox });
    expect([outcome.exitCode, outcome.stderr.includes('warning: agt')]).toEqual([0, false]);
    const now = join(session.sandbox, path);
    expect(existsSync(now) ? readFileSync(now, 'utf8') : 'gone').not.toBe('precious\n');
    expect(git(session.repository, 'show', `agtsessions/s1:sandbox/${path}`)).toBe('precious');
  });

  test.each(ofToday(['submodule deinit -q -f sub', 'submodule update -q --force']))('git %s', (line) => {
    const library = makeSession({ file: 'library\n' }).repository;
    const session = sessionWithIgnoredFiles();
    const allow = ['-c', 'protocol.file.allow=always'];
    git(session.sandbox, ...allow, 'submodule', '--quiet', 'add', library, 'sub');
    write(join(session.sandbox, 'sub/file'), 'precious\n');
    expect(run(GIT_MODE, words(line), { cwd: session.sandbox }).exitCode).toBe(0);
    const now = join(session.sandbox, 'sub/file');
    expect(existsSync(now) ? readFileSync(now, 'utf8') : 'gone').not.toBe('precious\n');
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/sub/file')).toBe('precious');
  });

  test.each(
    ofToday([
      'reflog expire --expire=now --expire-unreachable=now --all',
      'gc -q --prune=now',
      'prune --expire=now',
    ]),
  )('git %s: commits that are only in reflogs stay reachable', (line) => {
    const session = sessionWithIgnoredFiles();
    const replaced = git(session.sandbox, 'rev-parse', 'HEAD');
    git(session.sandbox, 'commit', '-q', '--amend', '-m', 'another');
    expect(run(GIT_MODE, words(line), { cwd: session.sandbox })).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
    git(session.sandbox, 'reflog', 'expire', '--expire=now', '--expire-unreachable=now', '--all');
    git(session.sandbox, 'gc', '-q', '--prune=now');
    git(session.repository, 'merge-base', '--is-ancestor', replaced, 'agtsessions/s1');
  });

  test('git am --abort: a resolved conflict', () => {
    const session = sessionWithIgnoredFiles();
    const { sandbox } = session;
    const patch = `
      git checkout -q -b patch main; echo patched >a; git commit -q -am patched; git format-patch -q -1 --stdout >../patch
      git checkout -q agt/s1; echo own >a; git commit -q -am own; ! git am -3 -q ../patch >/dev/null 2>&1; echo solved >a`;
    expect(run('sh', ['-euc', patch], { cwd: sandbox }).stderr).toBe('');
    expect(run(GIT_MODE, ['am', '--abort'], { cwd: sandbox }).exitCode).toBe(0);
    expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('own\n');
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/a')).toBe('solved');
  });
});

test('the guard names a repository in the sandbox that a command can delete, and no other', () => {
  const { sandbox } = makeSession({ a: 'a\n' });
  const setUp = `
    git checkout -q -b other; echo theirs >tool; git add tool; git commit -q -m 'a file'; git checkout -q agt/s1
    git init -q tool; echo n >tool/n; git -C tool add n; git -C tool commit -q -m 'only here'`;
  expect(run('sh', ['-euc', setUp], { cwd: sandbox }).stderr).toBe('');
  const warning =
    /^warning: agt: this command can delete the repository tool, and no snapshot holds its commits$/m;
  const stderrOf = (line: string) => run(GIT_MODE, words(line), { cwd: sandbox }).stderr;
  for (const line of ['clean -fdx', 'reset --hard HEAD', 'restore a', 'checkout -q -f agt/s1'])
    expect(stderrOf(line)).toBe('');
  expect(existsSync(join(sandbox, 'tool/.git'))).toBe(true);
  for (const line of ['checkout -q other', 'clean -f -d -f']) expect(stderrOf(line)).toMatch(warning);
  expect(existsSync(join(sandbox, 'tool'))).toBe(false);
});
