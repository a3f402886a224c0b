/** The scan in odd situations: an incremental one must find each change, and what a full one finds. */
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ScanResult } from '../../../src/autocommit/scan/scan.ts';
import type { StatCache } from '../../../src/autocommit/stat-cache/stat-cache.ts';
import { changedNames, contents, filledFolder, found, type ScannedFolder } from '../../harness/scan.ts';
import { run, write } from '../../harness/world.ts';

let session: ScannedFolder;
const at = (path: string) => join(session.folder, path);
const scanBoth = () => session.both();

beforeEach(async () => {
  session = await filledFolder();
});

/** Sets the mtime to the one that these paths had at the first scan. */
function setBack(path: string): void {
  utimesSync(at(`sandbox/${path}`), 1000, 1000);
}

describe('an unchanged folder', () => {
  test('an unchanged folder: nothing is read, and the cache stays as it is', async () => {
    const result = await scanBoth();
    expect([changedNames(result), result.readCount, result.cache]).toEqual([[], 0, undefined]);
  });

  test('a file with a new time and the old content is read, and no change', async () => {
    utimesSync(at('sandbox/a'), 1, 1);
    await session.tick();
    const result = await scanBoth();
    expect([changedNames(result), result.readCount]).toEqual([[], 1]);
    expect(await scanBoth()).toMatchObject({ cache: undefined, readCount: 0 });
  });

  test('a directory with a new time is listed, and the cache gets that time', async () => {
    utimesSync(at('sandbox/d'), 1, 1);
    await session.tick();
    expect((await scanBoth()).cache).toBeDefined();
    expect((await scanBoth()).cache).toBeUndefined();
  });
});

describe('a cache that cannot vouch for everything', () => {
  test('entries from the clock tick of the last scan are examined again, and the cache gets a new clock', async () => {
    for (const path of ['a', 'b', 'd', 'e', 'run.sh']) rmSync(at(`sandbox/${path}`), { recursive: true });
    await session.incremental();
    await session.tick();
    await session.incremental();
    expect((await session.incremental()).cache).toBeUndefined();
    // As if that scan had begun before the directories got their times.
    session.cache = { ...(session.cache as StatCache), clock: 0 };
    expect((await scanBoth()).cache).toBeDefined();
    expect((await scanBoth()).cache).toBeUndefined();
  });

  test('without directory times every directory is listed, and the cache stays as it is', async () => {
    const { cache } = session;
    const data = cache?.directories?.data as Float64Array;
    for (let row = 0; row < data.length; row += 5) data.fill(Number.NaN, row, row + 3);
    const result = await session.full();
    const upToDate = {
      files: new Uint8Array(cache?.files.length ?? 0).fill(1),
      directories: new Uint8Array(data.length / 5),
    };
    const refreshed = { cache: cache as StatCache, upToDate };
    expect(found(await session.incremental({ refreshed }, { take: false }))).toEqual(found(result));
    write(at('sandbox/d/new'), 'new\n');
    expect(changedNames(await session.incremental({ refreshed }, { take: false }))).toEqual(['+d/new']);
  });

  test('without results of the refresh every file is read, and none counts as changed', async () => {
    const cache = session.cache as StatCache;
    const upToDate = {
      files: new Uint8Array(cache.files.length),
      directories: new Uint8Array(cache.directories?.paths.length ?? 0),
    };
    const result = await session.incremental({ refreshed: { cache, upToDate } });
    expect([changedNames(result), result.readCount]).toEqual([[], cache.files.length]);
    expect(contents(result.cache)).toEqual(contents(cache));
  });
});

describe('files and directories', () => {
  const CHANGES: readonly (readonly [what: string, change: () => void, expected: string[]])[] = [
    [
      'a directory becomes a file of the same name',
      () => {
        rmSync(at('sandbox/d'), { recursive: true });
        write(at('sandbox/d'), 'd\n');
      },
      ['+d', '-d/sub/z', '-d/x', '-d/y'],
    ],
    [
      'a file becomes a directory of the same name',
      () => {
        unlinkSync(at('sandbox/a'));
        write(at('sandbox/a/a'), 'a\n');
      },
      ['+a/a', '-a'],
    ],
    [
      'a directory is replaced by another one with the same names',
      () => {
        renameSync(at('sandbox/d'), at('sandbox/old'));
        renameSync(at('sandbox/e'), at('sandbox/d'));
        renameSync(at('sandbox/old'), at('sandbox/e'));
      },
      ['+d/x', '+e/sub/z', '+e/x', '+e/y', '-d/sub/z', '-d/y'],
    ],
    [
      'a directory becomes a link to where it is now',
      () => {
        renameSync(at('sandbox/d'), at('xdg/d'));
        symlinkSync('../xdg/d', at('sandbox/d'));
      },
      ['+d', '+xdg/d/sub/z', '+xdg/d/x', '+xdg/d/y', '-d/sub/z', '-d/x', '-d/y'],
    ],
    [
      'a file is renamed inside a directory',
      () => renameSync(at('sandbox/d/x'), at('sandbox/d/w')),
      ['+d/w', '-d/x'],
    ],
    [
      'two files change places, and their times with them',
      () => {
        renameSync(at('sandbox/d/x'), at('sandbox/d/t'));
        renameSync(at('sandbox/d/y'), at('sandbox/d/x'));
        renameSync(at('sandbox/d/t'), at('sandbox/d/y'));
      },
      ['+d/x', '+d/y'],
    ],
    [
      'a file appears in a directory whose mtime is set back afterwards',
      () => {
        write(at('sandbox/d/new'), 'new\n');
        setBack('d');
      },
      ['+d/new'],
    ],
    [
      'a file is deleted from a directory whose mtime is set back afterwards',
      () => {
        unlinkSync(at('sandbox/d/sub/z'));
        setBack('d/sub');
      },
      ['-d/sub/z'],
    ],
    [
      'a file gets another content of the same size and the same mtime',
      () => {
        writeFileSync(at('sandbox/a'), 'A\n');
        setBack('a');
      },
      ['+a'],
    ],
    ['a program becomes a plain file', () => chmodSync(at('sandbox/run.sh'), 0o644), ['+run.sh']],
    ['a hard link to a file is made', () => linkSync(at('sandbox/a'), at('sandbox/hard')), ['+hard']],
    [
      'a top-level folder becomes a file',
      () => {
        rmdirSync(at('xdg'));
        write(at('xdg'), 'x\n');
      },
      ['+xdg'],
    ],
    [
      'a top-level folder disappears',
      () => rmSync(at('sandbox'), { recursive: true }),
      ['-a', '-b', '-d/sub/z', '-d/x', '-d/y', '-e/x', '-run.sh'],
    ],
  ];

  test.each(CHANGES)('%s', async (_, change, expected) => {
    change();
    expect(changedNames(await scanBoth())).toEqual(expected);
    await session.tick();
    expect(changedNames(await scanBoth())).toEqual([]);
    expect(changedNames(await scanBoth())).toEqual([]);
  });
});

describe('what a git tree cannot hold', () => {
  const emptyOf = (result: ScanResult) =>
    result.emptyDirectories.filter((path) => path.startsWith('sandbox'));

  test('nested empty directories: each change shows in the innermost one', async () => {
    expect(emptyOf(await scanBoth())).toEqual(['sandbox/empty/inner']);
    mkdirSync(at('sandbox/empty/inner/most'));
    expect(emptyOf(await scanBoth())).toEqual(['sandbox/empty/inner/most']);
    rmSync(at('sandbox/empty/inner'), { recursive: true });
    expect(emptyOf(await scanBoth())).toEqual(['sandbox/empty']);
    rmSync(at('sandbox/empty'), { recursive: true });
    expect(emptyOf(await scanBoth())).toEqual([]);
  });

  test('permission bits alone, of a file, a program and a directory', async () => {
    chmodSync(at('sandbox/a'), 0o600);
    chmodSync(at('sandbox/run.sh'), 0o700);
    chmodSync(at('sandbox/d/sub'), 0o711);
    const result = await scanBoth();
    expect(changedNames(result)).toEqual([]);
    expect(result.permissions.describe([])).toMatchObject({
      others: { 'sandbox/a': '0600', 'sandbox/d/sub': '0711' },
    });
  });

  test('an encoded name, a pipe and a nested repository stay known without another listing', async () => {
    write(at('sandbox/d/.GIT'), 'x\n');
    write(at('sandbox/e/.git/config'), '\n');
    run('mkfifo', ['pipe'], { cwd: at('sandbox/d') });
    const first = await scanBoth();
    expect(first.encoded).toEqual(['sandbox/d/.GIT']);
    expect(first.skipped.map(({ path }) => path).sort()).toEqual(['sandbox/d/pipe', 'sandbox/e/.git']);
    await session.tick();
    await scanBoth();
    const second = await scanBoth();
    expect(second.cache).toBeUndefined();
    expect([second.encoded, second.skipped.length]).toEqual([['sandbox/d/.GIT'], 2]);
    unlinkSync(at('sandbox/d/.GIT'));
    unlinkSync(at('sandbox/d/pipe'));
    rmSync(at('sandbox/e/.git'), { recursive: true });
    const third = await scanBoth();
    expect([third.encoded, third.skipped]).toEqual([[], []]);
  });

  test('a file that grows beyond the limit stays as it was, and is captured when it shrinks', async () => {
    writeFileSync(at('sandbox/a'), 'x'.repeat(1001));
    const grown = await scanBoth();
    expect([changedNames(grown), grown.skipped.map(({ path }) => path)]).toEqual([[], ['sandbox/a']]);
    writeFileSync(at('sandbox/a'), 'x'.repeat(1000));
    expect(changedNames(await scanBoth())).toEqual(['+a']);
  });
});

describe('rules', () => {
  test('new rules of .agtignore count for unchanged entries too, and old ones no more', async () => {
    write(at('.agtignore'), 'sandbox/d/\n*.sh\n');
    const result = await scanBoth();
    expect(changedNames(result)).toEqual(['-d/sub/z', '-d/x', '-d/y', '-run.sh']);
    expect(result.skipped.map(({ path }) => path)).toEqual(['sandbox/d', 'sandbox/run.sh']);
    expect(result.readCount).toBe(0);
    unlinkSync(at('.agtignore'));
    expect(changedNames(await scanBoth())).toEqual(['+d/sub/z', '+d/x', '+d/y', '+run.sh']);
  });

  test('a scan of one top-level folder retains the others, even if the cache cannot vouch for them', async () => {
    write(at('xdg/log'), '1\n');
    await session.incremental();
    // As if the log had been written in the clock tick of that scan: its stat data prove nothing.
    session.cache = { ...(session.cache as StatCache), clock: 0 };
    write(at('xdg/log'), '2\n');
    write(at('sandbox/a'), '2\n');
    const result = await session.incremental({ topFolders: ['sandbox'] });
    expect([changedNames(result), result.cache?.directories]).toEqual([['+a'], undefined]);
    const { files } = session.cache;
    expect(files.isOlder(files.find('xdg/log'), Number.POSITIVE_INFINITY)).toBe(false);
    expect(changedNames(await scanBoth())).toEqual(['+xdg/log']);
  });

  test('files modified since a given time are read, even if they look unchanged', async () => {
    utimesSync(at('sandbox/a'), 1000, 1000);
    utimesSync(at('sandbox/b'), 2000, 2000);
    await session.tick();
    await session.incremental();
    await session.tick();
    const read: string[] = [];
    const store = async (path: string) => read.push(path) > 0;
    session.files = new Map();
    const result = await session.incremental({ rereadSince: 2000, store }, { take: false });
    expect(result.readCount).toBe((session.cache?.files.length as number) - 1);
    expect(read).not.toContain('sandbox/a');
    expect(read).toContain('sandbox/b');
  });
});

test('a scan leaves no file in the folder', async () => {
  expect(readdirSync(session.folder).sort()).toEqual(['config', 'sandbox', 'xdg']);
});
