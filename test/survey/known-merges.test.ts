/** The answers of merges that agt list remembers: never a wrong one, and nothing that anybody misses. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { sessionIn } from '../harness/session.ts';
import { AGT, git, makeRepository, run, write } from '../harness/world.ts';

let repository: string;
let sandbox: string;
let file: string;

function commit(path: string, name: string, content: string): void {
  write(join(path, name), content);
  git(path, 'add', name);
  git(path, 'commit', '-q', '-m', name);
}

/** Both sides change the same line. */
beforeEach(() => {
  repository = makeRepository({ 'd/lines': 'one\n', other: 'other\n' });
  sandbox = sessionIn(repository).sandbox;
  file = join(repository, '.git/agt/merges');
  commit(sandbox, 'd/lines', 'one\nmine\n');
  commit(repository, 'd/lines', 'one\nyours\n');
});

function list(cwd = repository) {
  const { stdout, stderr } = run(AGT, ['list', '--json'], { cwd, env: { AGT_TRACE: '1' } });
  const [{ merge, merged }] = JSON.parse(stdout);
  return { merge, merged, merges: stderr.match(/--remerge-diff|merge-tree/g)?.length ?? 0 };
}

test('the second listing merges nothing, and says the same', () => {
  expect(list()).toEqual({ merge: 'conflict', merged: false, merges: 2 });
  const text = readFileSync(file, 'utf8');
  expect(list()).toEqual({ merge: 'conflict', merged: false, merges: 0 });
  expect(readFileSync(file, 'utf8')).toBe(text);
  rmSync(file);
  expect(list()).toEqual({ merge: 'conflict', merged: false, merges: 2 });
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'more');
  expect(list()).toMatchObject({ merge: 'conflict', merges: 2 });
  commit(sandbox, 'd/lines', 'one\nyours\n');
  expect(list()).toEqual({ merge: null, merged: true, merges: 2 });
  expect(list()).toEqual({ merge: null, merged: true, merges: 0 });
});

const SETTINGS: [string, () => void][] = [
  [
    'attributes of the repository',
    () => write(join(repository, '.git/info/attributes'), 'lines merge=union\n'),
  ],
  [
    'attributes of the user',
    () => {
      write(join(repository, '../attributes'), 'lines merge=union\n');
      git(repository, 'config', 'core.attributesFile', join(repository, '../attributes'));
    },
  ],
  [
    'the branch has attributes in a directory',
    () => commit(repository, 'd/.gitattributes', 'lines merge=union\n'),
  ],
  ['a default driver', () => git(repository, 'config', 'merge.default', 'union')],
];

test.each(SETTINGS)('it merges again if %s', (_name, change) => {
  expect(list().merge).toBe('conflict');
  change();
  expect(list()).toMatchObject({ merge: 'clean' });
  expect(list(sandbox)).toMatchObject({ merge: 'clean', merges: 0 });
});

test('other settings of merges, another git: it merges again', () => {
  list();
  git(repository, 'config', 'merge.renames', 'false');
  expect(list()).toMatchObject({ merges: 2 });
  git(repository, 'config', 'user.nickname', 'counts for nothing');
  expect(list()).toMatchObject({ merges: 0 });
  commit(repository, 'more', 'more\n');
  list();
  const first = git(repository, 'rev-list', '--max-parents=0', 'HEAD');
  git(repository, 'replace', '--graft', git(repository, 'rev-parse', 'HEAD'), first);
  expect(list()).toMatchObject({ merges: 2 });
});

test('nothing is kept where a program merges', () => {
  git(repository, 'config', 'merge.own.driver', 'false');
  expect(list()).toMatchObject({ merge: 'conflict', merges: 2 });
  expect(list()).toMatchObject({ merge: 'conflict', merges: 2 });
  expect(existsSync(file)).toBe(false);
});

test('a damaged file, a part of one, and one that cannot be written', () => {
  list();
  const whole = readFileSync(file, 'latin1');
  for (let end = 0; end < whole.length; end += 7) {
    writeFileSync(file, whole.slice(0, end));
    expect(list()).toMatchObject({ merge: 'conflict', merged: false });
  }
  writeFileSync(file, whole.replaceAll(' yes', ' \0').replaceAll(' no', ' n'));
  expect(list()).toEqual({ merge: 'conflict', merged: false, merges: 2 });
  rmSync(file);
  write(join(file, 'in the way'), '');
  expect(list()).toEqual({ merge: 'conflict', merged: false, merges: 2 });
});

test('a new file in a directory that the session has renamed is a conflict, as agt accept says', () => {
  git(repository, 'reset', '-q', '--hard', 'HEAD~');
  git(sandbox, 'reset', '-q', '--hard', 'main');
  git(sandbox, 'mv', 'd', 'e');
  git(sandbox, 'commit', '-q', '-m', 'e');
  commit(repository, 'd/new', 'new\n');
  expect(list().merge).toBe('conflict');
  expect(run(AGT, ['accept', 's1', '-n'], { cwd: repository }).stderr).toContain('e/new: file location');
});

test('a file in the way of a directory has its own name', () => {
  git(repository, 'reset', '-q', '--hard', 'HEAD~');
  git(sandbox, 'reset', '-q', '--hard', 'main');
  commit(sandbox, 'n', 'file\n');
  commit(repository, 'n/file', 'file\n');
  const { stderr } = run(AGT, ['accept', 's1', '-n'], { cwd: repository });
  expect(stderr).toContain('\nhint: n: file/directory\n');
});
