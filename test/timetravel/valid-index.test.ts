/** In a sandbox that agt has just made, git opens no file to tell its status, and agt reads none to capture it. */
import { readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { autocommit, onDisk, sessionIn, snapshotTree, type TestSession } from '../harness/session.ts';
import { NO_STRACE, strace, straceWorks } from '../harness/strace.ts';
import { agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const FILES = {
  a: 'a\n',
  'b.sh': '#!/bin/sh\n',
  'src/c': 'c\n',
  'src/d e': 'd\n',
  'g\u00e9': 'e\n',
  empty: '',
  '.gitignore': 'built/\n',
};

let source: TestSession;
const made = new Map<string, TestSession>();

/** The tracked files that git status opens, but for the rules that it reads. */
function openedBy(sandbox: string): string[] {
  const log = join(makeTempDir(), 'log');
  strace(log, ['-y', '-e', 'trace=open,openat,readlink,readlinkat'], [REAL_GIT, 'status'], sandbox);
  const calls = readFileSync(log, 'latin1').split('\n');
  const tracked = git(sandbox, 'ls-files', ':!.gitignore').replace(/"/g, '').split('\n');
  return tracked.filter((path) => calls.some((call) => call.includes(`"${path}"`)));
}

function sessionAt(name: string): TestSession {
  const folder = join(source.folder, '..', name);
  return { repository: source.repository, folder, sandbox: join(folder, 'sandbox'), id: name };
}

beforeAll(() => {
  const repository = makeRepository(FILES);
  symlinkSync('src/c', join(repository, 'link'));
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'link');
  source = sessionIn(repository, 'source');
  made.set('session new', source);
});

const opensNothing = (name: string, at: () => TestSession) =>
  test(`after ${name}`, (context) => {
    if (!straceWorks) return context.skip(NO_STRACE);
    expect(openedBy(at().sandbox)).toEqual([]);
  });

describe('git status opens no tracked file', () => {
  opensNothing('session new', () => source);

  opensNothing('session fork, and the first autocommit there reads none', () => {
    write(join(source.sandbox, 'built/x'), 'x\n');
    utimesSync(join(source.sandbox, 'built/x'), 1_000_000_000, 1_000_000_000.5);
    utimesSync(join(source.sandbox, 'a'), 1_100_000_000, 1_100_000_000);
    agtOk(source.repository, 'session', 'fork', '--from', 'source', '--id', 'fork');
    return sessionAt('fork');
  });

  opensNothing('session fork --at', () => {
    agtOk(source.repository, 'session', 'fork', '--from', 'source', '--at', '@', '--id', 'at');
    return sessionAt('at');
  });

  opensNothing('the restore of a removed session', () => {
    agtOk(source.repository, 'session', 'fork', '--from', 'source', '--at', '@', '--id', 'removed');
    agtOk(source.repository, 'session', 'remove', 'removed');
    agtOk(source.repository, 'session', 'restore', 'removed', '--to', '@');
    return sessionAt('removed');
  });
});

test.each(['fork', 'at', 'removed'])(
  'the first autocommit of "%s" reads nothing, the next one each change',
  (id) => {
    const session = sessionAt(id);
    const first = autocommit(session);
    expect(first.read).toBe(0);
    expect(snapshotTree(session, `agtsessions/${id}`)).toEqual(onDisk(session));
    writeFileSync(join(session.sandbox, 'a'), 'b\n');
    expect(git(session.sandbox, 'status', '--porcelain')).toBe(' M a');
    const next = autocommit(session);
    expect([next.read, next.changes]).toEqual([1, [{ path: 'sandbox/a', status: 'modified' }]]);
  },
);

test('a fork of the session as it is now has the times of the files there', () => {
  const times = (path: string) => statSync(join(sessionAt('fork').sandbox, path)).mtimeMs;
  expect([times('built/x'), times('b.sh')]).toEqual([
    1_000_000_000_500,
    statSync(join(source.sandbox, 'b.sh')).mtimeMs,
  ]);
});

test('files whose bytes git converts are read, and files with changes stay changed', () => {
  const repository = makeRepository({
    '.gitattributes': '*.txt eol=crlf\n',
    'a.txt': 'a\n',
    b: 'b\n',
    c: 'c\n',
  });
  const session = sessionIn(repository);
  writeFileSync(join(session.sandbox, 'b'), 'x\n');
  writeFileSync(join(session.sandbox, 'c'), 'y\n');
  git(session.sandbox, 'add', 'c');
  writeFileSync(join(session.sandbox, 'c'), 'z\n');
  agtOk(repository, 'session', 'fork', '--from', 's1', '--id', 'f1');
  const fork = join(session.folder, '../f1/sandbox');
  expect(run(REAL_GIT, ['status', '--porcelain'], { cwd: fork }).stdout).toBe(' M b\nMM c\n');
});

test('a restored index does not hide a change of the second in which git wrote it', () => {
  const session = sessionIn(makeRepository({ a: 'a\n' }));
  const racy = join(session.sandbox, 'racy');
  const index = join(git(session.sandbox, 'rev-parse', '--absolute-git-dir'), 'index');
  const second = (path: string) => Math.floor(statSync(path).mtimeMs / 1000);
  const entry = () => git(session.sandbox, 'ls-files', '--debug', 'racy').match(/mtime: (\d+)/)?.[1];
  do {
    writeFileSync(racy, 'old\n');
    git(session.sandbox, 'add', 'racy');
    writeFileSync(racy, 'new\n');
  } while (second(racy) !== second(index) || entry() !== String(second(racy)));
  autocommit(session);
  expect(git(session.sandbox, 'status', '--porcelain')).toBe('AM racy');
  writeFileSync(join(session.sandbox, 'b'), 'b\n');
  git(session.sandbox, 'add', 'b');
  agtOk(session.repository, 'undo', 's1');
  expect(git(session.sandbox, 'status', '--porcelain')).toBe('AM racy');
});
