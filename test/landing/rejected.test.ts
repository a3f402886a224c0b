/** Rejections of sessions of which something was accepted, or that were rejected before. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';

test('a session that is rejected after an acceptance says that its work stays, and how it goes', () => {
  const session = makeSession();
  const { repository } = session;
  writeFileSync(join(session.sandbox, 'new'), 'new\n');
  agtOk(repository, 'accept', 's1', '--keep');
  expect(agtOk(repository, 'reject', 's1')).toContain(
    'stays    its work on main, accepted before; to take it off: agt undo s1; agt unaccept s1',
  );
  expect(agt(repository, 'unaccept', 's1').stderr).toContain(
    'hint: bring it back: agt undo s1; main stays as it is\n',
  );
  agtOk(repository, 'undo', 's1');
  git(repository, 'update-ref', 'refs/remotes/origin/main', 'main');
  const revert = `git revert ${git(repository, 'rev-parse', '--short=12', 'main')}`;
  expect(agtOk(repository, 'reject', 's1')).toContain(`undo it by a new commit, on "main": ${revert}`);
  git(repository, 'update-ref', '-d', 'refs/remotes/origin/main');
  agtOk(repository, 'undo', 's1');
  agtOk(repository, 'unaccept', 's1');
  expect(existsSync(join(repository, 'new'))).toBe(false);
});

test('the reason of a later agt reject is kept', () => {
  const { repository } = makeSession();
  agtOk(repository, 'reject', 's1', '--reason', 'early');
  const reason = () => JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json')).state_reason;
  expect(agtOk(repository, 'reject', 's1', '--reason', 'late', '-n')).toContain('would take the new reason');
  expect([agtOk(repository, 'reject', 's1'), reason()]).toEqual([
    expect.not.stringContaining('reason'),
    'early',
  ]);
  expect(agtOk(repository, 'reject', 's1', '--reason', 'late')).toBe(
    's1: rejected before; took the new reason; bring it back: agt undo s1',
  );
  expect(reason()).toBe('late');
});
