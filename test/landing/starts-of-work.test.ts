/** Where the work of a session begins: what syncs and forks have brought is not its own, also in words of a refusal. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

const LINES = Array.from({ length: 20 }, (_, i) => `${i + 1}`);
const withLine = (at: number, line: string) => `${LINES.toSpliced(at, 0, line).join('\n')}\n`;

const setUp = () => makeSession({ f: `${LINES.join('\n')}\n` });
const pathOf = (repository: string, id: string) => agtOk(repository, 'path', id);
const rowsOf = (repository: string) => JSON.parse(agtOk(repository, 'list', '--json'));

function commit(worktree: string, name: string): void {
  write(join(worktree, name), `${name}\n`);
  git(worktree, 'add', name);
  git(worktree, 'commit', '-qm', name);
}

test('a session that began with the commits of another one has no snapshot of that one', () => {
  const { repository, sandbox } = setUp();
  agtOk(repository, 'new', 's2', '--from', 's1');
  write(join(sandbox, 'f'), withLine(8, 'eight'));
  write(join(pathOf(repository, 's2'), 'f'), withLine(2, 'two'));
  agtOk(repository, 'accept', 's1');
  expect(rowsOf(repository)).toMatchObject([{ session_id: 's2', merge: 'clean', diff: { insertions: 1 } }]);
  agtOk(repository, 'accept', 's2');
  expect(git(repository, 'show', 'main:f')).toContain('\ntwo\n3\n4\n5\n6\n7\n8\neight\n');
});

test('a commit of a person that a sync has brought, and the branch has reverted, is none of the session', () => {
  const { repository, sandbox } = setUp();
  commit(sandbox, 'own');
  commit(repository, 'theirs');
  git(repository, 'revert', '--no-edit', 'HEAD');
  git(repository, 'merge', '-q', '--squash', 'agt/s1');
  git(repository, 'commit', '-qm', 'squashed');
  agtOk(repository, 'sync', 's1');
  expect(agt(repository, 'accept', 's1').stderr).toContain('"main" has all work of session "s1"\n');
  expect(rowsOf(repository)).toMatchObject([{ merged: true }]);
});

test('the same for a fork that a rebase has brought onto the branch', () => {
  const { repository, sandbox } = setUp();
  commit(sandbox, 'own');
  agtOk(repository, 'fork', 's1', '--id', 's2');
  commit(repository, 'theirs');
  git(repository, 'revert', '--no-edit', 'HEAD');
  agtOk(repository, 'sync', 's2', '--rebase');
  agtOk(repository, 'accept', 's1');
  expect(agt(repository, 'accept', 's2').stderr).toContain('"main" has all work of session "s2"\n');
});

test('a session that has changed nothing has landed nothing, whatever a fork of it has landed', () => {
  const { repository } = setUp();
  agtOk(repository, 'fork', 's1', '--id', 's2');
  commit(pathOf(repository, 's2'), 'own');
  agtOk(repository, 'accept', 's2');
  expect(agt(repository, 'accept', 's1').stderr).toContain('session "s1" has changed nothing yet');
  expect(rowsOf(repository)).toMatchObject([{ session_id: 's1', merged: false }]);
});

test('where the branch has the commits in another form, what is not committed lands as list counts it', () => {
  const { repository, sandbox } = setUp();
  write(join(sandbox, 'f'), withLine(8, 'eight'));
  git(sandbox, 'commit', '-qam', 'eight');
  git(repository, 'merge', '-q', '--squash', 'agt/s1');
  git(repository, 'commit', '-qm', 'squashed');
  write(join(sandbox, 'f'), `${LINES.join('\n')}\n`);
  expect(rowsOf(repository)).toMatchObject([{ merge: 'clean', diff: { insertions: 0, deletions: 1 } }]);
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'show', 'main:f')).toBe(LINES.join('\n'));
});

test('a fork that has gone back to where its parent began has no work', () => {
  const { repository, sandbox } = setUp();
  commit(sandbox, 'own');
  agtOk(repository, 'fork', 's1', '--id', 's2');
  agtOk(repository, 'accept', 's1');
  git(pathOf(repository, 's2'), 'reset', '-q', '--hard', 'HEAD~1');
  expect(agt(repository, 'accept', 's2').stderr).toContain('session "s2" has changed nothing yet');
  expect(rowsOf(repository)).toMatchObject([{ session_id: 's2', merged: false }]);
});

test('the first commit of all is amended: accept still says that the branch has all', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  git(repository, 'commit', '-q', '--amend', '-m', 'reworded');
  write(join(repository, 'b'), 'b\n');
  git(repository, 'add', 'b');
  git(repository, 'commit', '-qm', 'b');
  git(sandbox, 'cherry-pick', 'main');
  expect(agt(repository, 'accept', 's1').stderr).toContain(
    'nothing to accept: "main" has all work of session "s1"',
  );
});
