/**
 * Why a session has two branches. Each test shows, with git alone, what goes wrong if the autocommits (whose tree is the
 * session folder) and the sandbox's HEAD share one branch, and then that agt's two branches do not have the problem.
 */
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { agtOk, git, makeRepository, makeTempDir, write } from '../harness/world.ts';

interface Session {
  readonly repository: string;
  readonly sandbox: string;
  readonly autocommit: () => void;
}

/** One branch for everything: plumbing makes the autocommit, and moves the branch that the sandbox has checked out. */
function oneBranch(): Session {
  const repository = makeRepository({ 'kept.txt': 'kept\n', 'edited.txt': 'one\n' });
  const folder = join(makeTempDir('sessions'), 's1');
  const sandbox = join(folder, 'sandbox');
  git(repository, 'worktree', 'add', '-q', '-b', 'agtsessions/s1', sandbox);
  write(join(folder, 'config/token'), 'secret\n');
  const autocommit = () => {
    const env = ['-c', 'core.bare=false', `--git-dir=${repository}/.git`, `--work-tree=${folder}`];
    const index = join(repository, '.git', 'one-branch-index');
    process.env['GIT_INDEX_FILE'] = index;
    try {
      for (const path of ['sandbox/kept.txt', 'sandbox/edited.txt', 'config/token']) {
        git(folder, ...env, 'update-index', '--add', path);
      }
      const tree = git(folder, ...env, 'write-tree');
      const user = git(repository, 'rev-parse', 'main');
      const previous = git(repository, 'rev-parse', 'agtsessions/s1');
      const parents = previous === user ? ['-p', user] : ['-p', previous, '-p', user];
      const commit = git(repository, 'commit-tree', ...parents, '-m', 'agt autocommit', tree);
      git(repository, 'update-ref', 'refs/heads/agtsessions/s1', commit);
    } finally {
      delete process.env['GIT_INDEX_FILE'];
    }
  };
  return { repository, sandbox, autocommit };
}

function twoBranches(): Session {
  const repository = makeRepository({ 'kept.txt': 'kept\n', 'edited.txt': 'one\n' });
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json'));
  write(join(sandbox, '../config/token'), 'secret\n');
  return { repository, sandbox, autocommit: () => agtOk(repository, 'autocommit', '--session-id', 's1') };
}

describe('with one branch for the sandbox and the autocommits', () => {
  let one: Session;
  let two: Session;

  beforeEach(() => {
    one = oneBranch();
    two = twoBranches();
    for (const { sandbox } of [one, two]) write(join(sandbox, 'edited.txt'), 'two\n');
  });

  test('git status shows every file as changed after an autocommit; with two, only the edited file', () => {
    for (const { autocommit } of [one, two]) autocommit();
    const status = git(one.sandbox, 'status', '--porcelain', '--no-renames').split('\n');
    expect(status).toEqual([
      'D  config/token',
      'AM edited.txt',
      'A  kept.txt',
      'D  sandbox/edited.txt',
      'D  sandbox/kept.txt',
    ]);
    expect(git(two.sandbox, 'status', '--porcelain')).toBe(' M edited.txt');
  });

  test("a merge turns the user's tree into the session folder; with two, it adds the agent's commits", () => {
    for (const { autocommit } of [one, two]) autocommit();
    git(one.repository, 'merge', '-q', 'agtsessions/s1');
    expect(git(one.repository, 'ls-files').split('\n')).toEqual([
      'config/token',
      'sandbox/edited.txt',
      'sandbox/kept.txt',
    ]);
    git(two.sandbox, 'commit', '-q', '-a', '-m', 'by the agent');
    git(two.repository, 'merge', '-q', 'agt/s1');
    expect(git(two.repository, 'ls-files').split('\n')).toEqual(['edited.txt', 'kept.txt']);
    expect(git(two.repository, 'show', 'HEAD:edited.txt')).toBe('two');
  });

  test('a push publishes a token from config/; with two, it publishes only the commits of the agent', () => {
    for (const { autocommit, repository } of [one, two]) {
      autocommit();
      git(repository, 'init', '-q', '--bare', join(repository, '../origin.git'));
      git(repository, 'remote', 'add', 'origin', '../origin.git');
    }
    git(one.sandbox, 'push', '-q', join(one.repository, '../origin.git'), 'HEAD:refs/heads/s1');
    expect(git(join(one.repository, '../origin.git'), 'show', 's1:config/token')).toBe('secret');

    git(two.sandbox, 'commit', '-q', '-a', '-m', 'by the agent');
    agtOk(two.repository, 'session', 'export', '--session-id', 's1', '--allow-dirty');
    const published = git(join(two.repository, '../origin.git'), 'rev-list', '--objects', '--all');
    expect(published).not.toMatch(/token|sandbox|manifest/);
    expect(
      git(join(two.repository, '../origin.git'), 'ls-tree', '--name-only', 'agt/s1').split('\n'),
    ).toEqual(['edited.txt', 'kept.txt']);
  });

  test('a delta against the start commit loses unchanged files; with two, a snapshot has all files', () => {
    // The delta as the sandbox's HEAD has it: only the difference from the start commit, rooted at the session folder.
    const index = join(one.repository, '.git', 'delta-index');
    process.env['GIT_INDEX_FILE'] = index;
    try {
      const blob = git(one.repository, 'hash-object', '-w', join(one.sandbox, 'edited.txt'));
      git(one.repository, 'read-tree', 'main');
      git(one.repository, 'update-index', '--add', '--cacheinfo', `100644,${blob},sandbox/edited.txt`);
      const tree = git(one.repository, 'write-tree');
      expect(git(one.repository, 'ls-tree', '-r', '--name-only', tree, 'sandbox/')).toBe(
        'sandbox/edited.txt',
      );
    } finally {
      delete process.env['GIT_INDEX_FILE'];
    }
    two.autocommit();
    expect(
      git(two.repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s1', 'sandbox/').split('\n'),
    ).toEqual(['sandbox/edited.txt', 'sandbox/kept.txt']);
  });
});
