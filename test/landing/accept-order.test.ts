/** The order in which acceptances go back: the lines of `agt accept` name it. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionOf } from '../harness/session.ts';
import { agt, agtOk, write } from '../harness/world.ts';

test('of several, the last one goes back first; one alone goes back at once', () => {
  const { repository, sandbox } = makeSession();
  agtOk(repository, 'new', 's2', '-q');
  write(join(sandbox, 'one'), 'one\n');
  write(join(sessionOf(repository, 's2').sandbox, 'two'), 'two\n');
  const ways = agtOk(repository, 'accept', 's1', 's2', '--untracked=all').match(/^undo .*/gm);
  expect(ways).toEqual([
    'undo     agt session unaccept s1  (of several, the last one first)',
    'undo     agt session unaccept s2  (main is as before, and the session is back)',
  ]);
  agtOk(repository, 'undo', 's2');
  write(join(sessionOf(repository, 's2').sandbox, 'two'), 'more\n');
  const said = agtOk(sessionOf(repository, 's2').sandbox, 'accept', '--keep', '--untracked=all');
  expect(said).toMatch(/^undo {5}agt session unaccept s2$/m);
});

test('the words hold as well if the last one of several conflicts', () => {
  const { repository, sandbox } = makeSession();
  agtOk(repository, 'new', 's2', '-q');
  for (const folder of [sandbox, sessionOf(repository, 's2').sandbox]) write(join(folder, 'one'), folder);
  const { stdout, stderr } = agt(repository, 'accept', 's1', 's2', '--untracked=all');
  expect(stderr).toContain('conflict');
  const [way = ''] = stdout.match(/^undo .*/gm) ?? [];
  expect(way).toBe('undo     agt session unaccept s1  (of several, the last one first)');
  agtOk(repository, 'session', 'unaccept', 's1');
});
