/** The first autocommit of an untouched sandbox reads nothing; whatever is not as git checked it out is read. */
import { chmodSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  autocommit,
  makeSession,
  snapshotFolder,
  snapshotTree,
  type TestSession,
} from '../../harness/session.ts';
import { AGT, agtOk, git, makeRepository, REAL_GIT, run, write } from '../../harness/world.ts';

const FILES = {
  a: 'a\n',
  'b.sh': '#!/bin/sh\n',
  'src/c': 'c\n',
  'src/d e': 'd\n',
  'src.x': 'x\n',
  empty: '',
};

/** The snapshot equals the disk, and git fsck finds no error. */
function expectExact(session: TestSession, commit: string): void {
  const disk = new Map<string, string>();
  for (const [path, text] of snapshotFolder(session.folder)) {
    if (text.startsWith('link ')) disk.set(path, `120000 ${text.slice(5)}`);
    const match = /^file ([0-7]+) /.exec(text);
    if (match === null) continue;
    const program = (Number.parseInt(match[1] ?? '', 8) & 0o100) !== 0;
    disk.set(path, `${program ? '100755' : '100644'} ${text.slice(match[0].length)}`);
  }
  expect(snapshotTree(session, commit)).toEqual(disk);
  git(session.repository, 'fsck', '--strict');
}

/** A session of a repository that `prepare` has committed to, or configured, before. */
function sessionOf(prepare: (repository: string) => void): TestSession {
  const repository = makeRepository(FILES);
  prepare(repository);
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json'));
  return { repository, sandbox, folder: join(sandbox, '..'), id: 's1' };
}

const commitAll = (repository: string) => {
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'more');
};

test('an untouched sandbox: no file is read, the snapshot is exact, and so is the next', () => {
  const session = sessionOf((repository) => {
    chmodSync(join(repository, 'b.sh'), 0o755);
    symlinkSync('src/c', join(repository, 'link'));
    commitAll(repository);
  });
  const first = autocommit(session);
  expect([first.outcome, first.read, first.changes]).toEqual(['committed', 0, []]);
  expectExact(session, first.commit as string);
  expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', read: 0 });
  writeFileSync(join(session.sandbox, 'a'), 'b\n');
  const next = autocommit(session);
  expect(next.read).toBe(1);
  expectExact(session, next.commit as string);
});

test.each<[string, number, (sandbox: string) => void]>([
  ['an edit of the same size', 1, (at) => writeFileSync(join(at, 'a'), 'z\n')],
  [
    'an edit of the same size and time',
    1,
    (at) => {
      writeFileSync(join(at, 'a'), 'z\n');
      utimesSync(join(at, 'a'), 1_700_000_000, 1_700_000_000);
    },
  ],
  ['a change of mode', 1, (at) => chmodSync(join(at, 'a'), 0o600)],
  ['a new file', 1, (at) => writeFileSync(join(at, 'new'), 'new\n')],
  [
    'two files swapped',
    2,
    (at) => {
      renameSync(join(at, 'a'), join(at, 't'));
      renameSync(join(at, 'src/c'), join(at, 'a'));
      renameSync(join(at, 't'), join(at, 'src/c'));
    },
  ],
  ['a directory moved', 2, (at) => renameSync(join(at, 'src'), join(at, 'lib'))],
])('%s right after: read, and right', (_, read, change) => {
  const session = sessionOf(() => undefined);
  change(session.sandbox);
  const first = autocommit(session);
  expect(first.read).toBe(read);
  expectExact(session, first.commit as string);
});

test.each<[string, (repository: string) => void]>([
  ['eol=crlf for some', (at) => writeFileSync(join(at, '.gitattributes'), 'src/* text eol=crlf\n')],
  [
    'ident',
    (at) => {
      writeFileSync(join(at, '.gitattributes'), 'a ident\n');
      writeFileSync(join(at, 'a'), '$Id$\n');
    },
  ],
  [
    'a filter that keeps the size',
    (at) => {
      writeFileSync(join(at, '.gitattributes'), 'src/c filter=rot\n');
      git(at, 'config', 'filter.rot.smudge', 'tr a-z b-za');
      git(at, 'config', 'filter.rot.clean', 'tr b-za a-z');
    },
  ],
  ['a macro', (at) => writeFileSync(join(at, '.gitattributes'), '[attr]dos eol=crlf\nsrc/c dos\n')],
  [
    'a filter in info/attributes',
    (at) => {
      writeFileSync(join(at, '.git/info/attributes'), 'src/c filter=rot\n');
      git(at, 'config', 'filter.rot.smudge', 'tr a-z b-za');
      git(at, 'config', 'filter.rot.clean', 'tr b-za a-z');
    },
  ],
  ['core.autocrlf', (at) => void git(at, 'config', 'core.autocrlf', 'true')],
])(
  'converted by %s: the new session has a snapshot of the bytes on disk, and nothing is unsaved',
  (_, prepare) => {
    const session = sessionOf((repository) => {
      prepare(repository);
      if (git(repository, 'status', '--porcelain') !== '') commitAll(repository);
    });
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', read: 0 });
    const [view] = JSON.parse(agtOk(session.repository, 'status', '--json')).sessions;
    expect(view.changed_since).toBe(0);
    expectExact(session, 'agtsessions/s1');
  },
);

test("many files, written by several git processes: exact too; the user's own setting wins", () => {
  const session = sessionOf((repository) => {
    for (let n = 0; n < 300; n++) write(join(repository, `many/${n % 7}/f${n}`), `${n}\n`);
    for (let n = 0; n < 300; n += 9) chmodSync(join(repository, `many/${n % 7}/f${n}`), 0o755);
    symlinkSync('0/f0', join(repository, 'many/link'));
    git(repository, 'config', 'checkout.thresholdForParallelism', '1');
    commitAll(repository);
  });
  const first = autocommit(session);
  expect([first.outcome, first.read, first.changes]).toEqual(['committed', 0, []]);
  expectExact(session, first.commit as string);
  expect(git(session.sandbox, 'status', '--porcelain')).toBe('');

  const traceOf = (id: string) => {
    const outcome = run(AGT, ['session', 'new', '--id', id], {
      cwd: session.repository,
      env: { AGT_TRACE: '1' },
    });
    expect(outcome.exitCode).toBe(0);
    return outcome.stderr;
  };
  expect(traceOf('s2')).toMatch(/ -c checkout\.workers=\d+ worktree add /);
  git(session.repository, 'config', '--unset', 'checkout.thresholdForParallelism');
  git(session.repository, 'config', 'checkout.workers', '1');
  expect(traceOf('s3')).toContain(' -c checkout.thresholdForParallelism=2000 worktree add ');
});

test('a submodule, and a name that a tree cannot hold: left out as in any snapshot', () => {
  const session = sessionOf((repository) => {
    git(
      repository,
      'update-index',
      '--add',
      '--cacheinfo',
      `160000,${git(repository, 'rev-parse', 'HEAD')},sub`,
    );
    writeFileSync(join(repository, '.gitmodules'), '[submodule "sub"]\n\tpath = sub\n\turl = x\n');
    git(repository, 'add', '.gitmodules');
    git(repository, 'commit', '-q', '-m', 'sub');
  });
  const first = autocommit(session);
  expect(first.read).toBe(1);
  expectExact(session, first.commit as string);
});

test('a sparse checkout, and a sha256 repository', () => {
  const sparse = sessionOf((repository) => {
    git(repository, 'config', 'core.sparseCheckout', 'true');
    writeFileSync(join(repository, '.git/info/sparse-checkout'), '/a\n');
  });
  expectExact(sparse, autocommit(sparse).commit as string);

  const place = join(makeRepository(FILES), 'sha256');
  run(REAL_GIT, ['init', '-q', '-b', 'main', '--object-format=sha256', place], { cwd: '/' });
  writeFileSync(join(place, 'a'), 'a\n');
  commitAll(place);
  const made = run(AGT, ['session', 'new', '--id', 's1', '--json'], { cwd: place });
  const { sandbox } = JSON.parse(made.stdout);
  const session = { repository: place, sandbox, folder: join(sandbox, '..'), id: 's1' };
  const first = autocommit(session);
  expect(first.read).toBe(0);
  expectExact(session, first.commit as string);
});

test('a damaged seed costs a warning and a full read', () => {
  const session = makeSession(FILES);
  const manifest = join(session.repository, '.git/agt/scan/s1');
  const bytes = readFileSync(manifest);
  bytes[bytes.length - 30] = 7;
  writeFileSync(manifest, bytes);
  const first = autocommit(session);
  expect(first.read).toBe(Object.keys(FILES).length);
  expect(first.warnings).toHaveLength(1);
  expectExact(session, first.commit as string);
});
