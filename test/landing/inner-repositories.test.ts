/** Submodules and other repositories inside of a worktree hold work that is in no snapshot: no command lets it go. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { endedDaysAgo } from '../harness/opened.ts';
import { sessionIn } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, run, write } from '../harness/world.ts';

const LOCAL = ['-c', 'protocol.file.allow=always'];

/** A repository with the submodule `sub`, whose remote is `lib`. */
function withSubmodule() {
  const lib = makeRepository({ l: 'l\n' });
  const repository = makeRepository({ a: 'a\n' });
  git(repository, ...LOCAL, 'submodule', 'add', '-q', lib, 'sub');
  git(repository, 'commit', '-q', '-m', 'with a submodule');
  return { lib, repository };
}

/** A session whose sandbox has the submodule with a commit of the agent. */
function withCommitInSubmodule() {
  const { lib, repository } = withSubmodule();
  const session = sessionIn(repository);
  git(session.sandbox, ...LOCAL, 'submodule', 'update', '-q', '--init');
  const sub = join(session.sandbox, 'sub');
  write(join(sub, 'new'), 'by the agent\n');
  git(sub, 'add', 'new');
  git(sub, 'commit', '-q', '-m', 'by the agent');
  return { ...session, lib, sub, commit: git(sub, 'rev-parse', 'HEAD') };
}

/** A repository with a `.git` directory of its own. */
function makeNested(directory: string): string {
  git(dirname(directory), 'init', '-q', directory);
  write(join(directory, 'n'), 'n\n');
  git(directory, 'add', 'n');
  git(directory, 'commit', '-q', '-m', 'only here');
  return git(directory, 'rev-parse', 'HEAD');
}

test.each([
  ['a file', 'sub'],
  ['a directory', 'sub/x'],
])('accept of a submodule that became %s leaves a submodule folder that is not empty', (_, path) => {
  const { repository } = withSubmodule();
  const { sandbox } = sessionIn(repository);
  git(sandbox, 'rm', '-q', 'sub');
  write(join(sandbox, path), 'by the agent\n');
  write(join(repository, 'sub/ignored'), 'of the user\n');
  const head = git(repository, 'rev-parse', 'HEAD');
  for (const options of [['-n'], ['-m', 'Work']]) {
    const refused = agt(repository, 'accept', 's1', ...options);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      'hint: sub: the folder of a submodule; empty it: git submodule deinit sub\n',
    );
  }
  expect(git(repository, 'rev-parse', 'HEAD')).toBe(head);
  expect(readFileSync(join(repository, 'sub/ignored'), 'utf8')).toBe('of the user\n');
  expect(git(join(repository, 'sub'), 'log', '--format=%s')).toBe('first');
  rmSync(join(repository, 'sub/ignored'));
  git(repository, 'submodule', 'deinit', 'sub');
  agtOk(repository, 'accept', 's1', '-m', 'Work');
  expect(readFileSync(join(repository, path), 'utf8')).toBe('by the agent\n');
});

test('sync does not replace a repository in the sandbox, and leaves everything as it was', () => {
  const repository = makeRepository({ a: 'a\n' });
  const { sandbox } = sessionIn(repository);
  const commit = makeNested(join(sandbox, 'tool'));
  write(join(repository, 'tool'), 'by the user\n');
  git(repository, 'add', 'tool');
  git(repository, 'commit', '-q', '-m', 'a file');
  const head = git(sandbox, 'rev-parse', 'HEAD');
  for (const options of [[], ['--rebase'], ['-n']]) {
    const refused = agt(repository, 'sync', 's1', ...options);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(
      /^error: .* would be overwritten, and nothing has changed\nhint: tool\/\.git/,
    );
    expect(git(join(sandbox, 'tool'), 'rev-parse', 'HEAD')).toBe(commit);
    expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(head);
  }
  expect(agtOk(repository, 'session', 'log', 's1')).not.toContain('before sync');
  expect(agtOk(repository, 'doctor')).toMatch(/nothing is wrong/);
});

test('remove keeps the commits of a submodule, and every way back brings them', () => {
  const { sub, commit, ...session } = withCommitInSubmodule();
  const { repository, sandbox } = session;
  write(join(sub, 'new'), 'staged\n');
  git(sub, 'add', 'new');
  write(join(sub, 'stashed'), 's\n');
  git(sub, 'stash', 'push', '-q', '--include-untracked', '--', 'stashed');
  const head = git(repository, 'rev-parse', 'HEAD');
  agtOk(repository, 'remove', 's1');
  expect(existsSync(sandbox)).toBe(false);
  endedDaysAgo(session, 40);
  const work = '4 commits of submodule sub that no remote has';
  for (const option of ['--dry-run', '--prune=now'])
    expect(agtOk(repository, 'gc', option)).toContain(`agt keeps ${work}`);
  const refused = agt(repository, 'remove', 's1', '--delete-branch');
  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr).toContain(work);
  agtOk(repository, 'session', 'restore', 's1', '--to', '@');
  expect(git(sub, 'rev-parse', 'HEAD')).toBe(commit);
  expect(git(sub, 'status', '--porcelain')).toBe('M  new');
  expect(git(sub, 'stash', 'list')).toContain('stash@{0}');
  expect(git(sandbox, 'submodule', 'status')).toMatch(new RegExp(`^\\+${commit} sub`));
  agtOk(repository, 'remove', 's1', '--force');
  agtOk(repository, 'undo', 's1');
  expect(git(sub, 'stash', 'list')).toContain('stash@{0}');
  agtOk(repository, 'remove', 's1', '--delete-branch', '--force');
  expect(existsSync(join(repository, '.git/agt/modules/s1'))).toBe(false);
  expect(git(repository, 'rev-parse', 'HEAD')).toBe(head);
});

test('back to a moment at which a submodule had no files, git status is as it was', () => {
  const { repository } = withSubmodule();
  const { sandbox } = sessionIn(repository);
  agtOk(repository, 'autocommit', 's1');
  git(sandbox, ...LOCAL, 'submodule', 'update', '-q', '--init');
  agtOk(repository, 'autocommit', 's1');
  agtOk(repository, 'session', 'restore', 's1', '--to', '@{1}');
  expect(git(sandbox, 'submodule', 'status')).toMatch(/^-/);
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
  agtOk(repository, 'undo', 's1');
  expect(git(sandbox, 'submodule', 'status')).toMatch(/^ /);
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
});

test('uncommitted changes inside a submodule do not land, and accept says so', () => {
  const { repository } = withSubmodule();
  const { sandbox } = sessionIn(repository);
  git(sandbox, ...LOCAL, 'submodule', 'update', '-q', '--init');
  write(join(sandbox, 'sub/l'), 'dirty\n');
  expect(agt(repository, 'accept', 's1').stderr).toBe(
    'error: nothing to accept: session "s1" has only uncommitted changes inside submodules\n' +
      `hint: commit them there: git -C ${sandbox}/sub commit\n`,
  );
  write(join(sandbox, 'a'), 'changed\n');
  expect(agt(repository, 'accept', 's1', '-n').stderr).toBe(
    'warning: uncommitted changes inside submodule sub stay out: commit them there\n',
  );
});

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

test('a removal and an undo that are killed around the submodules bring them all the same', () => {
  const { repository, sub, commit } = withCommitInSubmodule();
  const kill = (command: string, point: string) => {
    const env = { AGT_TEST_KILL_AT: point };
    const words = [KILLABLE, 'session', command, 's1'];
    expect(run(process.execPath, words, { cwd: repository, env }).exitCode).toBe(null);
  };
  kill('remove', 'remove: submodules kept#1');
  agtOk(repository, 'session', 'remove', 's1');
  kill('undo', 'worktree: moved#1');
  agtOk(repository, 'session', 'undo', 's1');
  expect(git(sub, 'rev-parse', 'HEAD')).toBe(commit);
  expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
});

test('accept of a moved submodule leads to more accepts and back', () => {
  const { repository, sandbox, sub, commit } = withCommitInSubmodule();
  const pointer = () => git(repository, 'rev-parse', 'main:sub');
  const before = pointer();
  agtOk(repository, 'accept', 's1', '--keep', '-m', 'One');
  expect(pointer()).toBe(commit);
  agtOk(repository, 'session', 'unaccept', 's1');
  expect(pointer()).toBe(before);
  expect(git(repository, 'status', '--porcelain')).toBe('');
  agtOk(repository, 'accept', 's1', '--keep', '-m', 'One');
  write(join(sub, 'new'), 'more\n');
  git(sub, 'commit', '-q', '-a', '-m', 'more');
  agtOk(repository, 'accept', 's1', '-m', 'Two');
  expect(existsSync(sandbox)).toBe(false);
  expect(git(repository, 'status', '--porcelain')).toBe(' M sub');
  expect(git(join(repository, 'sub'), 'rev-parse', 'HEAD')).toBe(before);
  agtOk(repository, 'session', 'unaccept', 's1');
  expect(pointer()).toBe(commit);
  expect(git(sub, 'log', '-1', '--format=%s')).toBe('more');
});

test('accept takes what git add takes below an ignored directory with submodules', () => {
  const lib = makeRepository({ l: 'l\n' });
  const repository = makeRepository({ a: 'a\n', 'libs/tracked': 't\n' });
  const names = ['libs/[s]*?', 'libs/sub', '[t]'];
  for (const name of names) git(repository, ...LOCAL, 'submodule', 'add', '-q', lib, name);
  git(repository, 'commit', '-q', '-m', 'with submodules');
  const { sandbox } = sessionIn(repository);
  git(sandbox, ...LOCAL, 'submodule', 'update', '-q', '--init');
  for (const name of names) git(join(sandbox, name), 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  write(join(sandbox, '.gitignore'), 'libs\n');
  for (const path of ['a', 'libs/tracked', 'libs/ignored', 't']) write(join(sandbox, path), 'by the agent\n');
  agtOk(repository, 'accept', 's1', '--keep', '-m', 'Work');
  git(sandbox, 'add', '--all');
  expect(git(repository, 'rev-parse', 'main^{tree}')).toBe(git(sandbox, 'write-tree'));
  expect(git(repository, 'ls-tree', '-r', '--name-only', 'main')).not.toContain('libs/ignored');
});

test('a repository with its own .git directory still needs --force', () => {
  const { repository, sandbox } = sessionIn(makeRepository({ a: 'a\n' }));
  makeNested(join(sandbox, 'tool'));
  // A file that only says that it is a submodule's.
  write(join(sandbox, 'b/.git'), 'gitdir: ../tool/.git\n');
  for (const command of ['remove', 'reject', 'accept']) {
    const refused = agt(repository, command, 's1');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('hint: sandbox/tool/.git: belongs to a nested repository\n');
    expect(refused.stderr).toContain('hint: sandbox/b/.git: belongs to a nested repository\n');
  }
  agtOk(repository, 'remove', 's1', '--force');
});

test('accept of a file in the place of the directory above a submodule', () => {
  const lib = makeRepository({ l: 'l\n' });
  const repository = makeRepository({ a: 'a\n' });
  git(repository, ...LOCAL, 'submodule', 'add', '-q', lib, 'deep/sub');
  git(repository, 'commit', '-q', '-m', 'with a submodule');
  git(repository, 'submodule', '--quiet', 'deinit', '--force', 'deep/sub');
  const { sandbox } = sessionIn(repository);
  rmSync(join(sandbox, 'deep'), { recursive: true });
  write(join(sandbox, 'deep'), 'a file\n');
  agtOk(repository, 'accept', 's1', '--untracked=all');
  expect(git(repository, 'show', 'main:deep')).toBe('a file');
});
