/** Changes while a scan is running: the scan reports none wrongly, and the next scan finds each. */
import { rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { changedNames, filledFolder, type ScannedFolder } from '../../harness/scan.ts';
import { write } from '../../harness/world.ts';

let session: ScannedFolder;
const at = (path: string) => join(session.folder, path);
const scanBoth = () => session.both();

beforeEach(async () => {
  session = await filledFolder();
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
    expect(changedNames(await session.incremental({ store }))).toEqual(['+a']);
    expect(changedNames(await scanBoth())).toEqual(['+d/new']);
  });

  test('a file that is changed after it was read is found by the next scan', async () => {
    const store = during(() => writeFileSync(at('sandbox/a'), 'changed again\n'));
    expect(changedNames(await session.incremental({ store }))).toEqual(['+a']);
    expect(changedNames(await scanBoth())).toEqual(['+a']);
  });

  test('a file that is gone before it is read counts as deleted', async () => {
    writeFileSync(at('sandbox/b'), 'changed\n');
    const store = during(() => unlinkSync(at('sandbox/b')));
    expect(changedNames(await session.incremental({ store }))).toEqual(['+a', '-b']);
    expect(changedNames(await scanBoth())).toEqual([]);
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
    expect(changedNames(await scanBoth())).toEqual(['+d', '-d/sub/z', '-d/x', '-d/y']);
  });

  test('a file that keeps changing while it is stored is named, and the next scan reads it', async () => {
    const result = await session.incremental({ store: async () => false });
    expect(result.failed).toEqual([{ path: 'sandbox/a', reason: 'changes all the time' }]);
    expect([changedNames(result), result.cache?.directories]).toEqual([[], undefined]);
    expect(changedNames(await scanBoth())).toEqual(['+a']);
  });
});
