/** The user makes one commit of two acceptances: the branch has both still. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, run, write } from '../harness/world.ts';

const fixup = (repository: string) => {
  const env = { GIT_SEQUENCE_EDITOR: "sed -i '2s/^pick/fixup/'" };
  expect(run('git', ['rebase', '-qi', 'HEAD~2'], { cwd: repository, env }).exitCode).toBe(0);
};
const anew = (repository: string) => {
  git(repository, 'reset', '-q', '--soft', 'HEAD~2');
  run('git', ['commit', '-qm', 'both'], {
    cwd: repository,
    env: { GIT_AUTHOR_DATE: '2026-01-05T13:00:00+0100' },
  });
};

test.each([
  ['a fixup', fixup],
  ['a commit of its own', anew],
])('by %s: only the rest is new, and unaccept names that commit', (_, squash) => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  for (const name of ['one', 'two', 'three']) {
    write(join(sandbox, name), `${name}\n`);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', `Add ${name}`);
  }
  for (const commit of ['agt/s1~2', 'agt/s1~1'])
    agtOk(repository, 'accept', 's1', '--commits', commit, '--keep');
  squash(repository);
  const commit = git(repository, 'rev-parse', '--short=12', 'HEAD');
  const { stderr } = agt(repository, 'unaccept', 's1');
  expect(stderr).toMatch(` in another form, as ${commit}\n`);
  expect(stderr).toContain(`hint: undo it and what landed before it, on "main": git revert ${commit}\n`);
  write(join(repository, 'one'), 'one\nof the user\n');
  git(repository, 'commit', '-qam', 'by the user');
  expect(agtOk(repository, 'list')).toMatch(/ \+1 -0 .* clean, accepted in part /);
  expect(agtOk(repository, 'activity')).toContain(`, now ${commit.slice(0, 10)} on main`);
  expect(agtOk(repository, 'accept', 's1', '-n')).toMatch(/ 1 file changed, \+1 -0\n {2}A three\n/);
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  git(repository, 'revert', '--no-edit', 'HEAD');
  expect(agtOk(repository, 'list')).toMatch(/ \+3 -0 .* clean, reverted since /);
});

test('two amended ones: what the user and the agent have changed in one place is no conflict', () => {
  const lines = Array.from({ length: 20 }, (_, i) => `${i}\n`).join('');
  const { repository, sandbox } = makeSession({ f: lines });
  write(join(sandbox, 'c'), 'c\n');
  for (const last of ['one\n', 'two\n']) {
    write(join(sandbox, 'f'), lines + last);
    agtOk(repository, 'accept', 's1', '--include', 'f', '--keep');
  }
  write(join(repository, 'f'), `${lines}two\nof the user\n`);
  git(repository, 'commit', '-qa', '--amend', '--no-edit');
  fixup(repository);
  expect(agtOk(repository, 'list')).toMatch(/ \+1 -0 .* clean, accepted in part /);
  expect(agtOk(repository, 'accept', 's1', '-n', '--untracked=all')).toMatch(/ 1 file changed, .*\n {2}A c /);
});

test('a dropped acceptance is in no commit that came in its place', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  agtOk(repository, 'new', 's2', '-q');
  write(join(sandbox, 'one'), 'one\n');
  write(join(agtOk(repository, 'path', 's2'), 'two'), 'two\n');
  agtOk(repository, 'accept', 's1', '--untracked=all');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  agtOk(repository, 'accept', 's2', '--untracked=all');
  git(repository, 'commit', '-q', '--amend', '-m', 'other');
  const rows = agtOk(repository, 'list', '--all').split('\n');
  expect(rows.find((row) => row.startsWith('s1 '))).toMatch(/; that commit is no longer on main$/);
  expect(rows.find((row) => row.startsWith('s2 '))).toMatch(/, now \w+ on main$/);
});

test('unaccept names the one commit that the user has made of a merge of several', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  for (const name of ['one', 'two']) {
    write(join(sandbox, name), `${name}\n`);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', `Add ${name}`);
  }
  write(join(repository, 'a'), 'of the user\n');
  git(repository, 'commit', '-qam', 'by the user');
  agtOk(repository, 'accept', 's1', '--keep-commits', '--keep');
  git(repository, 'reset', '-q', '--soft', 'HEAD^1');
  git(repository, 'commit', '-qm', 'both');
  const commit = git(repository, 'rev-parse', '--short=12', 'HEAD');
  const { stderr } = agt(repository, 'unaccept', 's1');
  expect(stderr).toMatch(
    ` in another form, as ${commit}\nhint: undo it by a new commit, on "main": git revert `,
  );
});

test('one commit of the work of two sessions: unaccept of each names it, and the other session', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  agtOk(repository, 'new', 's2', '-q');
  for (const [id, folder] of [
    ['s1', sandbox],
    ['s2', agtOk(repository, 'path', 's2')],
  ] as const) {
    write(join(folder, id), `${id}\n`);
    git(folder, 'add', id);
    git(folder, 'commit', '-qm', `Add ${id}`);
    agtOk(repository, 'accept', id, '--keep');
  }
  fixup(repository);
  const commit = git(repository, 'rev-parse', '--short=12', 'HEAD');
  for (const [id, other] of [
    ['s1', 's2'],
    ['s2', 's1'],
  ] as const)
    expect(agt(repository, 'unaccept', id).stderr).toMatch(
      new RegExp(` as ${commit}\nhint: undo it .*: git revert ${commit}\nhint: .* work of ${other}, too, `),
    );
});

test.each([1, 2])(
  'of a branch that was deleted, %i squashed into another one: HEAD has the work',
  (count) => {
    const { repository } = makeSession({ a: 'a\n' });
    git(repository, 'switch', '-qc', 'dev');
    for (const id of ['one', 'two'].slice(-count)) {
      agtOk(repository, 'new', id);
      write(join(agtOk(repository, 'path', id), id), `${id}\n`);
      agtOk(repository, 'accept', id, '--untracked=all');
    }
    git(repository, 'switch', '-q', 'main');
    git(repository, 'merge', '-q', '--squash', 'dev');
    const env = { GIT_AUTHOR_DATE: '2030-01-05T13:00:00+0100' };
    expect(run('git', ['commit', '-qm', 'Dev'], { cwd: repository, env }).exitCode).toBe(0);
    git(repository, 'branch', '-qD', 'dev');
    const row = () => JSON.parse(agtOk(repository, 'list', '--all', '--json')).at(-1);
    expect(row()).toMatchObject({ session_id: 'two', merged: true, landed: { lost: false } });
    write(join(repository, 'two'), 'other\n');
    git(repository, 'commit', '-qa', '--amend', '--no-edit');
    expect(row()).toMatchObject({ merged: false, landed: { lost: true } });
  },
);
