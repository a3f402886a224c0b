/** agt sync after an acceptance: what is staged, and what is not, stay so. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agtOk, git } from '../harness/world.ts';

test('renamed, changed and new files, some of them staged in part', () => {
  const { repository, sandbox, id } = makeSession({ a: 'a\na\na\n', b: 'b\n', c: 'c\n' });
  const at = (name: string) => join(sandbox, name);
  git(sandbox, 'mv', 'a', 'aa');
  appendFileSync(at('b'), 'staged\n');
  writeFileSync(at('new'), 'staged\n');
  git(sandbox, 'add', 'b', 'new');
  for (const name of ['aa', 'b', 'c', 'new', 'announced']) appendFileSync(at(name), 'unstaged\n');
  git(sandbox, 'add', '-N', 'announced');
  agtOk(repository, 'accept', id, '--keep', '--include', 'c');
  const look = () => [['diff'], ['status', '--porcelain']].map((words) => git(sandbox, ...words, '.', ':!c'));
  const [diff, status] = look();
  expect(status).toBe('RM a -> aa\n A announced\nMM b\nAM new');
  expect(agtOk(repository, 'sync', id)).toContain('goes on from main');
  expect(look()).toEqual([diff, status]);
});
