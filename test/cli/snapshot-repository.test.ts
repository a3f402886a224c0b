/** A repository that is gone, or another one, comes back to a checkout without a session. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { makeCheckout, sh, stateOf } from './checkouts.ts';

test('the kept repository takes no space; what no snapshot needs goes when git has packed again', () => {
  const folder = makeCheckout();
  write(join(folder, 'large'), randomBytes(11 << 20));
  git(folder, 'add', 'large');
  git(folder, 'commit', '-qm', 'large');
  git(folder, 'gc', '-q');
  agtOk(folder, 'snapshot');
  const all = join(JSON.parse(agtOk(folder, 'snapshot', 'status', '--json')).store, 'agt/kept');
  const kept = join(all, readdirSync(all)[0] ?? '');
  const [pack = ''] = readdirSync(join(kept, 'objects/pack'));
  const inode = (objects: string) => statSync(join(objects, 'pack', pack)).ino;
  expect(inode(join(kept, 'objects'))).toBe(inode(join(folder, '.git/objects')));
  expect(existsSync(join(kept, 'index'))).toBe(true);
  const packs = () => readdirSync(join(kept, 'objects/pack')).filter((name) => name.endsWith('.pack'));
  const before = stateOf(folder);
  write(join(folder, 'more'), 'more\n');
  git(folder, 'add', 'more');
  sh(
    folder,
    'git commit -qm more; git branch -qD topic; git stash clear; git reflog expire --expire=now --all',
  );
  git(folder, 'gc', '-q', '--prune=now');
  agtOk(folder, 'snapshot');
  expect(packs()).toHaveLength(2);
  agtOk(folder, 'gc', '--folders');
  const sizes = packs().map((name) => statSync(join(kept, 'objects/pack', name)));
  expect(sizes.filter(({ size }) => size > 1 << 20)).toHaveLength(1);
  expect(sizes.find(({ size }) => size > 1 << 20)?.nlink).toBe(2);
  agtOk(folder, 'undo');
  expect(stateOf(folder)).toBe(before);
});

test('a store on another file system keeps copies', ({ skip }) => {
  const folder = makeCheckout();
  const state = makeTempDir('state');
  if (run('mount', ['-t', 'tmpfs', 'tmpfs', state], { cwd: '/' }).exitCode !== 0)
    skip('only root can mount a file system');
  try {
    const env = { XDG_STATE_HOME: state };
    const before = stateOf(folder);
    expect(run(AGT, ['snapshot'], { cwd: folder, env }).exitCode).toBe(0);
    rmSync(join(folder, '.git'), { recursive: true });
    expect(run(AGT, ['undo'], { cwd: folder, env }).stderr).toContain('is back');
    expect(stateOf(folder)).toBe(before);
  } finally {
    run('umount', ['--lazy', state], { cwd: '/' });
  }
});

test('a repository inside of a folder comes back with its .git', () => {
  const folder = makeTempDir('work');
  write(join(folder, 'notes'), 'n\n');
  git(folder, 'init', '-q', 'inner repo');
  const inner = join(folder, 'inner repo');
  write(join(inner, 'a'), 'a\n');
  sh(inner, 'git add a; git commit -qm a; echo b >a; git stash -q; echo c >a');
  const before = stateOf(inner);
  agtOk(folder, 'snapshot');
  rmSync(inner, { recursive: true });
  expect(agt(folder, 'undo').stderr).toContain(`is back: ${inner}/.git`);
  expect(stateOf(inner)).toBe(before);
});

test.each([false, true])(
  'status and a dry run tell that the repository is gone; after an agent: %s',
  (hasAgent) => {
    const folder = makeCheckout();
    agtOk(folder, 'snapshot');
    const agent = agentIn(folder, 'claude-code', 'c-1');
    if (hasAgent) agent.says('go on');
    if (hasAgent) agent.begins('1');
    write(join(folder, 'a'), 'agent\n');
    if (hasAgent) agent.ends('1');
    else agtOk(folder, 'snapshot');
    if (hasAgent) agent.stops();
    rmSync(join(folder, '.git'), { recursive: true });
    for (const words of [['snapshot', 'status'], ['status']])
      expect(agtOk(folder, ...words)).toMatch(
        /^changed +no file since\n +its git repository is gone; to bring it back: agt .*$/m,
      );
    const back = `the repository is gone, and comes back: ${join(folder, '.git')}\n`;
    const shown = agt(folder, 'undo', '-n');
    expect(shown.stderr).toContain(back);
    expect(shown.stdout).toContain('would restore the repository');
    expect(agtOk(folder, 'undo')).toContain('restored the repository, verified');
    expect(git(folder, 'status', '--porcelain')).toContain(' M a');
  },
);

test('after rm -rf .git and git init, the old repository comes back whole, and the new one too', () => {
  const folder = makeCheckout();
  git(folder, 'remote', 'add', 'origin', 'https://example.com/x');
  agtOk(folder, 'new', 's1');
  const tell = () => [
    stateOf(folder),
    git(folder, 'config', '--list', '--local'),
    run(AGT, ['list', '--all', '--json'], { cwd: folder }).stdout.replace(/"(age|last_activity)[^,]*,/g, ''),
  ];
  agtOk(folder, 'snapshot');
  const before = tell();
  sh(folder, 'rm -rf .git; git init -q; git config x.y z; git add a; git commit -qm new');
  const other = tell();
  const undo = agt(folder, 'undo');
  expect(undo.stderr).toContain('takes the place of another one');
  expect(undo.exitCode).toBe(0);
  expect(tell()).toEqual(before);
  agtOk(folder, 'redo');
  expect(tell().slice(0, 2)).toEqual(other.slice(0, 2));
  agtOk(folder, 'undo');
  expect(tell()).toEqual(before);
  expect(readdirSync(folder).filter((name) => name.startsWith('.git'))).toEqual(['.git']);
});

test.each([false, true])(
  'no undo replaces the repository of a folder that was made anew (captured: %s)',
  (seen) => {
    const folder = makeCheckout();
    const before = stateOf(folder);
    agtOk(folder, 'snapshot');
    rmSync(folder, { recursive: true });
    git(makeTempDir(), 'init', '-q', folder);
    write(join(folder, 'n'), 'new\n');
    sh(folder, 'git add n; git commit -qm new');
    const after = stateOf(folder);
    if (seen) agtOk(folder, 'snapshot');
    for (const args of [['undo', '-n'], ['undo']]) {
      const { stderr, exitCode } = agt(folder, ...args);
      expect([stderr, exitCode]).toEqual([expect.stringContaining('made anew with another repository'), 1]);
      expect(stateOf(folder)).toBe(after);
    }
    const [, snapshot = ''] = /agt snapshot restore (\w+)/.exec(agt(folder, 'undo').stderr) ?? [];
    expect(agt(folder, 'restore', snapshot, '-n').stderr).toContain('takes the place of another one');
    agtOk(folder, 'restore', snapshot);
    expect(stateOf(folder)).toBe(before);
    agtOk(folder, 'undo');
    expect(stateOf(folder)).toBe(after);
    agtOk(folder, 'redo');
    expect(stateOf(folder)).toBe(before);
  },
);

test('after more snapshots without the repository, the advice brings it back, and changes no file', () => {
  const folder = makeCheckout();
  const before = stateOf(folder);
  agtOk(folder, 'snapshot');
  rmSync(join(folder, '.git'), { recursive: true });
  write(join(folder, 'a'), 'edited\n');
  for (const text of ['one\n', 'two\n']) {
    write(join(folder, 'late'), text);
    expect(agt(folder, 'snapshot').stderr).toContain('to bring it back: agt restore @');
  }
  expect(agt(folder, 'restore', '@').stderr).toContain('is back');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('edited\n');
  expect(readFileSync(join(folder, 'late'), 'utf8')).toBe('two\n');
  expect(git(folder, 'for-each-ref')).toBe(before.split('\n--\n')[1]?.trimEnd());
});

test('sessions come back with what they have done since something changed in the folder', () => {
  const folder = makeCheckout();
  agtOk(folder, 'snapshot');
  agtOk(folder, 'new', 's1');
  const { sandbox } = sessionOf(folder, 's1');
  write(join(sandbox, 'work'), 'committed\n');
  git(sandbox, 'add', 'work');
  git(sandbox, 'commit', '-qm', 'by the agent');
  write(join(sandbox, 'work'), 'later\n');
  agtOk(folder, 'autocommit', 's1', '--label', 'later work');
  expect(agtOk(folder, 'snapshot')).toMatch(/nothing changed/);
  const [commit, log] = [git(sandbox, 'rev-parse', 'HEAD'), agtOk(folder, 'log', 's1', '--json')];
  rmSync(join(folder, '.git'), { recursive: true });
  agtOk(folder, 'undo');
  expect(git(folder, 'rev-parse', 'agt/s1')).toBe(commit);
  expect(agtOk(folder, 'log', 's1', '--json')).toBe(log);
  rmSync(sandbox, { recursive: true });
  agtOk(folder, 'restore', 's1', 'later work');
  expect(readFileSync(join(sandbox, 'work'), 'utf8')).toBe('later\n');
  expect(agtOk(folder, 'doctor')).toContain('nothing is wrong');
});

test('worktree remove --force: the worktree is back, with its index and its HEAD', () => {
  const main = makeCheckout();
  const linked = join(makeTempDir(), 'linked');
  git(main, 'worktree', 'add', '-q', linked, 'topic');
  write(join(linked, 'edited'), 'x\n');
  git(linked, 'add', 'edited');
  const state = stateOf(linked);
  agtOk(linked, 'snapshot');
  git(main, 'worktree', 'remove', '--force', linked);
  mkdirSync(linked);
  agtOk(linked, 'restore', '@');
  expect(stateOf(linked)).toBe(state);
  expect(git(main, 'worktree', 'list')).toContain(`${linked} `);
});

test('a copy of the repository at the same place is the same one: new settings and branches stay', () => {
  const folder = makeCheckout();
  agtOk(folder, 'snapshot');
  sh(folder, 'cp -a .git copy; rm -rf .git; mv copy .git; git config x.y z; git branch later');
  agtOk(folder, 'snapshot');
  sh(folder, 'echo more >a');
  agtOk(folder, 'snapshot');
  agtOk(folder, 'undo');
  expect(git(folder, 'config', 'x.y')).toBe('z');
  expect(git(folder, 'branch', '--list', 'later')).toContain('later');
  agtOk(folder, 'undo');
  expect(git(folder, 'config', 'x.y')).toBe('z');
  expect(git(folder, 'branch', '--list', 'later')).toBe('');
});

test('packed commits come back after git gc, also where the last snapshot was made after it', () => {
  const folder = makeCheckout();
  // The store skips directories of objects whose times it knows.
  const gc = 'git gc -q --prune=now; touch -d "1 minute ago" .git/objects/pack';
  sh(folder, `git commit -q --allow-empty -m x; git branch -f topic; git reset -q --soft HEAD~1; ${gc}`);
  const before = stateOf(folder);
  agtOk(folder, 'snapshot');
  sh(folder, `git branch -qD topic; git reflog expire --expire=now --all; ${gc}`);
  agtOk(folder, 'snapshot');
  agtOk(folder, 'undo');
  expect(stateOf(folder).split('\n--\n').slice(0, 2)).toEqual(before.split('\n--\n').slice(0, 2));
});

test('a file named HEAD, refs and files of git with odd names', () => {
  const folder = makeCheckout();
  write(join(folder, 'HEAD'), 'mine\n');
  sh(
    folder,
    'git branch "fünf/x"; git tag "x\'y\\"z"; git update-ref "$(printf \'refs/heads/caf\\351\')" HEAD',
  );
  sh(folder, 'printf x >"$(printf \'.git/hooks/caf\\351\')"; ln -s nowhere .git/hooks/link');
  const all = () => git(folder, 'for-each-ref') + run('ls', ['-b', '.git/hooks'], { cwd: folder }).stdout;
  const before = all();
  agtOk(folder, 'snapshot');
  rmSync(join(folder, '.git'), { recursive: true });
  agtOk(folder, 'undo');
  expect(all()).toBe(before);
});

test('on a full disk the snapshot is made, agt says what it could not keep, and claims nothing later', ({
  skip,
}) => {
  const folder = makeCheckout();
  write(join(folder, 'large'), randomBytes(2_500_000));
  sh(folder, 'git add large; git commit -qm large');
  const state = makeTempDir('state');
  if (run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', state], { cwd: '/' }).exitCode !== 0)
    skip('only root can mount a file system');
  try {
    const outside = (...words: string[]) => run(AGT, words, { cwd: folder, env: { XDG_STATE_HOME: state } });
    const taken = outside('snapshot');
    expect(taken.stderr).toMatch(/could not keep the repository: .*no space left/i);
    expect(taken.exitCode).toBe(0);
    sh(folder, 'git tag after');
    rmSync(join(folder, 'a'));
    expect(outside('undo').exitCode).toBe(0);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('3\n');
    rmSync(join(folder, '.git'), { recursive: true });
    run('mount', ['-o', 'remount,size=20m', state], { cwd: '/' });
    expect(outside('undo').stderr).toContain('there is no repository');
    expect(existsSync(join(folder, '.git'))).toBe(false);
  } finally {
    run('umount', ['--lazy', state], { cwd: '/' });
  }
});

test('an undo in the checkout after an acceptance names the command that takes that back', () => {
  const folder = makeCheckout();
  agtOk(folder, 'snapshot');
  const { sandbox } = JSON.parse(agtOk(folder, 'session', 'new', 's1', '--json'));
  write(join(sandbox, 'by-the-agent'), 'new\n');
  agtOk(folder, 'accept', 's1', '--untracked=all', '-m', 'Work');
  const note = ': the acceptance of "s1" stays; to take it back: agt unaccept s1\n';
  expect(agt(folder, 'undo', '-n').stderr).toContain(note);
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'more');
  expect(agt(folder, 'undo', '-n').stderr).not.toContain('unaccept');
});

test('agt status names no branch on which an agent has only committed before it switched to another one', () => {
  const folder = makeRepository({ a: 'a\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('go on');
  agent.begins('1');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'work');
  git(folder, 'switch', '-qc', 'topic');
  agent.ends('1');
  agent.begins('2');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'more');
  agent.ends('2');
  expect(JSON.parse(agtOk(folder, 'status', '--json')).folder.moved_branches).toEqual([]);
});
