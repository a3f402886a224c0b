/** The stat cache on disk and in memory: every path and number comes back, and damage is detected. */
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CachedDirectories } from '../../../src/autocommit/stat-cache/cached-directories.ts';
import { CachedFilesBuilder } from '../../../src/autocommit/stat-cache/cached-files.ts';
import {
  readStatCache,
  type StatCache,
  writeStatCache,
} from '../../../src/autocommit/stat-cache/stat-cache.ts';
import { makeTempDir } from '../../harness/world.ts';

const STAT = { mtimeMs: 1234.000001, ctimeMs: 1234.5, size: 2 ** 40, ino: 2 ** 52 + 1, mode: 0o100755 };
const OID = 'ab'.repeat(20);

function directories(paths: readonly string[]): CachedDirectories {
  const data = Float64Array.from(paths.flatMap((_, row) => [row, row + 0.5, row, 0o40755, row % 2]));
  return new CachedDirectories({
    paths,
    data,
    excluded: ['sandbox/\xff'],
    encoded: ['sandbox/.GIT'],
    ignore: '*.o\n',
  });
}

function cacheOf(paths: readonly string[]): StatCache {
  const builder = new CachedFilesBuilder(20, paths.length);
  for (const path of paths) builder.add(path, STAT, OID);
  return {
    commit: OID,
    clock: 1234.25,
    index: { digest: 'd', stat: 's' },
    files: builder.build(),
    directories: directories(['sandbox', 'sandbox/d', 'xdg']),
  };
}

function roundTrip(cache: StatCache): StatCache {
  const path = join(makeTempDir('stat-cache'), 'cache');
  writeStatCache(path, cache);
  return readStatCache(path) as StatCache;
}

describe('on disk', () => {
  test('everything comes back, whatever the length of the first line', () => {
    for (let length = 1; length <= 9; length++) {
      const paths = ['sandbox/a', `sandbox/${'d'.repeat(length)}/x`, 'config', 'xdg/\xff\n'];
      const cache = cacheOf(paths);
      const back = roundTrip({ ...cache, unstorable: ['sandbox/sub'] });
      expect([...back.files.paths()]).toEqual(paths);
      expect(back.files.columns.data).toEqual(cache.files.columns.data);
      expect([0, 1, 2, 3].map((row) => back.files.oid(row))).toEqual([OID, OID, OID, OID]);
      expect(back.directories?.equals(cache.directories as CachedDirectories)).toBe(true);
      expect(back).toMatchObject({ clock: 1234.25, index: cache.index, unstorable: ['sandbox/sub'] });
    }
  });

  test('no file, no directories, sha256', () => {
    const empty = { ...cacheOf([]), commit: 'cd'.repeat(32), directories: undefined };
    const back = roundTrip(empty);
    expect([back.files.length, back.files.find('a'), back.directories]).toEqual([0, -1, undefined]);
    expect(readStatCache(join(makeTempDir(), 'nothing'))).toBeUndefined();
  });

  test('damage at any byte is detected, and so is a missing end', () => {
    const path = join(makeTempDir('stat-cache'), 'cache');
    writeStatCache(path, cacheOf(['sandbox/a']));
    const bytes = readFileSync(path);
    for (let offset = 0; offset < bytes.length; offset += 7) {
      const damaged = Buffer.from(bytes);
      damaged[offset] = (damaged[offset] as number) ^ 1;
      writeFileSync(path, damaged);
      expect(() => readStatCache(path)).toThrow('it is damaged');
    }
    writeFileSync(path, bytes);
    for (const length of [bytes.length - 1, 100, 3, 0]) {
      truncateSync(path, length);
      expect(() => readStatCache(path)).toThrow('it is damaged');
    }
  });
});

describe('files', () => {
  const name = fc.stringMatching(/^[a-c\xff]{1,2}$/);
  const paths = fc.uniqueArray(
    fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/')),
    { maxLength: 40 },
  );

  test('every path is found at its row, no other is found, and copies are equal', () => {
    const property = fc.property(paths, fc.nat(40), (all, split) => {
      const builder = new CachedFilesBuilder(20, all.length);
      for (const [row, path] of all.entries()) builder.add(path, { ...STAT, size: row }, OID);
      const files = builder.build();
      expect(all.map((path) => files.find(path))).toEqual([...all.keys()]);
      expect([files.find('nothing'), files.find('a/b/c/d'), files.find('')]).toEqual([-1, -1, -1]);
      const copy = new CachedFilesBuilder(20, all.length);
      copy.copy(files, Math.min(split, all.length), all.length);
      copy.copy(files, 0, Math.min(split, all.length));
      const copied = copy.build();
      expect([...copied.paths()].sort()).toEqual([...all].sort());
      for (const [row, path] of all.entries())
        expect(copied.isSame(copied.find(path), { ...STAT, size: row }, 1e9)).toBe(true);
    });
    fc.assert(property, { numRuns: 200 });
  });

  test('rows by directory are in order, also if the directories are mixed', () => {
    const builder = new CachedFilesBuilder(20, 6);
    for (const path of ['a/1', 'b/1', 'a/2', 'top', 'b/2', 'a/b/1']) builder.add(path, STAT, OID);
    const files = builder.build();
    const rows = (directory: string) => [...files.rowsIn(directory)];
    expect([rows('a'), rows('b'), rows(''), rows('a/b'), rows('c')]).toEqual([[0, 2], [1, 4], [3], [5], []]);
    expect([...files.namesIn('a')]).toEqual([
      ['1', 0],
      ['2', 2],
    ]);
  });

  test('each number counts, and both times must be before the clock', () => {
    const { files } = cacheOf(['sandbox/a']);
    expect(files.isSame(0, STAT, 1234.6)).toBe(true);
    for (const column of ['mtimeMs', 'ctimeMs', 'size', 'ino', 'mode'] as const)
      expect(files.isSame(0, { ...STAT, [column]: STAT[column] + 1 }, 1e9)).toBe(false);
    expect([1234.5, 1234.1, 0].map((clock) => files.isSame(0, STAT, clock))).toEqual([false, false, false]);
    expect([1234.5, 1234.6].map((clock) => files.isOlder(0, clock))).toEqual([false, true]);
    const replaced = files.replacing(new Map([[0, { stat: { ...STAT, size: 1 }, oid: 'cd'.repeat(20) }]]));
    expect([replaced.oid(0), replaced.isSame(0, STAT, 1e9), files.isSame(0, STAT, 1e9)]).toEqual([
      'cd'.repeat(20),
      false,
      true,
    ]);
  });

  test('a file without stat data is never the same', () => {
    const builder = new CachedFilesBuilder(20, 1);
    builder.addUnread('sandbox/a', 0o100644, OID);
    expect(() => builder.addUnread('sandbox/b', 0o100644, OID)).toThrow('more files than expected');
    const unknown = {
      mtimeMs: Number.NaN,
      ctimeMs: Number.NaN,
      size: Number.NaN,
      ino: Number.NaN,
      mode: 0o100644,
    };
    const files = builder.build();
    expect([files.isSame(0, unknown, 1e9), files.isOlder(0, 1e9), files.mode(0)]).toEqual([
      false,
      false,
      0o100644,
    ]);
  });
});

describe('directories', () => {
  const stat = { mtimeMs: 1, ctimeMs: 1.5, ino: 1, mode: 0o40755, size: 4096 };

  test('times, inode and mode count, and both times must be before the clock', () => {
    const cached = directories(['sandbox', 'sandbox/d']);
    expect(cached.isSame(1, stat, 2)).toBe(true);
    expect(cached.isSame(1, { ...stat, size: 8192 }, 2)).toBe(true);
    for (const column of ['mtimeMs', 'ctimeMs', 'ino', 'mode'] as const)
      expect(cached.isSame(1, { ...stat, [column]: stat[column] + 0.1 }, 9)).toBe(false);
    expect([1, 1.5].map((clock) => cached.isSame(1, stat, clock))).toEqual([false, false]);
  });

  test('children are subdirectories and excluded entries; any difference makes them unequal', () => {
    const cached = directories(['sandbox', 'sandbox/d', 'sandbox/d/e']);
    expect(cached.childrenOf('sandbox')).toEqual(['sandbox/d', 'sandbox/\xff']);
    expect([cached.childrenOf('sandbox/d/e'), cached.find('sandbox/d'), cached.find('d')]).toEqual([
      [],
      1,
      -1,
    ]);
    expect(cached.equals(new CachedDirectories(cached))).toBe(true);
    const others = [
      { paths: ['a', 'b', 'c'] },
      { excluded: [] },
      { encoded: [] },
      { ignore: '' },
      { data: Float64Array.from(cached.data, () => 1) },
    ];
    for (const other of others)
      expect(cached.equals(new CachedDirectories({ ...cached, ...other }))).toBe(false);
  });

  test('directories without times are equal to themselves, and must be listed', () => {
    const data = Float64Array.of(Number.NaN, Number.NaN, Number.NaN, 0o40755, 0);
    const cached = new CachedDirectories({ ...directories([]), paths: ['sandbox'], data });
    expect([cached.mustList(0), cached.equals(new CachedDirectories(cached))]).toEqual([true, true]);
  });
});
