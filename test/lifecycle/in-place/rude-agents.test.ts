/** Agents that damage or replace what belongs to git, and a branch that moves on: the user's side comes back, or is named. */
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../../harness/world.ts';
import { begin, busyCheckout, killedAt, look } from './checkout.ts';

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
    `error: session "s1" has ended, but the branch has its own ${path} now; yours, as before the session, is set aside`,
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
    /^s1: reverted, because .*; bring it back: agt undo s1\nerror: session "s1" has ended, but the branch has its own a now; /,
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
    'agt could not put back the work that you had not committed when session "s1" began: log has changed',
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
  expect(ended.stderr).toContain('error: session "s1" has ended, but the branch has its own a now; ');
  expect(git(nest, 'status', '--porcelain', '--branch')).toBe(before);
  expect(readFileSync(join(nest, 'untracked'), 'utf8')).toBe('untracked\n');
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
  expect(accepted.stderr).toContain('error: session "s1" has ended, but the branch has its own e/s now; ');
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

test('without the ref of what was set aside nothing ends; doctor names it, and how to find its commit', () => {
  const repository = makeRepository({ f: 'one\n' });
  write(join(repository, 'f'), 'mine\n');
  agtOk(repository, 'session', 'new', '--id', 'ip', '--working-copy', 'in-place', '-q');
  const ref = 'refs/agt/stash/ip';
  const commit = git(repository, 'rev-parse', ref);
  git(repository, 'update-ref', '-d', ref);
  const { exitCode, stdout } = agt(repository, 'doctor');
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`${ref} is missing`)]);
  for (const end of ['reject', 'accept', 'remove']) {
    const refused = agt(repository, end, 'ip');
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`ref is missing: ${ref}`),
    ]);
  }
  expect(JSON.parse(agtOk(repository, 'session', 'show', 'ip', '--json')).state).toBe('active');
  const search = /find its commit: (.*)$/m.exec(agt(repository, 'reject', 'ip').stderr)?.[1] ?? '';
  const PATH = `${dirname(AGT)}:${process.env['PATH']}`;
  const found = run('sh', ['-c', search], { cwd: repository, env: { PATH } }).stdout;
  expect(found).toBe(`${commit} On main: uncommitted work before session ip\n`);
  git(repository, 'update-ref', ref, commit);
  agtOk(repository, 'reject', 'ip');
  expect([readFileSync(join(repository, 'f'), 'utf8'), git(repository, 'status', '--porcelain')]).toEqual([
    'mine\n',
    ' M f',
  ]);
});
