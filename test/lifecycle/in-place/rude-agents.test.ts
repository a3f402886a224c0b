/** Agents that damage or replace what belongs to git, and a branch that moves on: the user's side comes back, or is named. */
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, write } from '../../harness/world.ts';
import { begin, busyCheckout, killedAt, look } from './checkout.ts';

function makeOrigin(): string {
  const origin = makeTempDir();
  git(origin, 'init', '-q', '-b', 'main');
  write(join(origin, 'x'), 'x\n');
  git(origin, 'add', '.');
  git(origin, 'commit', '-q', '-m', 'origin');
  return origin;
}

/** A commit on main that another worktree makes. */
function land(repository: string, files: Readonly<Record<string, string>>): void {
  const other = join(makeTempDir(), 'other');
  git(repository, 'worktree', 'add', '-q', other, 'main');
  for (const [path, text] of Object.entries(files)) write(join(other, path), text);
  git(other, 'add', '-f', '.');
  git(other, 'commit', '-q', '-m', 'landed');
  git(repository, 'worktree', 'remove', '--force', other);
}

test.each<[string, (index: string) => void]>([
  ['garbage', (index) => writeFileSync(index, 'garbage\n')],
  ['no bytes', (index) => writeFileSync(index, '')],
  ['half of it', (index) => writeFileSync(index, readFileSync(index).subarray(0, 100))],
  [
    'a directory',
    (index) => {
      rmSync(index);
      mkdirSync(index);
      writeFileSync(join(index, 'file'), 'file\n');
    },
  ],
])('an index that the agent damages, with %s, stops no end', (_, damage) => {
  const repository = busyCheckout();
  const before = look(repository);
  begin(repository);
  write(join(repository, 'agent'), 'agent\n');
  damage(join(repository, '.git/index'));
  const refused = agt(repository, 'accept', 's1');
  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr).toMatch(/the index of the sandbox of "s1" is (damaged|no regular file)/);
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
  begin(repository, 's2');
  write(join(repository, 'agent'), 'agent\n');
  damage(join(repository, '.git/index'));
  agtOk(repository, 'autocommit', 's2');
  agtOk(repository, 'session', 'restore', 's2', '--to', '@');
  agtOk(repository, 'accept', 's2', '--untracked=all');
  expect(git(repository, 'show', 'main:agent')).toBe('agent');
  expect(look(repository).status).toBe(before.status);
});

test('a repository that the agent replaces comes back, and its commits stay beside it', () => {
  const repository = makeRepository({ a: 'a\n', '.gitignore': 'build\n' });
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', makeOrigin(), 'sub');
  git(repository, 'commit', '-q', '-m', 'submodule');
  const [nested, sub, unborn] = ['build/nested', 'sub', 'unborn'].map((path) => join(repository, path)) as [
    string,
    string,
    string,
  ];
  for (const one of [nested, unborn]) git(repository, 'init', '-q', '-b', 'main', one);
  write(join(unborn, 'two'), 'two\n');
  for (const one of [nested, sub]) {
    write(join(one, 'x'), 'mine\n');
    git(one, 'add', 'x');
    git(one, 'commit', '-q', '-m', 'mine');
    git(one, 'branch', 'other');
  }
  const see = () =>
    [nested, sub, unborn].map((one) => [
      git(one, 'for-each-ref', 'refs/heads', 'refs/remotes'),
      git(one, 'status', '--porcelain', '--branch'),
      git(one, 'fsck', '--no-dangling'),
      existsSync(join(one, '.git/index')),
    ]);
  const before = see();
  begin(repository);
  for (const one of [nested, sub]) {
    rmSync(join(one, '.git'), { recursive: true });
    git(repository, 'init', '-q', '-b', 'main', one);
    write(join(one, 'x'), 'of the agent\n');
    git(one, 'add', 'x');
    git(one, 'commit', '-q', '-m', 'of the agent');
  }
  git(unborn, 'add', '.');
  git(unborn, 'commit', '-q', '-m', 'of the agent');
  const commits = [nested, sub].map((one) => git(one, 'rev-parse', 'HEAD'));
  agtOk(repository, 'reject', 's1');
  expect(see()).toEqual(before);
  for (const [i, one] of [nested, sub].entries())
    expect(git(one, 'rev-parse', 'refs/agt/in-place/s1', 'refs/agt/in-place/s1-branches/main')).toBe(
      `${commits[i]}\n${commits[i]}`,
    );
});

test.each<[string, (dotGit: string) => void]>([
  ['a file that leads nowhere', (dotGit) => writeFileSync(dotGit, 'gitdir: /nowhere\n')],
  ['a file of other words', (dotGit) => writeFileSync(dotGit, 'words\n')],
  ['a link that leads nowhere', (dotGit) => symlinkSync('nowhere', dotGit)],
  ['a link to where it is now', (dotGit) => symlinkSync('../moved', dotGit)],
  ['a file that names where it is now', (dotGit) => writeFileSync(dotGit, 'gitdir: ../moved\n')],
  [
    'a damaged repository',
    (dotGit) => {
      git(makeTempDir(), 'init', '-q', '-b', 'main', dirname(dotGit));
      write(join(dotGit, 'refs/heads/main'), `${'1'.repeat(40)}\n`);
      write(join(dotGit, 'objects/11', '1'.repeat(38)), 'damaged\n');
    },
  ],
])('the agent puts %s in the place of a .git: the .git comes back', (_, replace) => {
  const repository = makeRepository({ a: 'a\n', '.gitignore': 'nested\nmoved\n' });
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', makeOrigin(), 'sub');
  git(repository, 'commit', '-q', '-m', 'submodule');
  const inside = ['nested', 'sub'].map((path) => join(repository, path));
  git(repository, 'init', '-q', '-b', 'main', join(repository, 'nested'));
  for (const one of inside) {
    write(join(one, 'x'), 'mine\n');
    git(one, 'add', 'x');
    git(one, 'commit', '-q', '-m', 'mine');
    write(join(one, 'x'), 'stashed\n');
    git(one, 'stash', '-q');
  }
  const see = () =>
    inside.map((one) => [
      lstatSync(join(one, '.git')).isDirectory(),
      git(one, 'log', '--all', '--format=%H %D'),
      git(one, 'status', '--porcelain', '--branch'),
    ]);
  const before = see();
  begin(repository);
  for (const one of inside) {
    rmSync(join(repository, 'moved'), { recursive: true, force: true });
    renameSync(join(one, '.git'), join(repository, 'moved'));
    replace(join(one, '.git'));
  }
  agtOk(repository, 'reject', 's1');
  rmSync(join(repository, 'moved'), { recursive: true, force: true });
  for (const one of inside) rmSync(join(one, '.git.agt-replaced-s1'), { recursive: true, force: true });
  expect(see()).toEqual(before);
});

test('submodules stay in use, and the checkout is as sparse as before', () => {
  const repository = makeRepository({ a: 'a\n', s: 's\n', 'd/d': 'd\n' });
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', makeOrigin(), 'sub');
  git(repository, 'commit', '-q', '-m', 'submodule');
  const url = git(repository, 'config', 'submodule.sub.url');
  git(repository, 'config', 'submodule.sub.url', `${url}/.`);
  write(join(repository, 's'), 'mine\n');
  git(repository, 'update-index', '--skip-worktree', 's');
  const see = () => [
    git(repository, 'submodule', 'status'),
    git(repository, 'config', '--local', '--get-regexp', 'submodule|sparse'),
    git(repository, 'ls-files', '-v'),
  ];
  const before = see();
  begin(repository);
  git(repository, 'submodule', '--quiet', 'deinit', '-f', '--all');
  git(repository, 'config', 'core.sparseCheckout', 'true');
  git(repository, 'sparse-checkout', 'set', 'd');
  agtOk(repository, 'reject', 's1');
  expect(see()).toEqual(before);
  expect(readFileSync(join(repository, 's'), 'utf8')).toBe('mine\n');
});

test.each<[string, string, Record<string, string>, (repository: string) => void]>([
  [
    'a change that git passes over',
    's',
    { s: 'landed\n' },
    (repository) => void git(repository, 'update-index', '--skip-worktree', 's'),
  ],
  [
    'one marked as unchanged',
    's',
    { s: 'landed\n' },
    (repository) => void git(repository, 'update-index', '--assume-unchanged', 's'),
  ],
  ['an ignored file', 'x.ign', { 'x.ign': 'landed\n' }, () => undefined],
  ['an ignored file below', 'd/x.ign', { d: 'landed\n' }, () => undefined],
  ['an ignored file above', 'y.ign', { 'y.ign/q': 'landed\n' }, () => undefined],
])('%s is named and set aside if the branch has its own', (_, path, landed, mark) => {
  const repository = makeRepository({ s: 's\n', '.gitignore': '*.ign\n' });
  write(join(repository, path), 'mine\n');
  mark(repository);
  begin(repository);
  land(repository, landed);
  const ended = agt(repository, 'reject', 's1');
  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toContain(
    `error: the branch has its own ${path} now; yours, as before session "s1", is set aside`,
  );
  for (const [name, text] of Object.entries(landed))
    expect(readFileSync(join(repository, name), 'utf8')).toBe(text);
  expect(git(repository, 'show', `refs/agt/stash/s1^4:sandbox/${path}`)).toBe('mine');
});

test('a sweep names what it could not put back', () => {
  const repository = makeRepository({ a: 'a\n' });
  write(join(repository, 'a'), 'mine\n');
  begin(repository);
  land(repository, { a: 'landed\n' });
  agtOk(repository, 'config', 'set', 'agt.sessionTimeout', '0 minutes');
  const swept = agt(repository, 'session', 'sweep');
  expect(swept.exitCode).toBe(1);
  expect(swept.stderr).toMatch(
    /^s1: reverted, because .*; bring it back: agt undo s1\nerror: the branch has its own a now; /,
  );
});

test('a file that changes meanwhile stops no other from coming back', () => {
  const repository = makeRepository({ a: 'a\n', b: 'b\n', log: 'log\n' });
  for (const path of ['a', 'b', 'log']) write(join(repository, path), 'mine\n');
  git(repository, 'add', 'b');
  killedAt('in place: files set aside', repository, 'session', 'new', 's1', '--working-copy', 'in-place');
  write(join(repository, 'log'), 'mine\nmore\n');
  expect(agt(repository, 'reject', 's1').stderr).toContain('did not finish creating session "s1"');
  const fixed = agt(repository, 'doctor', '--fix');
  expect(fixed.stdout).toContain(
    'agt could not put back what you had not committed before session "s1": log has changed',
  );
  expect(git(repository, 'status', '--porcelain').split('\n')).toEqual([' M a', 'M  b', ' M log']);
  expect(readFileSync(join(repository, 'log'), 'utf8')).toBe('mine\nmore\n');
  expect(git(repository, 'show', 'refs/agt/stash/s1^4:sandbox/log')).toBe('mine');
});

test('a repository of the user stays where the branch has a file', () => {
  const repository = makeRepository({ a: 'a\n' });
  const nest = join(repository, 'nest');
  git(repository, 'init', '-q', '-b', 'main', nest);
  write(join(nest, 'n'), 'n\n');
  git(nest, 'add', 'n');
  git(nest, 'commit', '-q', '-m', 'n');
  write(join(nest, 'untracked'), 'untracked\n');
  write(join(repository, 'a'), 'mine\n');
  const before = git(nest, 'status', '--porcelain', '--branch');
  begin(repository);
  land(repository, { a: 'landed\n', nest: 'landed\n' });
  const ended = agt(repository, 'reject', 's1');
  expect(ended.stderr).toContain('error: the branch has its own a now; ');
  expect(git(nest, 'status', '--porcelain', '--branch')).toBe(before);
  expect(readFileSync(join(nest, 'untracked'), 'utf8')).toBe('untracked\n');
});

test('a file that lands in the place of a clean submodule is there at the end', () => {
  const repository = makeRepository({ a: 'a\n' });
  const origin = makeOrigin();
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', origin, 'libs/sub');
  git(repository, 'commit', '-q', '-m', 'submodule');
  begin(repository);
  git(repository, 'rm', '-q', 'libs/sub');
  rmSync(join(repository, 'libs'), { recursive: true, force: true });
  write(join(repository, 'libs'), 'of the agent\n');
  git(repository, 'add', 'libs');
  git(repository, 'commit', '-q', '-m', 'of the agent');
  agtOk(repository, 'accept', 's1');
  expect(readFileSync(join(repository, 'libs'), 'utf8')).toBe('of the agent\n');
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('an ignored file that was set aside comes back, whatever the agent has there', () => {
  const repository = makeRepository({ 'd/x': 'x\n' });
  rmSync(join(repository, 'd'), { recursive: true });
  write(join(repository, '.git/info/exclude'), 'd\n');
  write(join(repository, 'd'), 'mine\n');
  begin(repository);
  expect(readFileSync(join(repository, 'd/x'), 'utf8')).toBe('x\n');
  rmSync(join(repository, 'd'), { recursive: true });
  write(join(repository, 'd'), 'of the agent\n');
  agtOk(repository, 'reject', 's1');
  expect(readFileSync(join(repository, 'd'), 'utf8')).toBe('mine\n');
});

test('a file outside of a sparse checkout that is there all the same can be accepted', () => {
  const repository = makeRepository({ 'd/d': 'd\n', 'e/s': 's\n' });
  git(repository, 'sparse-checkout', 'set', 'd');
  write(join(repository, 'e/s'), 'mine\n');
  expect(git(repository, 'status', '--porcelain')).toBe(' M e/s');
  begin(repository);
  write(join(repository, 'e/s'), 'of the agent\n');
  git(repository, 'add', '--sparse', 'e/s');
  git(repository, 'commit', '-q', '-m', 'of the agent');
  const accepted = agt(repository, 'accept', 's1');
  expect(accepted.stderr).toContain('error: the branch has its own e/s now; ');
  expect(git(repository, 'show', 'main:e/s')).toBe('of the agent');
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('an agent that changes only what git passes over has nothing to accept', () => {
  const repository = makeRepository({ s: 's\n' });
  write(join(repository, 's'), 'mine\n');
  git(repository, 'update-index', '--skip-worktree', 's');
  begin(repository);
  git(repository, 'update-index', '--no-skip-worktree', 's');
  write(join(repository, 's'), 'of the agent\n');
  git(repository, 'commit', '-q', '-a', '-m', 'of the agent');
  expect(agt(repository, 'accept', 's1').stderr).toMatch(
    /^error: nothing to accept: in what session "s1" changed, git passes over changes of yours \(s\)\n/,
  );
  agtOk(repository, 'reject', 's1');
  expect(readFileSync(join(repository, 's'), 'utf8')).toBe('mine\n');
});

test('a branch that is gone: the hint names the last commit that agt has seen there', () => {
  const repository = makeRepository({ a: 'a\n' });
  begin(repository);
  land(repository, { landed: 'landed\n' });
  const tip = git(repository, 'rev-parse', 'main');
  write(join(repository, 'agent'), 'agent\n');
  agtOk(repository, 'autocommit', 's1');
  git(repository, 'branch', '-q', '-D', 'main');
  expect(agt(repository, 'reject', 's1').stderr).toBe(
    'error: "main" is gone, so session "s1" cannot return to it\n' +
      `hint: make it again: git branch main ${tip.slice(0, 10)}\n` +
      'hint: if it had commits after that one, git fsck --lost-found finds them\n',
  );
});

test('a private file keeps its mode if the agent gives it another name that lands', () => {
  const repository = makeRepository({ a: 'a\n', '.gitignore': '*.key\n' });
  write(join(repository, 'own.key'), 'secret\n', 0o600);
  begin(repository);
  linkSync(join(repository, 'own.key'), join(repository, 'copy'));
  agtOk(repository, 'accept', 's1', '--untracked=all');
  const [own, copy] = ['own.key', 'copy'].map((name) => statSync(join(repository, name)));
  expect([own?.mode.toString(8), copy?.mode.toString(8)]).toEqual(['100600', '100644']);
  expect(own?.ino).not.toBe(copy?.ino);
});
