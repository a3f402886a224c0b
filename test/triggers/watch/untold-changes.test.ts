/**
 * The kernel tells a watcher of directories neither of a write through a memory map nor of one through a hard link elsewhere.
 * So agt watch answers the front by a scan, and never because no notice has come.
 */
import { appendFileSync, linkSync, readFileSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir, run } from '../../harness/world.ts';

test.skipIf(process.platform !== 'linux')('changes without a notice of the kernel', async () => {
  const directory = makeTempDir();
  const at = (name: string) => join(directory, name);
  const elsewhere = join(makeTempDir(), 'hard');
  for (const name of ['mapped', 'linked']) writeFileSync(at(name), 'before');
  const noticed: string[] = [];
  let onNotice = () => {};
  const watcher = watch(directory, (_, name) => {
    noticed.push(name ?? '');
    onNotice();
  });
  /** Notices come in order: all before that of the mark are there. */
  const noticesOf = async (change: () => unknown) => {
    change();
    const mark = `mark-${noticed.length}`;
    const come = new Promise<void>((resolve) => {
      onNotice = () => noticed.includes(mark) && resolve();
    });
    writeFileSync(at(mark), '');
    await come;
    return noticed.splice(0).filter((name) => !name.startsWith('mark-'));
  };
  const map = "import mmap; f = open('mapped', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0] = 88; m.close()";
  const before = statSync(at('mapped')).ctimeMs;
  expect(await noticesOf(() => run('python3', ['-c', map], { cwd: directory }))).toEqual([]);
  expect(readFileSync(at('mapped'), 'utf8')).toBe('Xefore');
  // A scan sees it.
  expect(statSync(at('mapped')).ctimeMs).toBeGreaterThan(before);
  expect(await noticesOf(() => linkSync(at('linked'), elsewhere))).toEqual([]);
  expect(await noticesOf(() => appendFileSync(elsewhere, ' and after'))).toEqual([]);
  expect(readFileSync(at('linked'), 'utf8')).toBe('before and after');
  expect(await noticesOf(() => appendFileSync(at('linked'), 'more'))).toContain('linked');
  watcher.close();
});
