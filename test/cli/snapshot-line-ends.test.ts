/** The first snapshot of a checkout has no changes where the checkout alone has given files CRLF. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtOk, git, makeRepository } from '../harness/world.ts';

test('a file with eol=crlf is no change of the first snapshot, and an edit of it is one', () => {
  const files = { '.gitattributes': '*.bat eol=crlf\n', 'a.bat': 'one\ntwo\n', 'b.bat': 'one\n' };
  const repository = makeRepository(files);
  git(repository, 'rm', '-q', '--cached', '-r', '.');
  git(repository, 'reset', '-q', '--hard');
  writeFileSync(join(repository, 'b.bat'), 'one\r\nand more\r\n');
  agtOk(repository, 'snapshot');
  const [first] = JSON.parse(agtOk(repository, 'snapshot', 'list', '--stat', '--json'));
  expect(first.files).toMatchObject([{ path: 'b.bat' }]);
});
