/** A branch that has reverted an acceptance which kept the commits: git takes them for merged all the same. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';

test('the session is not merged, a sync says what goes, and accept how to land it', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  writeFileSync(join(sandbox, 'new'), 'one\n');
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-qm', 'by the agent');
  agtOk(repository, 'accept', 's1', '--keep-commits');
  git(repository, 'revert', '--no-edit', '-m', '1', 'HEAD');
  const revert = git(repository, 'rev-parse', '--short=10', 'HEAD');
  agtOk(repository, 'undo', 's1');
  const [status] = JSON.parse(agtOk(repository, 'list', '--json'));
  expect(status).toMatchObject({ state: 'active', merged: false });
  expect(agtOk(repository, 'remove', '--merged', '-n')).toBe('');
  const { stderr } = agt(repository, 'accept', 's1');
  expect(stderr).toContain('has all commits of session "s1", and has reverted them');
  expect(agtOk(repository, 'sync', 's1', '-n')).toContain(`reverted work of this session (${revert})`);
  expect(agtOk(repository, 'sync', 's1')).toMatch(/it is gone here, too; to have it back: agt undo s1$/m);
  expect(existsSync(join(sandbox, 'new'))).toBe(false);
  agtOk(repository, 'undo', 's1');
  expect(readFileSync(join(sandbox, 'new'), 'utf8')).toBe('one\n');
  const [, way = ''] = /git (revert \w+)$/m.exec(stderr) ?? [];
  git(repository, ...way.split(' '), '--no-edit');
  expect(readFileSync(join(repository, 'new'), 'utf8')).toBe('one\n');
  expect(JSON.parse(agtOk(repository, 'list', '--json'))[0]).toMatchObject({ merged: true });
});
