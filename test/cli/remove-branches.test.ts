/** `agt remove --delete-branch` asks before it deletes what only snapshots have. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

const ONLY_IN_SNAPSHOTS: [string, (session: TestSession) => void, string][] = [
  ['a file that git ignores', ({ sandbox }) => write(join(sandbox, '.env'), 'KEY=1\n'), '.env'],
  [
    'a file that an older snapshot has',
    ({ sandbox, repository }) => {
      write(join(sandbox, 'work.txt'), 'work\n');
      agtOk(repository, 'autocommit', 's1');
      rmSync(join(sandbox, 'work.txt'));
      agtOk(repository, 'autocommit', 's1');
    },
    'work.txt',
  ],
  [
    'work on a file that is as at the start again',
    ({ sandbox, repository }) => {
      write(join(sandbox, 'a.txt'), 'work\n');
      agtOk(repository, 'autocommit', 's1');
      git(sandbox, 'checkout', '-q', 'a.txt');
    },
    'a.txt',
  ],
  [
    'a result in a directory that no build fills',
    ({ sandbox, repository }) => {
      write(join(sandbox, 'data/out/result.csv'), '1\n');
      agtOk(repository, 'autocommit', 's1');
    },
    'data/out/result.csv',
  ],
];

test.each(
  ONLY_IN_SNAPSHOTS.flatMap(([name, arrange, path]) =>
    [false, true].map((ended) => ({ name, ended, arrange, path })),
  ),
)('--delete-branch refuses to lose $name; ended: $ended', ({ ended, arrange, path }) => {
  const session = makeSession({ '.gitignore': '.env\n*.o\ndata/\n', 'a.txt': 'a\n' });
  const { repository } = session;
  write(join(session.sandbox, 'main.o'), 'a build makes it again\n');
  arrange(session);
  if (ended) agtOk(repository, 'remove', 's1');
  for (const more of [['-n'], []])
    expect(agt(repository, 'remove', 's1', '--delete-branch', ...more).stderr).toContain(
      `error: session "s1" has files that only its snapshots have (${path}); --delete-branch would lose`,
    );
  expect(existsSync(session.folder)).toBe(!ended);
  agtOk(repository, 'remove', 's1', '--delete-branch', '--force');
});

test('--delete-branch loses nothing of a build, of what has landed, of what a fork has', () => {
  const { repository, sandbox } = makeSession({ '.gitignore': 'build/\n', 'a.txt': 'a\n', Makefile: '' });
  write(join(sandbox, 'gone.txt'), 'gone\n');
  agtOk(repository, 'autocommit', 's1');
  rmSync(join(sandbox, 'gone.txt'));
  for (const content of ['one\n', 'two\n']) {
    write(join(sandbox, 'a.txt'), content);
    write(join(sandbox, 'build/out'), content);
    agtOk(repository, 'autocommit', 's1');
  }
  agtOk(repository, 'fork', 's1', '--id', 's2');
  agtOk(repository, 'accept', 's1');
  agtOk(repository, 'remove', 's1', '--delete-branch');
  expect(agt(repository, 'remove', 's2', '--delete-branch').stderr).toContain('(gone.txt)');
});

test('a file that the user takes out of an acceptance by an amend is lost with the branches', () => {
  const { repository, sandbox } = makeSession({ 'a.txt': 'a\n' });
  for (const name of ['a.txt', 'committed', 'open']) {
    write(join(sandbox, name), 'work\n');
    if (name !== 'open') git(sandbox, 'add', '.');
  }
  git(sandbox, 'commit', '-qm', 'work');
  agtOk(repository, 'accept', 's1', '--keep', '--untracked=all');
  write(join(repository, 'a.txt'), 'better work\n');
  const remove = () => agt(repository, 'remove', 's1', '--delete-branch', '-n').stderr;
  git(repository, 'commit', '-qa', '--amend', '--no-edit');
  expect(remove()).toBe('');
  git(repository, 'rm', '-q', 'committed', 'open');
  git(repository, 'commit', '-q', '--amend', '--no-edit');
  const stays = 'files that have landed, and that no branch has now (committed, open)';
  expect(remove()).toContain(`error: session "s1" has ${stays}; --delete-branch would lose this work`);
  expect(agt(repository, 'remove', '--merged', '-n').stderr).toContain(`note: s1 stays: ${stays}\n`);
  git(repository, 'reset', '-q', '--hard', 'HEAD@{1}');
  git(repository, 'rm', '-q', 'committed', 'open');
  git(repository, 'commit', '-qm', 'Without them');
  expect(remove()).toBe('');
});

test('a copy of a file that the checkout has is not lost', () => {
  const { repository, sandbox } = makeSession({ '.gitignore': '.env\n' });
  for (const top of [repository, sandbox]) write(join(top, '.env'), 'KEY=1\n');
  agtOk(repository, 'remove', 's1', '--delete-branch');
});

test('--delete-branch asks for no file of which only the ends of lines differ from its commit', () => {
  const { repository } = makeSession({ '.gitattributes': '*.bat eol=crlf\n', 'a.bat': 'a\nb\n' });
  agtOk(repository, 'remove', 's1');
  agtOk(repository, 'remove', 's1', '--delete-branch');
});

test('the map of accepted lines goes with a session whose acceptance was taken back, and stays with another', () => {
  const { repository, sandbox } = makeSession({ 'a.txt': 'a\n' });
  const map = () => git(repository, 'for-each-ref', '--format=%(refname)', 'refs/agt/lines/');
  const acceptedAndBack = (folder: string) => {
    write(join(folder, 'a.txt'), 'b\n');
    agtOk(repository, 'accept', 's1');
    agtOk(repository, 'unaccept', 's1');
    expect(map()).toBe('refs/agt/lines/s1');
    agtOk(repository, 'remove', 's1', '--delete-branch', '--force');
  };
  acceptedAndBack(sandbox);
  expect(map()).toBe('');
  write(join(sessionIn(repository).sandbox, 'other.txt'), 'other\n');
  agtOk(repository, 'accept', 's1');
  agtOk(repository, 'remove', 's1', '--delete-branch');
  acceptedAndBack(sessionIn(repository).sandbox);
  expect(map()).toBe('refs/agt/lines/s1');
});

test('--delete-branch does not name a way to delete the branch that alone has work of the agent', () => {
  const { repository, sandbox } = makeSession();
  const env = { GIT_COMMITTER_DATE: undefined }; // the reflog tells when the branch was made
  run(REAL_GIT, ['switch', '-qc', 'wild'], { cwd: sandbox, env });
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'wild');
  const deleting = agtOk(repository, 'remove', 's1', '--delete-branch', '-n');
  expect(deleting).toContain('branch wild, which the agent has made: it alone has 1 commit\n');
  // A branch of the user has the work, too, and the user branch is gone.
  git(repository, 'switch', '-qc', 'kept', 'wild');
  git(repository, 'branch', '-qD', 'main');
  expect(agtOk(repository, 'remove', 's1', '--delete-branch')).toContain('; delete it: git branch -D wild\n');
});
