/** An incremental scan, with the stat cache of the last one, finds the same as a full scan. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  readStatCache,
  type StatCache,
  writeStatCache,
} from '../../../src/autocommit/stat-cache/stat-cache.ts';
import { autocommit, makeSession, onDisk, snapshotTree, type TestSession } from '../../harness/session.ts';
import { ofToday } from '../../harness/today.ts';
import { agtOk, git, run, write } from '../../harness/world.ts';

/** Captures, deletes the stat cache, and captures again: the full scan must find nothing more. */
function captureTwice(session: TestSession): ReturnType<typeof autocommit> {
  const report = autocommit(session);
  rmSync(join(session.repository, '.git/agt/scan/s1'));
  const again = autocommit(session);
  expect([again.outcome, again.changes]).toEqual(['unchanged', []]);
  return report;
}

/** Each script runs in the sandbox, with the result of the ones before it. */
const STEPS: readonly (readonly [what: string, script: string])[] = [
  ['nothing', ':'],
  ['a directory becomes a link to itself under another name', 'mv a a2; ln -s a2 a'],
  ['and a directory again', 'rm a; mv a2 a'],
  ['a directory becomes a link to where its files are now', 'mv a/deep ../xdg; ln -s ../../xdg/deep a/deep'],
  ['a directory becomes a file', 'rm -r b; echo file >b'],
  ['a file becomes a directory', 'rm top; mkdir top; echo i >top/inside'],
  ['two directories change places', 'mv a t; mv c a; mv t c'],
  ['a directory is emptied', 'rm a/only'],
  ['an empty one is filled, and one more is made', 'echo again >a/only; mkdir -p e/f'],
  ['permissions of a directory and of a file', 'chmod 700 e; chmod 600 c/x'],
  [
    'a nested repository, a pipe, a link to nowhere',
    'mkdir -p n/.git; echo n >n/file; mkfifo e/pipe; ln -s no e/link',
  ],
  ['the pipe becomes a file, the repository a folder', 'rm e/pipe; echo p >e/pipe; rm -r n/.git'],
  [
    'names of any bytes, and one that git refuses',
    "printf b >\"e/$(printf '\\377\\nx')\"; mkdir 'e/git~1'; echo r >'e/git~1/x'",
  ],
  ['one of those goes', "rm -r 'e/git~1'"],
  ['another content of the same size, with old times', 'echo X >c/x; touch -d 2001-01-01 c/x'],
  ['a top folder becomes a file', 'rm -r ../config; echo f >../config'],
  ['and a folder again', 'rm ../config; mkdir ../config; echo v >../config/k'],
  ['a top folder goes', 'rm -r ../config'],
  ['and comes back', 'mkdir ../config; echo back >../config/k'],
  ['everything goes', 'rm -rf *'],
];

/** As on a file system that does not update a directory's times with its entries. */
function forgetDirectoryTimes({ repository }: TestSession): void {
  const path = join(repository, '.git/agt/scan/s1');
  const cache = readStatCache(path) as StatCache;
  const { directories } = cache;
  for (const [row] of directories?.paths.entries() ?? [])
    directories?.data.fill(Number.NaN, row * 5, row * 5 + 3);
  expect([directories?.mustList(0), directories?.mode(0)]).toEqual([true, expect.any(Number)]);
  writeStatCache(path, cache);
}

test.each(
  ofToday([
    ['has directory times', () => {}],
    ['has no directory times', forgetDirectoryTimes],
  ]),
)('every change of directories, links and excluded entries is found if the cache %s', (_, prepare) => {
  const session = makeSession({ 'a/x': 'x\n', 'a/deep/y': 'y\n', 'b/z': 'z\n', 'c/only': 'c\n', top: 't\n' });
  for (const [what, script] of STEPS) {
    autocommit(session);
    prepare(session);
    expect(run('sh', ['-euc', script], { cwd: session.sandbox }).stderr).toBe('');
    const { outcome, failed } = captureTwice(session);
    expect([what, outcome, failed]).toEqual([what, what === 'nothing' ? 'unchanged' : 'committed', []]);
    expect([what, snapshotTree(session, 'agtsessions/s1')]).toEqual([what, onDisk(session)]);
  }
});

test('a file that was too large or ignored is captured as soon as it no longer is', () => {
  const session = makeSession();
  git(session.repository, 'config', '--file', '.git/agt/config', 'agt.maxFileSize', '10');
  write(join(session.sandbox, 'd/large'), 'more than ten bytes\n');
  write(join(session.folder, '.agtignore'), '*.o\n');
  write(join(session.sandbox, 'd/x.o'), 'o\n');
  autocommit(session);
  autocommit(session);
  writeFileSync(join(session.sandbox, 'd/large'), 'less\n');
  expect(captureTwice(session).changes).toEqual([{ path: 'sandbox/d/large', status: 'added' }]);
  autocommit(session);
  writeFileSync(join(session.folder, '.agtignore'), '*.a\n');
  expect(captureTwice(session).changes).toEqual([{ path: 'sandbox/d/x.o', status: 'added' }]);
});

test('a session of 24,000 files is captured exactly', () => {
  const session = makeSession();
  for (let n = 0; n < 24_000; n++) write(join(session.sandbox, `d${n % 100}/f${n}`), `${n}\n`);
  autocommit(session);
  write(join(session.sandbox, 'd7/f7'), 'changed\n');
  rmSync(join(session.sandbox, 'd8/f8'));
  write(join(session.sandbox, 'd9/new'), 'new\n');
  rmSync(join(session.sandbox, 'd99'), { recursive: true });
  const report = autocommit(session);
  expect(report.changes.filter(({ path }) => !path.startsWith('sandbox/d99/'))).toEqual([
    { path: 'sandbox/d7/f7', status: 'modified' },
    { path: 'sandbox/d8/f8', status: 'deleted' },
    { path: 'sandbox/d9/new', status: 'added' },
  ]);
  expect([report.changes.length, report.read]).toEqual([243, 2]);
  const tree = snapshotTree(session, report.commit as string);
  expect([...tree.keys()].filter((path) => path.startsWith('sandbox/d'))).toHaveLength(23_760);
  expect(tree.get('sandbox/d7/f7')).toBe('100644 changed\n');
  expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', read: 0 });
  captureTwice(session);
  expect(agtOk(session.repository, 'doctor')).toContain('nothing is wrong');
  git(session.repository, 'fsck', '--strict');
});
