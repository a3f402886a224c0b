/** The scan in odd situations: an incremental one must find each change, and what a full one finds. */
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ScanResult } from '../../../src/autocommit/scan/scan.ts';
import { contents, found, ScannedFolder } from '../../harness/scan.ts';
import { run, write } from '../../harness/world.ts';

let session: ScannedFolder;
const at = (path: string) => join(session.folder, path);

beforeEach(async () => {
  session = new ScannedFolder();
  for (const path of ['a', 'b', 'd/x', 'd/y', 'd/sub/z', 'e/x', 'run.sh'])
    write(at(`sandbox/${path}`), `${path}\n`);
  chmodSync(at('sandbox/run.sh'), 0o755);
  mkdirSync(at('sandbox/empty/inner'), { recursive: true });
  await session.incremental();
  await session.tick();
  await session.incremental();
  await session.tick();
});

/** Both scans, the full one first: it must not profit from the other one. */
async function scanBoth(): Promise<ScanResult> {
  const full = await session.full();
  const incremental = await session.incremental();
  expect(found(incremental)).toEqual(found(full));
  if (incremental.cache !== undefined) expect(contents(incremental.cache)).toEqual(contents(full.cache));
  return incremental;
}

const names = ({ writes, deletions }: ScanResult) => [
  ...[...writes.keys()].map((path) => `+${path.replace('sandbox/', '')}`).sort(),
  ...deletions.map((path) => `-${path.replace('sandbox/', '')}`).sort(),
];

describe('nothing to find', () => {
  test('an unchanged folder: nothing is read, and the cache stays as it is', async () => {
    const result = await scanBoth();
    expect([names(result), result.readCount, result.cache]).toEqual([[], 0, undefined]);
  });

  test('a file with a new time and the old content is read, and no change', async () => {
    utimesSync(at('sandbox/a'), 1, 1);
    await session.tick();
    const result = await scanBoth();
    expect([names(result), result.readCount]).toEqual([[], 1]);
    expect(await scanBoth()).toMatchObject({ cache: undefined, readCount: 0 });
  });

  test('a directory with a new time is listed, and the cache gets that time', async () => {
    utimesSync(at('sandbox/d'), 1, 1);
    await session.tick();
    expect((await scanBoth()).cache).toBeDefined();
    expect((await scanBoth()).cache).toBeUndefined();
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
        const { atime, mtime } = statSync(at('sandbox/d'));
        write(at('sandbox/d/new'), 'new\n');
        utimesSync(at('sandbox/d'), atime, mtime);
      },
      ['+d/new'],
    ],
    [
      'a file is deleted from a directory whose mtime is set back afterwards',
      () => {
        const { atime, mtime } = statSync(at('sandbox/d/sub'));
        unlinkSync(at('sandbox/d/sub/z'));
        utimesSync(at('sandbox/d/sub'), atime, mtime);
      },
      ['-d/sub/z'],
    ],
    [
      'a file gets another content of the same size and the same mtime',
      () => {
        const { atime, mtime } = statSync(at('sandbox/a'));
        writeFileSync(at('sandbox/a'), 'A\n');
        utimesSync(at('sandbox/a'), atime, mtime);
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
    expect(names(await scanBoth())).toEqual(expected);
    await session.tick();
    expect(names(await scanBoth())).toEqual([]);
    expect(names(await scanBoth())).toEqual([]);
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
    expect(names(result)).toEqual([]);
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

  test('a file that grows beyond the limit is left out, and captured when it shrinks', async () => {
    writeFileSync(at('sandbox/a'), 'x'.repeat(1001));
    expect(names(await scanBoth())).toEqual(['-a']);
    writeFileSync(at('sandbox/a'), 'x'.repeat(1000));
    expect(names(await scanBoth())).toEqual(['+a']);
  });
});

describe('rules', () => {
  test('new rules of .agtignore count for unchanged entries too, and old ones no more', async () => {
    write(at('.agtignore'), 'sandbox/d/\n*.sh\n');
    const result = await scanBoth();
    expect(names(result)).toEqual(['-d/sub/z', '-d/x', '-d/y', '-run.sh']);
    expect(result.skipped.map(({ path }) => path)).toEqual(['sandbox/d', 'sandbox/run.sh']);
    expect(result.readCount).toBe(0);
    unlinkSync(at('.agtignore'));
    expect(names(await scanBoth())).toEqual(['+d/sub/z', '+d/x', '+d/y', '+run.sh']);
  });

  test('a scan of one top-level folder retains the others, even if the cache cannot vouch for them', async () => {
    write(at('xdg/log'), '1\n');
    await session.incremental();
    // In the clock tick of that scan, maybe: nobody can tell from the stat data.
    write(at('xdg/log'), '2\n');
    write(at('sandbox/a'), '2\n');
    const result = await session.incremental({ topFolders: ['sandbox'] });
    expect([names(result), result.cache?.directories]).toEqual([['+a'], undefined]);
    expect(names(await scanBoth())).toEqual(['+xdg/log']);
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

describe('changes while the scan is running', () => {
  /** Does something when the file `sandbox/a` has been read, after the walk. */
  function during(action: () => void) {
    return async (path: string) => {
      if (path === 'sandbox/a') action();
      return true;
    };
  }

  beforeEach(() => writeFileSync(at('sandbox/a'), 'changed\n'));

  test('an entry that appears is found by the next scan', async () => {
    const store = during(() => write(at('sandbox/d/new'), 'new\n'));
    expect(names(await session.incremental({ store }))).toEqual(['+a']);
    expect(names(await scanBoth())).toEqual(['+d/new']);
  });

  test('a file that is changed after it was read is found by the next scan', async () => {
    const store = during(() => writeFileSync(at('sandbox/a'), 'changed again\n'));
    expect(names(await session.incremental({ store }))).toEqual(['+a']);
    expect(names(await scanBoth())).toEqual(['+a']);
  });

  test('a file that is gone before it is read counts as deleted', async () => {
    writeFileSync(at('sandbox/b'), 'changed\n');
    const store = during(() => unlinkSync(at('sandbox/b')));
    expect(names(await session.incremental({ store }))).toEqual(['+a', '-b']);
    expect(names(await scanBoth())).toEqual([]);
  });

  test('a directory that becomes a link before its file is read: nothing outside is read', async ({
    skip,
  }) => {
    skip(process.platform !== 'linux', 'needs /proc');
    writeFileSync(at('sandbox/d/x'), 'changed\n');
    write(at('outside/x'), 'secret\n');
    const store = during(() => {
      rmSync(at('sandbox/d'), { recursive: true });
      symlinkSync(at('outside'), at('sandbox/d'));
    });
    const result = await session.incremental({ store });
    expect(result.failed).toEqual([{ path: 'sandbox/d/x', reason: 'changes all the time' }]);
    expect(names(await scanBoth())).toEqual(['+d', '-d/sub/z', '-d/x', '-d/y']);
  });

  test('a file that keeps changing while it is stored is named, and the next scan reads it', async () => {
    const result = await session.incremental({ store: async () => false });
    expect(result.failed).toEqual([{ path: 'sandbox/a', reason: 'changes all the time' }]);
    expect([names(result), result.cache?.directories]).toEqual([[], undefined]);
    expect(names(await scanBoth())).toEqual(['+a']);
  });
});

test('without marks of the refresh everything is read, and nothing seems changed', async () => {
  const { cache } = session;
  if (cache === undefined) throw new Error('there is no cache');
  const upToDate = {
    files: new Uint8Array(cache.files.length),
    directories: new Uint8Array(cache.directories?.paths.length ?? 0),
  };
  const result = await session.incremental({ refreshed: { cache, upToDate } });
  expect([names(result), result.readCount]).toEqual([[], cache.files.length]);
  expect(contents(result.cache)).toEqual(contents(cache));
});

test('the folder is as it was: a scan leaves no file behind', async () => {
  expect(readdirSync(session.folder).sort()).toEqual(['config', 'sandbox', 'xdg']);
});
