/** One git answers many questions: also about what is missing, large or new, and another one answers if somebody kills it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  findObject,
  findObjects,
  readContents,
  readObject,
  readObjects,
} from '../../../src/git/objects/object-reader.ts';
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
  expect(a).toEqual({ oid: oid('HEAD:a'), type: 'blob', size: 2, content: Buffer.from('a\n') });
  expect(missing).toBeUndefined();
  expect(spaced).toBe(oid('HEAD:with space'));
  expect(big?.content.toString()).toBe(large);
  expect(broken).toBe(oid('HEAD:line\nbreak'));
  const all = await readObjects(opened, [oid('HEAD:large'), '0'.repeat(40), oid('HEAD:a')]);
  expect(all.map((one) => one?.content.toString())).toEqual([large, undefined, 'a\n']);
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

test('a list of names, one byte per character', async () => {
  const repository = makeRepository({ a: 'a\n', 'd/ä': 'b\n' });
  const opened = openGit(REAL_GIT, repository, process.env);
  const path = Buffer.from('d/ä').toString('latin1');
  const found = await findObjects(opened, [
    'HEAD:a',
    'HEAD:none',
    `HEAD:${path}`,
    'HEAD:d',
    ...many('HEAD:a'),
  ]);
  expect(found.map((object) => object?.type)).toEqual(['blob', undefined, 'blob', 'tree', ...many('blob')]);
  expect(found[2]?.oid).toBe(git(repository, 'rev-parse', 'HEAD:d/ä'));
  expect(await findObjects(opened, [])).toEqual([]);
});

function many(word: string): string[] {
  return Array.from({ length: 5000 }, () => word);
}

test('many blobs, among them a missing one; the next question is answered although a reader stopped', async () => {
  const repository = makeRepository({ a: 'a\n', b: 'b\n', large: 'x'.repeat(300_000) });
  const opened = openGit(REAL_GIT, repository, process.env);
  const [a = '', b = '', large = ''] = ['a', 'b', 'large'].map((name) =>
    git(repository, 'rev-parse', `HEAD:${name}`),
  );
  const nothing = '0'.repeat(40);
  const read: [number, number][] = [];
  const visit = async (index: number, chunks: AsyncGenerator<Buffer>) => {
    let size = 0;
    for await (const chunk of chunks) size += chunk.length;
    read.push([index, size]);
  };
  await readContents(opened, [a, large, nothing, b], visit, (index) => read.push([index, -1]));
  expect(read).toEqual([
    [0, 2],
    [1, 300_000],
    [2, -1],
    [3, 2],
  ]);
  await expect(readContents(opened, [nothing], visit)).rejects.toThrow(`cannot read object ${nothing}`);
  const stop = async () => {
    throw new Error('the disk is full');
  };
  const [stopped, after] = await Promise.allSettled([
    readContents(opened, [large, a], stop),
    findObject(opened, 'HEAD:b'),
  ]);
  expect(stopped).toMatchObject({ status: 'rejected', reason: { message: 'the disk is full' } });
  expect(after).toEqual({ status: 'fulfilled', value: b });
});
