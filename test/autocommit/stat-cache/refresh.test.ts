/** A refresh marks the entries of a stat cache that are up to date. */
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { refresh } from '../../../src/autocommit/stat-cache/refresh.ts';
import type { StatCache } from '../../../src/autocommit/stat-cache/stat-cache.ts';
import { TOP_FOLDERS } from '../../../src/snapshot/folders.ts';
import { ScannedFolder } from '../../harness/scan.ts';
import { write } from '../../harness/world.ts';

let session: ScannedFolder;
const at = (path: string) => join(session.folder, path);

beforeEach(async () => {
  session = new ScannedFolder();
  for (const path of ['sandbox/a', 'sandbox/d/x', 'sandbox/d/\xff', 'xdg/log']) {
    mkdirSync(join(at(path), '..'), { recursive: true });
    writeFileSync(Buffer.from(at(path), 'latin1'), 'x\n');
  }
  await session.tick();
  await session.incremental();
});

/** The paths that are not marked. */
function outdated(cache = session.cache as StatCache, topFolders = TOP_FOLDERS) {
  const { files, directories } = refresh(session.folder, cache, topFolders);
  const unmarked = (paths: readonly string[], marks: Uint8Array) =>
    paths.filter((_, row) => marks[row] !== 1);
  return [
    ...unmarked([...cache.files.paths()], files),
    ...unmarked(cache.directories?.paths ?? [], directories),
  ].sort();
}

test('in an unchanged folder everything is up to date', () => {
  expect(outdated()).toEqual([]);
});

test('changed files, and the directories of new and deleted ones, are not', () => {
  write(at('sandbox/a'), 'changed\n');
  unlinkSync(at('sandbox/d/x'));
  write(at('xdg/new'), 'new\n');
  expect(outdated()).toEqual(['sandbox/a', 'sandbox/d', 'sandbox/d/x', 'xdg']);
});

test('a change of permission bits counts', () => {
  chmodSync(at('sandbox/a'), 0o600);
  chmodSync(at('sandbox/d'), 0o700);
  expect(outdated()).toEqual(['sandbox/a', 'sandbox/d']);
});

test('an entry that lstat refuses is not up to date', () => {
  rmSync(at('sandbox/d'), { recursive: true });
  symlinkSync('d', at('sandbox/d')); // a loop
  expect(outdated()).toEqual(['sandbox', 'sandbox/d', 'sandbox/d/x', 'sandbox/d/\xff']);
});

test('behind a link entries may look up to date; the link itself does not', () => {
  renameSync(at('sandbox/d'), at('xdg/d'));
  symlinkSync('../xdg/d', at('sandbox/d'));
  expect(outdated()).toEqual(['sandbox', 'sandbox/d', 'xdg']);
});

test('times at or after the clock of the last scan prove nothing', () => {
  const all = [
    'config',
    'sandbox',
    'sandbox/a',
    'sandbox/d',
    'sandbox/d/x',
    'sandbox/d/\xff',
    'xdg',
    'xdg/log',
  ];
  expect(outdated({ ...(session.cache as StatCache), clock: 0 })).toEqual(all);
});

test('only the wanted top-level folders are examined', () => {
  expect(outdated(session.cache, ['sandbox'])).toEqual(['config', 'xdg', 'xdg/log']);
});

test('a cache without directories: the files are marked', () => {
  const { directories, ...cache } = session.cache as StatCache;
  expect(directories).toBeDefined();
  write(at('sandbox/a'), 'changed\n');
  expect(outdated(cache)).toEqual(['sandbox/a']);
});

test('the current directory stays the same, even if the session folder is gone', () => {
  const before = process.cwd();
  expect(outdated()).toEqual([]);
  expect(process.cwd()).toBe(before);
  rmSync(session.folder, { recursive: true });
  expect(outdated()).toHaveLength(8);
  expect(process.cwd()).toBe(before);
});
