/** One git answers many questions: also about what is missing, large or new, and another one answers if somebody kills it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findObject, readObject } from '../../../src/git/objects/object-reader.ts';
import { openGit } from '../../../src/git/run/git.ts';
import { git, makeRepository, REAL_GIT, write } from '../../harness/world.ts';

/** The gits that this process has started. */
function children(): number[] {
  return globSync('/proc/[0-9]*/stat').flatMap((path) => {
    const [pid, , , parent] = (readIfThere(path) ?? '')
      .replace(/\(.*\)/, 'name')
      .split(' ')
      .map(Number);
    return parent === process.pid && pid !== undefined ? [pid] : [];
  });
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined; // it has ended meanwhile
  }
}

test('questions at once, missing objects, large ones, names with spaces and line breaks, new refs', async () => {
  const large = 'x'.repeat(300_000);
  const repository = makeRepository({ a: 'a\n', 'with space': 'b\n', large, 'line\nbreak': 'c\n' });
  const opened = openGit(REAL_GIT, repository, process.env);
  const oid = (name: string) => git(repository, 'rev-parse', name);
  const [a, missing, spaced, big, broken] = await Promise.all([
    readObject(opened, 'HEAD:a'),
    readObject(opened, 'HEAD:nothing'),
    findObject(opened, 'HEAD:with space'),
    readObject(opened, 'HEAD:large'),
    findObject(opened, 'HEAD:line\nbreak'),
  ]);
  expect(a).toEqual({ oid: oid('HEAD:a'), type: 'blob', content: Buffer.from('a\n') });
  expect(missing).toBeUndefined();
  expect(spaced).toBe(oid('HEAD:with space'));
  expect(big?.content.toString()).toBe(large);
  expect(broken).toBe(oid('HEAD:line\nbreak'));
  expect(await findObject(opened, 'refs/heads/later')).toBeUndefined();
  write(join(repository, 'a'), 'new\n');
  git(repository, 'commit', '-q', '-a', '-m', 'second');
  git(repository, 'branch', 'later');
  expect(await findObject(opened, 'refs/heads/later^{commit}')).toBe(oid('later'));
  expect((await readObject(opened, 'later:a'))?.content.toString()).toBe('new\n');
});

test('another git answers after one was killed', async () => {
  const repository = makeRepository({ a: 'a\n' });
  const opened = openGit(REAL_GIT, repository, process.env);
  const before = new Set(children());
  const expected = await findObject(opened, 'HEAD:a');
  const [own, ...others] = children().filter((pid) => !before.has(pid));
  expect(others).toEqual([]);
  process.kill(own as number, 'SIGKILL');
  expect(await findObject(opened, 'HEAD:a')).toBe(expected);
});
