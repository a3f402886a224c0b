/** A session that was accepted and goes on: kept, or brought back by undo. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';

function accepted(...how: string[]) {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  const theirs = join(repository, 'new');
  writeFileSync(join(sandbox, 'new'), 'one\n');
  agtOk(repository, 'accept', 's1', ...how);
  return { repository, sandbox, theirs, read: () => readFileSync(theirs, 'utf8') };
}

const listed = (repository: string) => JSON.parse(agtOk(repository, 'list', '--json'))[0];

test('after accept and undo, list and accept say that the branch has all; later work lands, and unaccept takes it back', () => {
  const { repository, sandbox, theirs, read } = accepted();
  writeFileSync(join(repository, 'a'), 'by the user\n');
  git(repository, 'commit', '-qam', 'Mine');
  agtOk(repository, 'undo', 's1');
  expect(listed(repository)).toMatchObject({ state: 'active', merge: null, merged: true });
  expect(agtOk(repository, 'list')).toMatch(/ accepted /);
  expect(agt(repository, 'accept', 's1').stderr).toContain('nothing to accept: "main" has all work of');
  appendFileSync(join(sandbox, 'new'), 'two\n');
  writeFileSync(theirs, 'zero\none\n');
  git(repository, 'commit', '-qam', 'On top');
  expect(listed(repository)).toMatchObject({ merged: false });
  agt(repository, 'accept', 's1', '--dry-run');
  writeFileSync(theirs, 'one\n');
  git(repository, 'commit', '-qam', 'Back');
  expect(listed(repository)).toMatchObject({ merge: 'clean', merged: false });
  agtOk(repository, 'accept', 's1');
  expect(read()).toBe('one\ntwo\n');
  agtOk(repository, 'session', 'unaccept', 's1');
  expect([read(), readFileSync(join(sandbox, 'new'), 'utf8')]).toEqual(['one\n', 'one\ntwo\n']);
});

test('the user amends the commit of a kept session: agt knows it in the other form', () => {
  const { repository, sandbox, theirs, read } = accepted('--keep');
  writeFileSync(theirs, 'ONE\n');
  git(repository, 'commit', '-q', '--amend', '-am', 'My words');
  expect(listed(repository)).toMatchObject({ merge: null, merged: true });
  expect(agt(repository, 'accept', 's1').stderr).toContain('nothing to accept: "main" has all work of');
  const tip = git(repository, 'rev-parse', 'main');
  expect(agt(repository, 'session', 'unaccept', 's1').stderr).toMatch(
    new RegExp(`in another form, as ${tip.slice(0, 12)}\nhint: .*: git revert ${tip.slice(0, 12)}\n`),
  );
  writeFileSync(join(sandbox, 'b'), 'more\n');
  expect(listed(repository)).toMatchObject({ merge: 'clean', merged: false });
  agtOk(repository, 'accept', 's1');
  expect([read(), readFileSync(join(repository, 'b'), 'utf8')]).toEqual(['ONE\n', 'more\n']);
});

test.each([
  ['by git revert', ['revert', '--no-edit', 'HEAD~1']],
  ['in words of the user', ['revert', '--no-commit', 'HEAD~1']],
])(
  'a landed commit that the branch takes back %s: the session lands again, and sync keeps its work',
  (_, revert) => {
    const { repository, sandbox, read } = accepted();
    writeFileSync(join(repository, 'a'), 'by the user\n');
    git(repository, 'commit', '-qam', 'Mine');
    git(repository, ...revert);
    if (revert[1] === '--no-commit') git(repository, 'commit', '-qm', 'Not yet');
    agtOk(repository, 'undo', 's1');
    expect(listed(repository)).toMatchObject({ merge: 'clean', merged: false });
    git(sandbox, 'add', '--all');
    git(sandbox, 'commit', '-qm', 'By the agent');
    expect(listed(repository)).toMatchObject({ merge: 'clean', merged: false });
    agtOk(repository, 'sync', 's1');
    expect(readFileSync(join(sandbox, 'new'), 'utf8')).toBe('one\n');
    agtOk(repository, 'accept', 's1', '--keep');
    expect(read()).toBe('one\n');
  },
);

test('a landed commit that is taken back and brought again has landed', () => {
  const { repository } = accepted('--keep');
  for (let i = 0; i < 2; i++) git(repository, 'revert', '--no-edit', 'HEAD');
  expect(listed(repository)).toMatchObject({ merge: null, merged: true });
});
