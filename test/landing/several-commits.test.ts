/** An acceptance of several commits stands as long as the branch has each of them. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

/** The agent has committed n1, n2 and n3, each as a file, and all have landed. */
function landed(...words: string[]) {
  const { repository, sandbox } = makeSession();
  for (const name of ['n1', 'n2', 'n3']) {
    write(join(sandbox, name), `${name}\n`);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', name);
  }
  agtOk(repository, 'accept', 's1', '--keep', ...words);
  const row = () => JSON.parse(agtOk(repository, 'list', '--json'))[0];
  return { repository, row };
}

const PICKED = ['--commits', 'agt/s1~2,agt/s1~1,agt/s1'];
const STANDS = { merge: null, merged: true, diff: { files: 0 } };
const LACKS_ONE = { merge: 'clean', merged: false, diff: { files: 1 } };

test.each([0, 1, 2])('a revert of the commit %i before the last of a pick: it lands again', (back) => {
  const { repository, row } = landed(...PICKED);
  expect(row()).toMatchObject(STANDS);
  git(repository, 'revert', '--no-edit', `HEAD~${back}`);
  expect(row()).toMatchObject({
    ...LACKS_ONE,
    landed: { reverted_by: git(repository, 'rev-parse', 'HEAD') },
  });
  expect(agtOk(repository, 'remove', '--merged', '-n')).toBe('');
  agtOk(repository, 'accept', 's1', '--keep');
  expect(git(repository, 'ls-files')).toBe('README.md\nn1\nn2\nn3');
  expect(row()).toMatchObject(STANDS);
});

test.each([
  ['a pick', PICKED, ['HEAD~2', 'HEAD~1', 'HEAD~3']],
  ['a merge', ['--keep-commits'], ['HEAD^2', 'HEAD~1^2~1', 'HEAD~2^2~2']],
])('reverts of some commits of %s take it back in part, until all are reverted', (_, words, commits) => {
  const { repository, row } = landed(...words);
  const told = commits.map((commit) => {
    git(repository, 'revert', '--no-edit', commit);
    const [{ stands, reverted_in_part }] = JSON.parse(agtOk(repository, 'activity', '--json'));
    expect([stands, row().landed.reverted_in_part]).toEqual([false, reverted_in_part]);
    return /(in part )?reverted by \w+$/m.exec(agtOk(repository, 'activity'))?.[1];
  });
  expect(told).toEqual(['in part ', 'in part ', undefined]);
});

test('the revert of a merge takes back all of it', () => {
  const { repository, row } = landed('--keep-commits');
  git(repository, 'revert', '-m1', '--no-edit', 'HEAD');
  expect(row().landed).toMatchObject({
    ...{ reverted_by: git(repository, 'rev-parse', 'HEAD'), reverted_in_part: false },
  });
});

test.each([1, 2])('a rebase drops the commit %i before the last of a pick: it lands again', (back) => {
  const { repository, row } = landed(...PICKED);
  git(repository, 'rebase', '-q', '--onto', `HEAD~${back + 1}`, `HEAD~${back}`);
  expect(row()).toMatchObject({ ...LACKS_ONE, landed: { lost: true } });
  agtOk(repository, 'accept', 's1', '--keep');
  expect(git(repository, 'ls-files')).toBe('README.md\nn1\nn2\nn3');
  expect(row()).toMatchObject(STANDS);
});

test('all of them as one commit, or rebased, stand; a sync names each of them', () => {
  const { repository, row } = landed(...PICKED);
  const sync = 's1 would go on from main (3 commits, accepted from s1)';
  expect(agtOk(repository, 'sync', 's1', '-n')).toBe(sync);
  git(repository, '-c', 'user.name=other', 'rebase', '-q', '--force-rebase', 'HEAD~3');
  expect(row()).toMatchObject(STANDS);
  expect(agtOk(repository, 'sync', 's1', '-n')).toBe(sync);
  git(repository, 'reset', '-q', '--soft', 'HEAD~3');
  git(repository, 'commit', '-qm', 'squashed');
  expect(row()).toMatchObject(STANDS);
});

test('of kept commits git has all, and the refusal names the revert of one', () => {
  const { repository, row } = landed('--keep-commits');
  expect(row()).toMatchObject(STANDS);
  git(repository, 'revert', '--no-edit', 'agt/s1~1');
  const by = git(repository, 'rev-parse', 'HEAD');
  expect(row()).toMatchObject({ merged: false, landed: { reverted_by: by } });
  const { stderr } = agt(repository, 'accept', 's1');
  expect(stderr).toContain(`to land that again, on "main": git revert ${by.slice(0, 10)}\n`);
});

test('kept commits of which the user has reverted one are the same by their names and as a range', () => {
  const { repository } = landed('--keep-commits');
  git(repository, 'revert', '--no-edit', 'agt/s1~1');
  const [named, range] = [PICKED, ['--commits', 'agt/s1~3..agt/s1']].map((words) =>
    agt(repository, 'accept', 's1', '-n', ...words),
  );
  expect(named).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(', +1 -0\n  A n2\n') });
  expect(range).toEqual(named);
});

test('kept commits stand as the last of them if a rebase takes the merge away', () => {
  const { repository, row } = landed('--keep-commits');
  git(repository, 'rebase', '-q', 'HEAD~1');
  expect(git(repository, 'log', '--format=%s', '-2')).toBe('n3\nn2');
  expect(row()).toMatchObject({
    merged: true,
    landed: { lost: false, now_as: git(repository, 'rev-parse', 'HEAD') },
  });
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  expect(row()).toMatchObject({ merged: false, landed: { lost: true, now_as: null } });
});

test.each([
  ['a cherry-pick', ['cherry-pick', 'HEAD~1']],
  ['the same edit', ['checkout', 'HEAD~1', '.']],
])('what a revert has taken back is on the branch again by %s, until that is reverted', (_, words) => {
  const { repository, row } = landed();
  git(repository, 'revert', '--no-edit', 'HEAD');
  expect(row()).toMatchObject({ merged: false });
  git(repository, ...words);
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'again');
  expect(row()).toMatchObject({ ...STANDS, landed: { reverted_by: null } });
  expect(agt(repository, 'accept', 's1', '-n').stderr).toContain('"main" has all work of session "s1"');
  git(repository, 'revert', '--no-edit', words[0] === 'checkout' ? 'HEAD' : 'HEAD~1');
  expect(row()).toMatchObject({ merged: false, merge: 'clean' });
});
