/** The order in which acceptances go back: the lines of `agt accept` name it. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionOf } from '../harness/session.ts';
import { agtOk, write } from '../harness/world.ts';

test('of several, each but the last goes back after those that landed after it; one alone at once', () => {
  const { repository, sandbox } = makeSession();
  agtOk(repository, 'new', 's2', '-q');
  write(join(sandbox, 'one'), 'one\n');
  write(join(sessionOf(repository, 's2').sandbox, 'two'), 'two\n');
  const ways = agtOk(repository, 'accept', 's1', 's2', '--untracked=all').match(/^undo .*/gm);
  expect(ways).toEqual([
    'undo     agt session unaccept s1  (first unaccept what landed after it)',
    'undo     agt session unaccept s2  (main is as before, and the session is back)',
  ]);
  agtOk(repository, 'undo', 's2');
  write(join(sessionOf(repository, 's2').sandbox, 'two'), 'more\n');
  const said = agtOk(sessionOf(repository, 's2').sandbox, 'accept', '--keep', '--untracked=all');
  expect(said).toMatch(/^undo {5}agt session unaccept s2$/m);
});
