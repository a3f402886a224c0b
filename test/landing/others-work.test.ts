/** The commit of an acceptance tells of another session's work, which came by a sync, only what lands with it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

test('work of another session that is off the branch, taken out, and back on the branch', () => {
  const { repository, sandbox } = makeSession();
  const good = sessionIn(repository, 'good').sandbox;
  const commit = (at: string, name: string) => {
    write(join(at, name), `${name}\n`);
    git(at, 'add', name);
    git(at, 'commit', '-qm', `Add ${name}`);
  };
  const planned = () => {
    const { stdout, stderr } = agt(repository, 'accept', 'good', '-n', '--json');
    const { message, files } = JSON.parse(stdout) as { message: string; files: { path: string }[] };
    return { message, files: files.map(({ path }) => path), stderr };
  };
  commit(sandbox, 'bad');
  agtOk(repository, 'accept', 's1');
  agtOk(repository, 'sync', 'good');
  agtOk(repository, 'unaccept', 's1');
  write(join(good, 'open'), 'open\n');
  expect(planned()).toEqual({
    message: 'Work of session good\n\nAgt-Session: good',
    files: ['open'],
    stderr: '',
  });
  commit(good, 'good');
  git(good, 'rm', '-q', 'bad');
  const without = { message: 'Add good\n\nAgt-Session: good', files: ['good', 'open'], stderr: '' };
  expect(planned()).toEqual(without);
  git(good, 'restore', '-q', '--staged', '--worktree', 'bad');
  agtOk(repository, 'accept', 's1');
  expect(planned()).toEqual(without);
});

test('the message of an acceptance tells of no commit that landed before a sync', () => {
  const { repository, sandbox } = makeSession();
  const commit = (name: string) => {
    write(join(sandbox, name), `${name}\n`);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', `Add ${name}`);
  };
  const message = () => JSON.parse(agtOk(repository, 'accept', 's1', '-n', '--json')).message;
  commit('a');
  agtOk(repository, 'accept', 's1', '--keep');
  for (const name of ['b', 'c']) commit(name);
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'Mine');
  agtOk(repository, 'sync', 's1');
  expect(git(sandbox, 'log', '--format=%s', 'main..')).toContain('Add a');
  expect(message()).toMatch(/^Add b; Add c\n/);
  git(repository, 'revert', '--no-edit', 'HEAD~1');
  expect(message()).toMatch(/^Add b; Add c\n/);
});

describe('a branch that never had the commits with which the session began', () => {
  const release = () => {
    const { repository } = makeSession({ a: '1\n' });
    git(repository, 'branch', 'release');
    const commit = (at: string, name: string) => {
      write(join(at, name), `${name}\n`);
      git(at, 'add', name);
      git(at, 'commit', '-qm', `Add ${name}`);
    };
    commit(repository, 'mine');
    const { sandbox } = sessionIn(repository, 'fix');
    const accept = (...words: string[]) => agt(repository, 'accept', 'fix', '--onto', 'release', ...words);
    const landed = () => git(repository, 'log', '--format=%s', '--name-only', 'main~1..release').split(/\n+/);
    return { repository, sandbox, commit, accept, landed };
  };

  test.each([false, true])('it gets the work of the session alone (with commits: %s)', (withCommits) => {
    const { repository, sandbox, commit, accept, landed } = release();
    if (withCommits) commit(sandbox, 'own');
    write(join(sandbox, 'open'), 'open\n');
    const own = withCommits ? ['own'] : [];
    const title = withCommits ? 'Add own' : 'Work of session fix';
    expect(accept('--keep')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(landed()).toEqual([title, 'open', ...own]);
    write(join(sandbox, 'open'), 'later\n');
    expect(accept('--keep', '-m', 'Later').exitCode).toBe(0);
    expect(landed()).toEqual(['Later', 'open', title, 'open', ...own]);
    agtOk(repository, 'accept', 'fix');
    expect(git(repository, 'ls-tree', '--name-only', 'main')).toBe(['a', 'mine', 'open', ...own].join('\n'));
  });

  test('after a sync as well, and from a fork; with kept commits it gets all', () => {
    const { repository, sandbox, commit, accept, landed } = release();
    commit(sandbox, 'own');
    commit(repository, 'mine-too');
    agtOk(repository, 'sync', 'fix');
    agtOk(repository, 'fork', 'fix', '--id', 'next');
    commit(agtOk(repository, 'path', 'next'), 'more');
    expect(JSON.parse(accept('-n', '--json').stdout).files).toMatchObject([{ path: 'own' }]);
    expect(JSON.parse(accept('-n', '--json', '--keep-commits').stdout).files).toHaveLength(3);
    const fork = JSON.parse(agtOk(repository, 'accept', 'next', '--onto', 'release', '-n', '--json'));
    expect(fork.files).toHaveLength(2);
    expect(accept('--keep').exitCode).toBe(0);
    expect(landed()).toEqual(['Add own', 'own']);
  });

  test('a commit that the user has dropped comes neither with --onto nor by a sync after a part', () => {
    const { repository, sandbox, commit, accept } = release();
    git(repository, 'commit', '-q', '--amend', '-m', 'Amended');
    git(repository, 'rm', '-q', 'mine');
    git(repository, 'commit', '-q', '--amend', '--allow-empty', '-m', 'Without it');
    commit(sandbox, 'own');
    commit(sandbox, 'rest');
    const paths = (outcome: { stdout: string }) =>
      JSON.parse(outcome.stdout).files.map(({ path }: { path: string }) => path);
    expect(paths(accept('-n', '--json'))).toEqual(['own', 'rest']);
    agtOk(repository, 'accept', 'fix', '--include', 'own', '--keep', '-m', 'Part');
    agtOk(repository, 'sync', 'fix');
    expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('Add rest');
    expect(git(sandbox, 'status', '--porcelain')).toBe('');
    expect(git(sandbox, 'ls-files').split('\n')).toEqual(['a', 'own', 'rest']);
    commit(repository, 'two');
    const late = sessionIn(repository, 'late').sandbox;
    git(repository, 'reset', '-q', '--hard', 'HEAD~1');
    commit(late, 'later');
    expect(paths(agt(repository, 'accept', 'late', '--onto', 'release', '-n', '--json'))).toEqual(['later']);
  });

  test.each(['amend', 'reset'])(
    "commits that a sync has brought are the user's, also after their %s",
    (how) => {
      const { repository, sandbox, commit } = release();
      commit(sandbox, 'own');
      commit(repository, 'oops');
      agtOk(repository, 'sync', 'fix');
      if (how === 'reset') git(repository, 'reset', '-q', '--hard', 'HEAD~1');
      else {
        git(repository, 'rm', '-q', 'oops');
        commit(repository, 'fine');
        git(repository, 'reset', '-q', '--soft', 'HEAD~2');
        git(repository, 'commit', '-qm', 'fine');
      }
      const row = () => JSON.parse(agtOk(repository, 'list', '--json')).at(-1);
      expect(row()).toMatchObject({ ahead: 2, merge: 'clean', diff: { files: 1 } });
      expect(agtOk(repository, 'diff', 'fix', '--base', '--name-only')).toBe('own');
      const { files, message } = JSON.parse(agtOk(repository, 'accept', 'fix', '-n', '--json'));
      expect([files.length, files[0].path, message]).toEqual([1, 'own', 'Add own\n\nAgt-Session: fix']);
      agtOk(repository, 'sync', 'fix', '--rebase');
      expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('Add own');
      agtOk(repository, 'accept', 'fix');
      expect(git(repository, 'ls-tree', '--name-only', 'main').split('\n')).not.toContain('oops');
    },
  );

  test('a fork takes the work of its parent along, and no commit of the user', () => {
    const { repository, sandbox, commit, accept } = release();
    commit(repository, 'more');
    agtOk(repository, 'sync', 'fix');
    commit(sandbox, 'own');
    agtOk(repository, 'fork', 'fix', '--id', 'next');
    agtOk(repository, 'new', 'other', '--from', 'fix');
    for (const id of ['next', 'other']) {
      commit(agtOk(repository, 'path', id), id);
      const files = JSON.parse(agtOk(repository, 'accept', id, '--onto', 'release', '-n', '--json')).files;
      expect(files.map(({ path }: { path: string }) => path).toSorted()).toEqual([id, 'own'].toSorted());
    }
    expect(accept('-n').exitCode).toBe(0);
  });

  test('a session that has only begun elsewhere has nothing to take', () => {
    const { repository, commit } = release();
    git(repository, 'switch', '-qc', 'topic');
    commit(repository, 'more');
    git(repository, 'switch', '-q', 'main');
    agtOk(repository, 'new', 'look', '--from', git(repository, 'rev-parse', 'topic'));
    const row = JSON.parse(agtOk(repository, 'list', '--json')).at(-1);
    expect(row).toMatchObject({ session_id: 'look', ahead: 0, merge: null, merged: false });
    expect(agt(repository, 'accept', 'look').stderr).toContain('nothing');
  });

  test('work that needs such a commit conflicts', () => {
    const { sandbox, accept } = release();
    write(join(sandbox, 'mine'), 'changed\n');
    expect(accept()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('mine: modify/delete') });
  });
});

test('a sync after a part that is killed: the next one has the commits and the open work', () => {
  const { repository, sandbox } = makeSession();
  for (const name of ['own', 'rest']) {
    write(join(sandbox, name), `${name}\n`);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', `Add ${name}`);
  }
  write(join(sandbox, 'rest'), 'open\n');
  agtOk(repository, 'accept', 's1', '--include', 'own', '--keep', '-m', 'Part');
  const killable = join(import.meta.dirname, '../../dist/failure-points/main.cjs');
  for (const point of ['sync: files brought along', 'sync: git has ended']) {
    const env = { AGT_TEST_KILL_AT: `${point}#1`, AGT_GIT_PATH: REAL_GIT };
    expect(run(process.execPath, [killable, 'sync', 's1'], { cwd: repository, env }).exitCode).not.toBe(0);
  }
  agtOk(repository, 'sync', 's1');
  expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('Add rest');
  expect(git(sandbox, 'status', '--porcelain')).toBe(' M rest');
  expect(readFileSync(join(sandbox, 'rest'), 'utf8')).toBe('open\n');
});

test('a commit of another session that the branch has dropped is named once', () => {
  const { repository, sandbox } = makeSession();
  const other = sessionIn(repository, 'other').sandbox;
  write(join(other, 'theirs'), 'theirs\n');
  agtOk(repository, 'accept', 'other', '-m', 'Theirs');
  const dropped = git(repository, 'log', '-1', '--format=%h');
  agtOk(repository, 'sync', 's1');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  write(join(sandbox, 'own'), 'own\n');
  git(sandbox, 'add', 'own');
  git(sandbox, 'commit', '-qm', 'Own');
  expect(agt(repository, 'accept', 's1', '--keep-commits').stderr).toBe(
    `warning: this brings back ${dropped} Theirs of session "other", which "main" has dropped; ` +
      'to leave it out: agt unaccept s1 && agt sync s1 --rebase\n',
  );
});

test('acceptances at the same time: unaccept takes them in the order of the branch, whichever began first', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  write(join(sessionIn(repository, 's2').sandbox, 'new'), 'new\n');
  const clean = `env -u GIT_DIR -u GIT_INDEX_FILE -u GIT_WORK_TREE -u GIT_EDITOR ${AGT}`;
  const meanwhile = `[ -e once ] || { touch once; ${clean} accept s2 --untracked=all >&2; }`;
  write(join(repository, '.git/hooks/commit-msg'), `#!/bin/sh\ncd ${repository}/.git\n${meanwhile}\n`, 0o755);
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'log', '-2', '--format=%s').split('\n')[0]).toBe('Work of session s1');
  const back = agt(repository, 'unaccept', 's1', 's2');
  expect(back.stdout.match(/acceptance of s\d/g)).toEqual(['acceptance of s1', 'acceptance of s2']);
});

test('commits of another branch that a rebase by hand has brought are named', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  git(repository, 'switch', '-qc', 'other');
  write(join(repository, 'mine'), 'mine\n');
  git(repository, 'add', 'mine');
  git(repository, 'commit', '-qm', 'Mine');
  git(repository, 'switch', '-q', 'main');
  write(join(sandbox, 'a'), 'agent\n');
  git(sandbox, 'commit', '-qam', 'Agent');
  git(sandbox, 'rebase', '-q', 'other');
  const { stderr, stdout } = agt(repository, 'accept', 's1', '-n');
  expect(stderr).toMatch(
    /^warning: \w+ Mine comes along, a commit of branch "other", which "main" does not have\n$/,
  );
  expect(stdout).toContain('\n    Agent\n\n    With work of branch other: Mine\n');
});
