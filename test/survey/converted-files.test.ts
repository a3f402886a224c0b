import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtOk, git, makeRepository } from '../harness/world.ts';

const ATTRIBUTES = '*.id ident\n*.up filter=up\n*.txt text\n';

test.each([{ autocrlf: 'true' }, { autocrlf: 'false' }])(
  'agt list counts lines as git stores them: line endings, filters, ident (%o)',
  ({ autocrlf }) => {
    const repository = makeRepository({ '.gitattributes': ATTRIBUTES });
    git(repository, 'config', 'core.autocrlf', autocrlf);
    git(repository, 'config', 'filter.up.clean', 'tr a-z A-Z');
    git(repository, 'config', 'filter.up.smudge', 'tr A-Z a-z');
    const files = { 'a.txt': '1\r\n2\r\n', 'v.id': '$Id$ v\n', 'q.up': 'abc\n' };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(repository, name), content);
    git(repository, 'add', '-A');
    git(repository, 'commit', '-qm', 'Files');
    const { sandbox } = JSON.parse(agtOk(repository, 'new', 's1', '--json'));
    for (const name of ['a.txt', 'v.id', 'q.up']) appendFileSync(join(sandbox, name), 'more\r\n');
    writeFileSync(join(sandbox, 'new "1".txt'), '1\r\n2\r\n');
    const [listed] = JSON.parse(agtOk(repository, 'list', '--json'));
    expect(listed.diff).toEqual({ files: 4, insertions: 5, deletions: 0, in_part: false });
  },
);
