/** The branch has lost one acceptance of several, not the newest: the session has that work still. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, run, write } from '../harness/world.ts';

/** The agent commits `one` and `two`, which land one after the other. */
function landTwo(...between: string[]) {
  const session = makeSession({ a: 'a\n' });
  const { repository, sandbox } = session;
  const first = commit(sandbox, 'one');
  commit(sandbox, 'two');
  agtOk(repository, 'accept', 's1', '--commits', first, '--keep');
  if (between.length > 0) git(repository, ...between);
  agtOk(repository, 'accept', 's1', '--keep');
  const list = () => agtOk(repository, 'list');
  return { ...session, list, status: () => JSON.parse(agtOk(repository, 'list', '--json'))[0] };
}

function commit(at: string, name: string): string {
  write(join(at, name), `${name}\n`);
  git(at, 'add', name);
  // Before the acceptance, which keeps the author's date.
  const date = '2026-01-04T12:00:00+0100';
  run('git', ['commit', '-qm', `Add ${name}`], {
    cwd: at,
    env: { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  });
  return git(at, 'rev-parse', 'HEAD');
}

test.each([
  ['reverted', ['revert', '--no-edit', 'HEAD~1']],
  ['dropped by a rebase', ['rebase', '-q', '--onto', 'HEAD~2', 'HEAD~1']],
])('the first one %s: it counts, no command ends the session as merged, and it lands again', (_, act) => {
  const { repository, sandbox, list, status } = landTwo();
  expect(list()).toMatch(/ accepted /);
  git(repository, ...act);
  expect(list()).toMatch(/ \+1 -0 .* clean, accepted before /);
  expect(status()).toMatchObject({ merged: false, diff: { files: 1 } });
  expect(agtOk(repository, 'remove', '--merged', '-n')).toBe('');
  expect(agt(repository, 'remove', 's1', '--delete-branch').stderr).toContain('--force');
  expect(agtOk(repository, 'diff', 's1', '--base', '--name-only')).toBe('one');
  agtOk(repository, 'sync', 's1');
  expect(existsSync(join(sandbox, 'one'))).toBe(true);
  agtOk(repository, 'undo', 's1');
  expect(agtOk(repository, 'accept', 's1', '-n')).toContain('\n    Add one\n');
  expect(agtOk(repository, 'accept', 's1', '--keep')).toMatch(
    /^accepted s1: 1 file changed, \+1 -0\n {2}A one\n/,
  );
  expect(status()).toMatchObject({ merged: true });
});

test('a revert before the second acceptance, which lands the work again: changes of the user stay', () => {
  const { repository, sandbox, status } = landTwo('revert', '--no-edit', 'HEAD');
  expect(existsSync(join(repository, 'one'))).toBe(true);
  write(join(repository, 'one'), 'one\nof the user\n');
  git(repository, 'commit', '-qam', 'by the user');
  expect(status()).toMatchObject({ merged: true });
  write(join(sandbox, 'three'), 'three\n');
  expect(status()).toMatchObject({ merge: 'clean', diff: { files: 1 } });
  expect(agtOk(repository, 'accept', 's1', '--untracked=all', '-n')).toMatch(
    / 1 file changed, .*\n {2}A three/,
  );
});

test('all are in the session by a sync, then reverted: the hint lands all of them again', () => {
  const { repository, sandbox } = landTwo();
  agtOk(repository, 'sync', 's1');
  git(repository, 'revert', '--no-edit', 'HEAD~1');
  const hint = () => / git (revert .*)\n/.exec(agt(repository, 'accept', 's1').stderr)?.[1]?.split(' ') ?? [];
  expect(agt(repository, 'accept', 's1').stderr).toContain('"s1", and has reverted work of it\n');
  expect(hint()).toHaveLength(2);
  git(repository, 'revert', '--no-edit', 'HEAD~1');
  expect(agt(repository, 'accept', 's1').stderr).toContain('"s1", and has reverted work of it\n');
  expect(agtOk(repository, 'sync', 's1', '-n')).toContain('reverted work of this session');
  git(repository, ...hint(), '--no-edit');
  for (const name of ['one', 'two']) expect(existsSync(join(repository, name))).toBe(true);
  writeFileSync(join(sandbox, 'one'), 'changed\n');
  expect(agtOk(repository, 'accept', 's1', '--keep')).toContain('1 file changed, +1 -1');
});

test('a fork from before the first acceptance lands what the branch has lost of its parent', () => {
  const session = makeSession({ a: 'a\n' });
  const { repository, sandbox } = session;
  const first = commit(sandbox, 'one');
  commit(sandbox, 'two');
  agtOk(repository, 'fork', 's1', '--id', 'fork');
  agtOk(repository, 'accept', 's1', '--commits', first, '--keep');
  agtOk(repository, 'accept', 's1');
  git(repository, 'revert', '--no-edit', 'HEAD~1');
  expect(agtOk(repository, 'list')).toMatch(/^fork .* \+1 -0 .* clean/m);
  expect(agtOk(repository, 'accept', 'fork')).toMatch(/1 file changed, \+1 -0\n {2}A one/);
});

test('an amended acceptance that was synced and reverted is no work that the branch has', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  writeFileSync(join(sandbox, 'a'), '2\n');
  git(sandbox, 'commit', '-qam', 'by the agent');
  agtOk(repository, 'accept', 's1', '--keep');
  git(repository, 'commit', '-q', '--amend', '-m', 'amended');
  agtOk(repository, 'sync', 's1');
  git(repository, 'revert', '--no-edit', 'HEAD');
  const revert = git(repository, 'rev-parse', '--short=10', 'HEAD');
  expect(agt(repository, 'accept', 's1').stderr).toContain(`on "main": git revert ${revert}\n`);
  expect(agtOk(repository, 'sync', 's1')).toContain(`main has reverted work of this session (${revert})`);
});
