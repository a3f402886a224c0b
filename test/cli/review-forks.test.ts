/** agt review begins where agt accept does: the branch may have work of the session by its parent or a fork. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';

const LINES = Array.from({ length: 60 }, (_, i) => `${i + 1}`);

/** Edits are by number of the line. */
function work() {
  const { repository, sandbox } = makeSession({ f: `${LINES.join('\n')}\n` });
  const path = (id: string) =>
    id === 's1' ? sandbox : id === 'main' ? repository : agtOk(repository, 'path', id);
  const edit = (id: string, edits: Readonly<Record<number, string>>, subject?: string) => {
    const text = LINES.map((line, i) => edits[i + 1] ?? line).join('\n');
    writeFileSync(join(path(id), 'f'), `${text}\n`);
    if (subject !== undefined) git(path(id), 'commit', '-qam', subject);
  };
  const review = (id: string, ...words: string[]) => agtOk(repository, 'review', id, ...words);
  const changes = (lines: readonly string[]) => lines.filter((line) => /^[-+](?![-+])/.test(line)).join(' ');
  return {
    repository,
    edit,
    review,
    reject: (id: string, line: number) => review(id, '--split', '--reject', `f:${line}`, '-m', 'no'),
    land: (id: string, ...words: string[]) => agtOk(repository, 'accept', id, ...words),
    fork: (from: string, id: string) => agtOk(repository, 'fork', from, '--id', id),
    /** The hunks of the review. `agt diff --base` has the same lines. */
    open: (id: string) => {
      const hunks: { state: string; lines: string[] }[] = JSON.parse(review(id, '--json'));
      const based = agtOk(repository, 'diff', id, '--base', '-U0').split('\n');
      expect(changes(hunks.flatMap(({ lines }) => lines))).toBe(changes(based));
      return hunks.map(({ state, lines }) => `${state} ${changes(lines)}`);
    },
  };
}

const FIFTY = 'rejected -50 +fifty';
const EDITS = { 5: 'five', 50: 'fifty' };
const MORE = { ...EDITS, 15: 'fifteen', 40: 'forty' };

test.each<[string, (at: ReturnType<typeof work>) => void, string[]?]>([
  ['after the acceptance', ({ land, fork }) => [land('s1', '--keep'), fork('s1', 'k')]],
  ['after the end', ({ land, fork }) => [land('s1'), fork('s1', 'k')]],
  ['before the acceptance', ({ land, fork }) => [fork('s1', 'k'), land('s1', '--keep')]],
  [
    'of a fork, after the acceptance',
    ({ land, fork }) => [land('s1', '--keep'), fork('s1', 'j'), fork('j', 'k')],
  ],
  [
    'of a fork, before the acceptance',
    ({ land, fork }) => [fork('s1', 'j'), fork('j', 'k'), land('s1', '--keep')],
  ],
  [
    'after the acceptance and a commit of the user',
    ({ land, fork, edit }) => [
      land('s1', '--keep'),
      edit('main', { 5: 'five', 30: 'user' }, 'user'),
      fork('s1', 'k'),
    ],
  ],
  [
    'between two acceptances',
    ({ land, fork, edit, reject }) => [
      land('s1', '--keep'),
      fork('s1', 'k'),
      edit('s1', MORE),
      reject('s1', 40),
      land('s1', '--keep'),
    ],
  ],
  [
    'after two acceptances',
    ({ land, fork, edit, reject }) => [
      land('s1', '--keep'),
      edit('s1', MORE),
      reject('s1', 40),
      land('s1', '--keep'),
      fork('s1', 'k'),
    ],
    ['rejected -40 +forty', FIFTY],
  ],
])('what has landed with a hunk rejected is not new in a fork made %s', (_, make, rejected = [FIFTY]) => {
  const at = work();
  const { repository, edit, reject, open, review } = at;
  edit('s1', EDITS);
  reject('s1', 50);
  make(at);
  expect(open('k')).toEqual(rejected);
  expect(agt(repository, 'accept', 'k').stderr).toContain(`only ${rejected.length} rejected hunk`);
  review('k', '--reset');
  const phantom = agt(repository, 'review', 'k', '--reject', 'f:5', '-m', 'no', '--now');
  expect(phantom.stderr).toContain('error: ');
  git(agtOk(repository, 'path', 'k'), 'commit', '-qam', 'work');
  agtOk(repository, 'sync', 'k');
  expect(open('k')).toEqual(rejected.map((one) => one.replace('rejected', 'new')));
});

test.each(['committed', 'not committed'])(
  'the commits of a parent have landed, and a rejected hunk is %s',
  (how) => {
    const { repository, edit, reject, land, fork, open } = work();
    edit('s1', { 5: 'five' }, 'five');
    edit('s1', EDITS, how === 'committed' ? 'fifty' : undefined);
    reject('s1', 50);
    land('s1', '--keep', '--commits', how === 'committed' ? 'agt/s1~' : 'agt/s1');
    fork('s1', 'k');
    expect(open('k')).toEqual([FIFTY]);
    expect(agt(repository, 'accept', 'k').stderr).toContain('only 1 rejected hunk');
  },
);

test('work that the branch has by another session is new again once the branch has lost it', () => {
  const { repository, edit, reject, land, fork, open, review } = work();
  edit('s1', EDITS);
  fork('s1', 'k');
  reject('s1', 50);
  land('s1', '--keep');
  review('k', '--seen', 'f');
  expect(open('k')).toEqual(['seen -50 +fifty']);
  agtOk(repository, 'unaccept', 's1');
  expect(open('k')).toEqual(['new -5 +five', 'seen -50 +fifty']);
  land('s1', '--keep');
  git(repository, 'revert', '--no-edit', 'HEAD');
  expect(open('k')).toEqual(['new -5 +five', 'seen -50 +fifty']);
});

test('a session that was accepted in part: what its fork has landed since is not new, and --seen takes the rest', () => {
  const { repository, edit, reject, land, fork, open, review } = work();
  writeFileSync(join(agtOk(repository, 'path', 's1'), 'new'), 'new\n');
  edit('s1', EDITS);
  land('s1', '--keep', '--untracked=all', '--include', 'new');
  fork('s1', 'k');
  reject('k', 50);
  land('k');
  expect(open('s1')).toEqual(['new -50 +fifty']);
  review('s1', '--all');
  land('s1', '--seen');
  expect(git(repository, 'show', '--format=', '--numstat', 'main')).toBe('1\t1\tf');
  const [row] = JSON.parse(agtOk(repository, 'list', '--json'));
  expect(row).toMatchObject({ merged: true });
  expect(open('s1')).toEqual([]);
});
