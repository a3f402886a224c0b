/** Names that a git tree must not hold are stored under others, so that git fsck accepts every snapshot. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodePath, encodePath } from '../../src/snapshot/tree-names.ts';
import { autocommit, makeSession, snapshotFolder } from '../harness/session.ts';
import { agtOk, git, write } from '../harness/world.ts';

const DIRECTORIES = [
  '.gitattributes',
  '.GitAttributes',
  'gitatt~1',
  'gi7d29~1',
  '.gitattributes .',
  'gi7d2~12',
];
const NAMES = [
  'gi7eba~1',
  'GI7EBA~9',
  'gi7e~123',
  '~1000000',
  'gitmod~4',
  '.gitmodules',
  'git~1',
  '.GIT ',
  'a~1',
  'x~',
];

test('git fsck accepts a snapshot with names that some file system takes for those of git', () => {
  const session = makeSession();
  for (const name of DIRECTORIES) write(join(session.sandbox, 'directories', name, 'file'), name);
  for (const name of NAMES) {
    write(join(session.sandbox, 'files', name), name);
    write(join(session.sandbox, 'directories', name, 'file'), name);
  }
  mkdirSync(join(session.sandbox, 'empty/.gitattributes'), { recursive: true });
  writeFileSync(join(session.sandbox, 'gitattributes'), 'x');
  const then = snapshotFolder(session.folder);
  autocommit(session, '--label', 'then');
  expect(git(session.repository, 'fsck', '--strict')).toBe('');
  agtOk(session.repository, 'session', 'remove', 's1');
  agtOk(session.repository, 'session', 'restore', 's1', '--to', 'then');
  expect(snapshotFolder(session.folder)).toEqual(then);
});

test('a file named .gitattributes, and most other names, stay as they are', () => {
  for (const path of ['a/.gitattributes', 'gitatt~5/x', 'gi7eba~/x', 'backup~', 'a~1/b', 'gi7ebb~1'])
    expect(encodePath(path)).toBe(path);
  for (const path of ['.gitattributes/x', 'a/gi7eba~1', '%agt-x']) {
    expect(encodePath(path)).not.toBe(path);
    expect(decodePath(encodePath(path))).toBe(path);
  }
});
