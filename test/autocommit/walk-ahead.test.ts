/** Walking in threads finds what one thread finds, in the same order. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StatData } from '../../src/autocommit/scan-table.ts';
import { TOP_FOLDERS } from '../../src/autocommit/tops.ts';
import { type Ahead, walk } from '../../src/autocommit/walk.ts';
import { walkAhead } from '../../src/autocommit/walk-ahead.ts';
import { autocommit, makeSession, snapshotTree } from '../harness/session.ts';
import { agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

function listed(folder: string, ahead?: Ahead): string[] {
  const events: string[] = [];
  const visitor = {
    file: (path: string, { mtimeMs, ctimeMs, size, ino, mode }: StatData) =>
      void events.push(`file ${path} ${[mtimeMs, ctimeMs, size, ino, mode].join(' ')}`),
    directory: (path: string, mode: number, empty: boolean) =>
      void events.push(`directory ${path} ${mode} ${empty}`),
    skipped: (path: string, reason: string) => void events.push(`skipped ${path} ${reason}`),
    failed: (path: string, reason: string) => void events.push(`failed ${path} ${reason}`),
    ignores: undefined,
  };
  walk(Buffer.from(folder).toString('latin1'), TOP_FOLDERS, visitor, ahead);
  return events;
}

test('every kind of thing, names of any bytes, nested repositories', async () => {
  const folder = makeTempDir('walked');
  for (const top of TOP_FOLDERS) mkdirSync(join(folder, top));
  for (let n = 0; n < 90; n++) {
    const directory = join(folder, 'sandbox', `d${n % 9}`, `e${n}`);
    mkdirSync(join(directory, 'empty'), { recursive: true });
    writeFileSync(join(directory, `file ${n}`), `${n}`);
    writeFileSync(Buffer.from(`${directory}/\xff\n${n}`, 'latin1'), 'x');
    chmodSync(join(directory, `file ${n}`), n % 2 === 0 ? 0o600 : 0o755);
    symlinkSync('..', join(directory, 'link'));
  }
  run('mkfifo', [join(folder, 'sandbox/d1/e1/pipe')], { cwd: folder });
  run(REAL_GIT, ['init', '-q', join(folder, 'sandbox/d2/e2/nested')], { cwd: folder });
  write(join(folder, 'xdg/log'), 'x');

  const ahead = walkAhead(folder, TOP_FOLDERS);
  const records = await ahead?.records;
  expect(records?.size).toBeGreaterThan(64);
  const plain = listed(folder);
  expect(plain.length).toBeGreaterThan(400);
  expect(listed(folder, records)).toEqual(plain);

  // A directory that has gone since is not told of.
  rmSync(join(folder, 'sandbox/d3'), { recursive: true });
  expect(listed(folder, records)).toEqual(listed(folder));
});

test('a session of 12,000 files is captured exactly, by the executable', () => {
  const session = makeSession();
  for (let n = 0; n < 12_000; n++) write(join(session.sandbox, `d${n % 100}/f${n}`), `${n}\n`);
  autocommit(session);
  write(join(session.sandbox, 'd7/f7'), 'changed\n');
  rmSync(join(session.sandbox, 'd8/f8'));
  write(join(session.sandbox, 'd9/new'), 'new\n');
  const report = autocommit(session);
  expect(report.changes).toEqual([
    { path: 'sandbox/d7/f7', kind: 'changed' },
    { path: 'sandbox/d8/f8', kind: 'deleted' },
    { path: 'sandbox/d9/new', kind: 'added' },
  ]);
  expect(report.read).toBe(2);
  const tree = snapshotTree(session, report.commit as string);
  expect([...tree.keys()].filter((path) => path.startsWith('sandbox/d'))).toHaveLength(12_000);
  expect(tree.get('sandbox/d7/f7')).toBe('100644 changed\n');
  expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', read: 0 });
  expect(agtOk(session.repository, 'doctor')).toContain('nothing is wrong');
  git(session.repository, 'fsck', '--strict');
});
