/** Ahead of a git command that can destroy work in a sandbox, the session is captured. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { destroys } from '../../src/gitmode/guard/destroys.ts';
import { identify } from '../../src/state/lock.ts';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agtOk, GIT_MODE, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { words } from '../twin/compare.ts';

const DESTROYING = `
  reset --hard | reset --h HEAD~1 | reset --merge | reset --keep HEAD~1 | clean -fd | clean -fdx | clean -fe n
  checkout . | checkout main | checkout -f | checkout -- a | checkout -b x main | checkout -B x | switch main
  switch -c x main | switch -C x | switch --discard-changes main | restore a | restore -SW a | restore --staged --worktree a
  stash | stash -u | stash push | stash drop | stash drop stash@{1} | stash clear | stash pop
  branch -D x | branch -f x HEAD~1 | branch --delete --force x | branch -M x | branch -qD x
  rebase main | rebase -i main | rebase --abort | rebase --skip | rebase --continue | cherry-pick --continue | am --continue | merge x | merge --abort | pull | pull --rebase
  cherry-pick x | cherry-pick --abort | revert HEAD | am --abort | rm a | rm -r d | rm -f a | worktree remove ../x
  filter-branch --tree-filter true | gc --prune=now | gc --pr=all | prune | reflog expire --all | reflog delete HEAD@{0}
  update-ref -d refs/heads/x | update-ref --stdin | stash branch x | stash apply | mv -f a b | mv -vf a b | mv --for a b
  checkout-index -f a | checkout-index -af | read-tree -u --reset x | read-tree -mu x | sparse-checkout set d
  submodule update | submodule --quiet deinit -f x | bisect start | bisect good | bisect reset | tag -d x | tag -f x`;
const HARMLESS = `
  reset | reset a | reset --soft HEAD~1 | clean -n | clean -nfd | clean -fdn | clean --dry-run | checkout -b x
  checkout -q -b x | switch -c x | switch --create x | restore --staged a | restore -S a | stash list | stash show
  branch | branch x | branch -d x | branch -m x | branch -u origin/main
  rebase --quit | merge --continue | rm --cached a | rm -n a | worktree list | worktree add ../y
  gc | gc --auto | reflog | update-ref refs/heads/x HEAD | status | add . | commit -m x | fetch | push | reset -h
  mv a b | mv -nf a b | checkout-index a | read-tree x | read-tree -m x | read-tree -mun x | sparse-checkout list
  submodule status | submodule add x | bisect log | tag x | tag -l | tag -m f x | tag`;
const table = (text: string) =>
  text
    .split(/\||\n/)
    .map((line) => line.trim())
    .filter(Boolean);

describe('what can destroy work', () => {
  const judge = (line: string) => {
    const [command = '', ...args] = words(line);
    return destroys({ globals: [], command, args, disabled: false });
  };
  test.each(table(DESTROYING))('%s: yes', (line) => void expect(judge(line)).toBe(true));
  test.each(table(HARMLESS))('%s: no', (line) => void expect(judge(line)).toBe(false));
});

let shim: string;
beforeAll(() => {
  const dir = makeTempDir('shim');
  const env = { PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}`, AGT_GIT_PATH: undefined };
  expect(run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env }).exitCode).toBe(0);
  shim = join(dir, 'git');
});

/** A sandbox with a commit of its own on top of main, a stash, a branch `x`, ignored and untracked files. */
function working(): TestSession {
  const session = makeSession({ a: 'a\n', 'd/b': 'b\n', '.gitignore': '*.o\n' });
  const put = (path: string, text: string) => writeFileSync(join(session.sandbox, path), text);
  git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  git(session.sandbox, 'branch', 'x');
  put('a', 'stashed\n');
  git(session.sandbox, 'stash');
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

  test.each([
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
  ])('git %s: the work is captured, and undo brings it back', (line) => {
    const session = working();
    const twin = working();
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

  test.each([
    ['stash drop', 'stash@{0}'],
    ['stash clear', 'stash@{0}'],
    ['tag -d only', 'only'],
    ['branch -D x', 'x'],
    ['update-ref -d refs/heads/x', 'x'],
  ])('git %s: the commit stays reachable', (line, name) => {
    const session = working();
    git(session.sandbox, 'switch', '-q', 'x');
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'only on x');
    git(session.sandbox, 'tag', 'only');
    git(session.sandbox, 'switch', '-q', 'agt/s1');
    const commit = git(session.sandbox, 'rev-parse', name);
    const outcome = call(session, line);
    expect([outcome.exitCode, outcome.stderr]).toEqual([0, '']);
    git(session.repository, 'merge-base', '--is-ancestor', commit, 'agtsessions/s1');
  });

  test('an alias is seen through; what fails in git was captured all the same', () => {
    const session = working();
    git(session.repository, 'config', 'alias.nuke', 'reset --hard');
    expect(call(session, 'nuke').exitCode).toBe(0);
    expect(subject(session)).toBe('before git reset --hard');
    writeFileSync(join(session.sandbox, 'a'), 'again\n');
    expect(call(session, 'checkout no-such-thing').exitCode).toBe(1);
    expect(subject(session)).toBe('before git checkout no-such-thing');
  });

  test('from below the sandbox, and by -C', () => {
    const session = working();
    expect(
      run(program(), ['reset', '--hard'], { cwd: join(session.sandbox, 'd'), env: env() }).exitCode,
    ).toBe(0);
    expect(subject(session)).toBe('before git reset --hard');
    writeFileSync(join(session.sandbox, 'a'), 'again\n');
    run(program(), ['-C', session.sandbox, 'checkout', '.'], { cwd: '/', env: env() });
    expect(subject(session)).toBe(`before git checkout .`);
  });

  test('nothing changed: no state for the label alone', () => {
    const session = working();
    agtOk(session.repository, 'autocommit', '--session-id', 's1');
    const tip = git(session.repository, 'rev-parse', 'agtsessions/s1');
    expect(call(session, 'checkout main~0 -- a').exitCode).toBe(0);
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(tip);
  });

  test('not outside a sandbox, not for harmless commands, not with agt.guard=false', () => {
    const session = working();
    const tip = git(session.repository, 'rev-parse', 'agtsessions/s1');
    run(program(), ['reset', '--hard'], { cwd: session.repository, env: env() });
    call(session, 'stash list');
    call(session, 'reset -q --soft HEAD');
    agtOk(session.repository, 'config', 'set', 'agt.guard', 'false');
    call(session, 'reset --hard');
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(tip);
    expect(existsSync(join(session.sandbox, 'new'))).toBe(true);
  });

  test('a sandbox that git removes is captured too', () => {
    const session = working();
    const { sandbox } = JSON.parse(agtOk(session.repository, 'session', 'new', '--id', 's2', '--json'));
    writeFileSync(join(sandbox, 'b'), 'work\n');
    expect(call(session, `worktree remove --force ${sandbox}`).exitCode).toBe(0);
    expect(git(session.repository, 'log', '-1', '--format=%s', 'agtsessions/s2')).toMatch(
      /^before git worktree/,
    );
  });

  test('a session that is being captured is waited for', async () => {
    const session = working();
    const lock = join(session.repository, '.git/agt/locks/s1');
    const holder = spawn('sh', ['-c', 'sleep 1; rm "$0"', lock], { stdio: 'ignore' });
    write(lock, JSON.stringify(identify(holder.pid as number)));
    const ended = new Promise((resolve) => holder.on('exit', resolve));
    const outcome = call(session, 'reset --hard');
    await ended;
    expect(outcome.stderr).toBe('');
    expect(subject(session)).toBe('before git reset --hard');
  });

  test('a guard that fails warns in one line, and git goes on', () => {
    const session = working();
    git(session.repository, 'update-ref', '-d', 'refs/agt/tip/s1');
    const outcome = call(session, 'reset --hard');
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stderr).toMatch(/^warning: agt: work was not captured before this: [^\n]+\n$/);
    expect(outcome.stdout).toMatch(/^HEAD is now at /);
  });
});
