/** The row of a session that has ended: its last snapshot has the files as they were on disk. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { agtOk, git, makeRepository, write } from '../harness/world.ts';

test('it counts no file that git converts, has under another name, or keeps in a submodule', () => {
  const lib = makeRepository({ l: 'l\n' });
  const repository = makeRepository({ '.gitattributes': '*.bat eol=crlf\n', 'a.bat': 'a\n', f: 'f\n' });
  const allow = ['-c', 'protocol.file.allow=always'];
  for (const name of ['cloned', 'not-cloned']) git(repository, ...allow, 'submodule', 'add', '-q', lib, name);
  git(repository, 'commit', '-q', '-m', 'submodules');
  const { sandbox, id } = sessionIn(repository);
  git(sandbox, ...allow, 'submodule', 'update', '-q', '--init', 'cloned');
  write(join(sandbox, 'f'), 'f\nmore\n');
  git(sandbox, 'commit', '-qam', 'work');
  const row = () => {
    const [{ diff, merge, merged }] = JSON.parse(agtOk(repository, 'list', '--all', '--json'));
    return { diff, merge, merged };
  };
  const before = row();
  expect(before).toMatchObject({ merge: 'clean', diff: { files: 1, insertions: 1 } });
  agtOk(repository, 'remove', id);
  expect(row()).toEqual(before);
  git(repository, 'merge', '-q', '--squash', `agt/${id}`);
  git(repository, 'commit', '-q', '-m', 'squashed');
  expect(row()).toMatchObject({ merge: null, merged: true, diff: { files: 0 } });
});

test('its uncommitted files count as before, if HEAD is known', () => {
  const { repository, sandbox, id } = makeSession();
  write(join(sandbox, 'committed'), '1\n');
  git(sandbox, 'add', '.');
  git(sandbox, 'commit', '-qm', 'work');
  write(join(sandbox, 'open'), '1\n');
  agtOk(repository, 'new', 'landed-in-part');
  for (const one of ['a', 'b']) write(join(agtOk(repository, 'path', 'landed-in-part'), one), one);
  const rows = () => {
    const all = JSON.parse(agtOk(repository, 'list', '--all', '--json'));
    return all.map(({ ahead, dirty }: { ahead: number; dirty: number }) => [ahead, dirty]);
  };
  expect(rows()).toEqual([
    [1, 1],
    [0, 2],
  ]);
  agtOk(repository, 'remove', id);
  agtOk(repository, 'accept', 'landed-in-part', '--include', 'a');
  expect(rows()).toEqual([
    [1, 1],
    [null, null],
  ]);
  expect(agtOk(repository, 'list', '--all')).toMatch(/^s1 +removed +\+1 +1 +\+2 -0 +- +clean /m);
});

test('how far a session that has ended is behind is said neither in the list nor in JSON', () => {
  const { repository } = makeSession();
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'Mine');
  const behind = (command: string, ...words: string[]) =>
    [JSON.parse(agtOk(repository, 'session', command, ...words, '--json'))].flat()[0].behind;
  const both = () => [behind('list', '--all'), behind('show', 's1')];
  expect(both()).toEqual([1, 1]);
  agtOk(repository, 'remove', 's1');
  expect(both()).toEqual([null, null]);
  expect(agtOk(repository, 'list', '--all')).toMatch(/^s1 +removed +\+0 +- +- +- /m);
});

test('an accepted session is merged if all of it landed, and as long as its commit stands', () => {
  const { repository } = makeSession();
  const commit = git(repository, 'rev-parse', 'main');
  const row = () => {
    const list = JSON.parse(agtOk(repository, 'list', '--all', '--json'));
    return list.map(({ merged }: { merged: boolean }) => merged);
  };
  for (const id of ['whole', 'in-part']) {
    const { sandbox } = sessionIn(repository, id);
    for (const name of [id, `rest of ${id}`]) write(join(sandbox, name), id);
  }
  agtOk(repository, 'accept', 'whole');
  agtOk(repository, 'accept', 'in-part', '--include', 'in-part');
  expect(row()).toEqual([false, true, false]);
  const { state_at, landed } = JSON.parse(agtOk(repository, 'session', 'show', 'whole', '--json'));
  expect(state_at).toBe(landed.at);
  expect(agtOk(repository, 'remove', '--merged', '-n')).toBe('');
  git(repository, 'revert', '--no-edit', 'main~1');
  expect(row()).toEqual([false, false, false]);
  git(repository, 'revert', '--no-edit', 'main');
  expect(row()).toEqual([false, true, false]);
  git(repository, 'reset', '-q', '--hard', commit);
  expect(row()).toEqual([false, false, false]);
});
