/** An autocommit sees each change, whatever the clock, the file times and the stat cache say. */
import { lstatSync, readdirSync, rmSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CachedFiles, COLUMNS } from '../../../src/autocommit/stat-cache/cached-files.ts';
import {
  readStatCache,
  type StatCache,
  writeStatCache,
} from '../../../src/autocommit/stat-cache/stat-cache.ts';
import { autocommit, type TestSession } from '../../harness/session.ts';
import { agtOk, write } from '../../harness/world.ts';
import { expectCaptured, makeTwins, OLD } from './compare-with-disk.ts';

const FUTURE = new Date('2099-01-01T00:00:00Z');

describe('clocks', () => {
  const manifestPath = (session: TestSession) => join(session.repository, '.git/agt/scan/s1');

  function rewrite(session: TestSession, change: (manifest: StatCache) => StatCache): void {
    const manifest = readStatCache(manifestPath(session));
    if (manifest === undefined) throw new Error('no manifest');
    writeStatCache(manifestPath(session), change(manifest));
  }

  /** As if the last scan had seen the file just as it is now, but for its content. */
  function pretendSeen(session: TestSession, path: string, clock: (ctimeMs: number) => number): void {
    const stat = lstatSync(join(session.folder, path));
    rewrite(session, (manifest) => {
      const data = Float64Array.from(manifest.files.columns.data);
      const row = manifest.files.find(path);
      for (const [i, column] of COLUMNS.entries()) data[row * COLUMNS.length + i] = stat[column];
      const files = new CachedFiles({ ...manifest.files.columns, data });
      return { ...manifest, clock: clock(stat.ctimeMs), files };
    });
  }

  test('an edit within the clock tick of the last scan is found; older files are trusted', () => {
    const session = makeTwins();
    const path = join(session.sandbox, 'a.txt');
    writeFileSync(path, 'AAAA\n');
    // The control: were the tick not looked at, this is what would be missed.
    pretendSeen(session, 'sandbox/a.txt', (ctime) => ctime + 1);
    expect(autocommit(session).outcome).toBe('unchanged');
    pretendSeen(session, 'sandbox/a.txt', (ctime) => ctime);
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/a.txt', status: 'modified' }]);
    expectCaptured(session);
  });

  test('the tick of the last scan also counts for folders that --siblings left out', () => {
    const session = makeTwins();
    writeFileSync(join(session.sandbox, 'a.txt'), 'AAAA\n');
    pretendSeen(session, 'sandbox/a.txt', (ctime) => ctime);
    write(join(session.folder, 'xdg/log'), 'x');
    autocommit(session, '--siblings', 'xdg');
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/a.txt', status: 'modified' }]);
    expectCaptured(session);
  });

  test('a clock set back: the last scan lies in the future', () => {
    const session = makeTwins();
    rewrite(session, (manifest) => ({ ...manifest, clock: FUTURE.getTime() }));
    writeFileSync(join(session.sandbox, 'a.txt'), 'AAAA\n');
    utimesSync(join(session.sandbox, 'a.txt'), OLD, OLD);
    unlinkSync(join(session.sandbox, 'b.txt'));
    autocommit(session);
    expectCaptured(session);
    expect(readStatCache(manifestPath(session))?.clock).toBeLessThan(FUTURE.getTime());
  });

  test('a clock set back: files from the future are captured when they change', () => {
    const session = makeTwins();
    const path = join(session.sandbox, 'a.txt');
    for (const content of ['AAAA\n', 'AaAa\n', 'aAaA\n']) {
      writeFileSync(path, content);
      utimesSync(path, FUTURE, FUTURE);
      autocommit(session);
      expectCaptured(session);
    }
  });

  test('with a lost stat cache, no deletion is missed', () => {
    const session = makeTwins();
    write(join(session.folder, 'xdg/log'), 'x');
    autocommit(session);
    rmSync(manifestPath(session));
    expect(autocommit(session, '--siblings', 'sandbox').outcome).toBe('unchanged');
    unlinkSync(join(session.folder, 'xdg/log'));
    expect(autocommit(session).changes).toContainEqual({ path: 'xdg/log', status: 'deleted' });
    expectCaptured(session);
  });

  test('a scan deletes the clock file that a killed scan left', () => {
    const session = makeTwins();
    writeFileSync(join(session.folder, '.agt-clock-4000000'), '');
    expect(autocommit(session).outcome).toBe('unchanged');
    expect(readdirSync(session.folder).sort()).toEqual(['config', 'sandbox', 'xdg']);
  });

  test('a lost or damaged timestamp does no harm', () => {
    const session = makeTwins();
    const timestamp = join(session.repository, '.git/agt/timestamps/s1');
    for (const content of ['', 'yesterday\n', '\x00\xff']) {
      writeFileSync(timestamp, content);
      expect(agtOk(session.repository, 'status')).toContain('s1');
      expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', warnings: [] });
    }
    rmSync(timestamp);
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', warnings: [] });
  });
});
