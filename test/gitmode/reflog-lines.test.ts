/** Entries leave the stash of the user by their text, with the same result as by `git reflog delete`. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reflogLines, removeReflogLines } from '../../src/gitmode/stash/reflog-lines.ts';
import { git, makeRepository, makeTempDir } from '../harness/world.ts';

test('lines leave a reflog as git itself removes them; a lock of another git is waited for and respected', () => {
  const repository = makeRepository({ a: 'a\n' });
  for (const text of ['one', 'ünï', 'three']) {
    writeFileSync(join(repository, 'a'), text);
    git(repository, 'stash', 'push', '-q', '-m', text);
  }
  const lines = reflogLines(join(repository, '.git'), 'refs/stash');
  for (const removed of [[0], [1], [2], [0, 2], [0, 1, 2]]) {
    const [own, other] = [1, 2].map(() => {
      const copy = join(makeTempDir(), 'copy');
      cpSync(repository, copy, { recursive: true });
      return copy;
    }) as [string, string];
    removeReflogLines(
      join(own, '.git'),
      'refs/stash',
      removed.map((i) => lines[i] ?? ''),
    );
    // The oldest has the highest number, so the others keep theirs.
    for (const i of removed) git(other, 'stash', 'drop', '-q', `stash@{${lines.length - 1 - i}}`);
    for (const name of ['refs/stash', 'logs/refs/stash']) {
      const [one, two] = [own, other].map((dir) => join(dir, '.git', name)) as [string, string];
      expect(existsSync(one)).toBe(existsSync(two));
      if (existsSync(one)) expect(readFileSync(one, 'latin1')).toBe(readFileSync(two, 'latin1'));
    }
    expect(existsSync(join(own, '.git/refs/stash.lock'))).toBe(false);
  }
  const lock = join(repository, '.git/refs/stash.lock');
  writeFileSync(lock, '');
  expect(() => removeReflogLines(join(repository, '.git'), 'refs/stash', lines)).toThrow('EEXIST');
  expect(existsSync(lock)).toBe(true);
  expect(reflogLines(join(repository, '.git'), 'refs/stash')).toEqual(lines);
});
