/** The row of a session that has ended: its last snapshot has the files as they were on disk. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionIn } from '../harness/session.ts';
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
