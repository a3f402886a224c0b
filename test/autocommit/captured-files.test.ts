/** Which changes an autocommit captures, and the files that it skips. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  autocommit,
  changedPaths,
  makeSession,
  manifestOf,
  snapshotTree,
  tryAutocommit,
} from '../harness/session.ts';
import { agtOk, git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';

describe('an autocommit captures', () => {
  const CHANGES: [string, (sandbox: string) => void, string[]][] = [
    ['an added file', (dir) => write(join(dir, 'new.txt'), 'x'), ['added sandbox/new.txt']],
    ['a changed file', (dir) => write(join(dir, 'a.txt'), 'other\n'), ['modified sandbox/a.txt']],
    ['a deleted file', (dir) => unlinkSync(join(dir, 'a.txt')), ['deleted sandbox/a.txt']],
    [
      'a renamed file',
      (dir) => renameSync(join(dir, 'a.txt'), join(dir, 'z.txt')),
      ['added sandbox/z.txt', 'deleted sandbox/a.txt'],
    ],
    ['an executable bit', (dir) => chmodSync(join(dir, 'a.txt'), 0o755), ['mode sandbox/a.txt']],
    [
      'a permission that git does not keep',
      (dir) => chmodSync(join(dir, 'a.txt'), 0o600),
      ['mode sandbox/a.txt'],
    ],
    ['a new link', (dir) => symlinkSync('a.txt', join(dir, 'link')), ['added sandbox/link']],
    ['a link to nowhere', (dir) => symlinkSync('/nowhere/at all', join(dir, 'link')), ['added sandbox/link']],
    [
      'a file that became a link',
      (dir) => {
        unlinkSync(join(dir, 'a.txt'));
        symlinkSync('dir/b.txt', join(dir, 'a.txt'));
      },
      ['modified sandbox/a.txt'],
    ],
    [
      'a file that became a directory',
      (dir) => {
        unlinkSync(join(dir, 'a.txt'));
        write(join(dir, 'a.txt/inner'), 'x');
      },
      ['added sandbox/a.txt/inner', 'deleted sandbox/a.txt'],
    ],
    [
      'a directory that became a file',
      (dir) => {
        rmSync(join(dir, 'dir'), { recursive: true });
        write(join(dir, 'dir'), 'x');
      },
      ['added sandbox/dir', 'deleted sandbox/dir/b.txt'],
    ],
    ['an ignored file', (dir) => write(join(dir, 'out/x.o'), 'x'), ['added sandbox/out/x.o']],
    ['an empty file', (dir) => write(join(dir, 'empty'), ''), ['added sandbox/empty']],
    ['an empty directory', (dir) => mkdirSync(join(dir, 'hollow')), ['added sandbox/hollow/']],
    [
      'binary content',
      (dir) => write(join(dir, 'bin'), Buffer.from([0, 255, 13, 10, 0])),
      ['added sandbox/bin'],
    ],
    ['a file in xdg', (dir) => write(join(dir, '../xdg/deep/log'), 'x'), ['added xdg/deep/log']],
    [
      'the same size and mtime with other content',
      (dir) => {
        const path = join(dir, 'a.txt');
        utimesSync(path, 1000, 1000);
        writeFileSync(path, 'b\n');
        utimesSync(path, 1000, 1000);
      },
      ['modified sandbox/a.txt'],
    ],
    [
      'two directories that were swapped',
      (dir) => {
        renameSync(join(dir, 'dir'), join(dir, 'swap'));
        renameSync(join(dir, 'dir2'), join(dir, 'dir'));
        renameSync(join(dir, 'swap'), join(dir, 'dir2'));
      },
      ['modified sandbox/dir/b.txt', 'modified sandbox/dir2/b.txt'],
    ],
    [
      'a name in another case',
      (dir) => renameSync(join(dir, 'a.txt'), join(dir, 'A.txt')),
      ['added sandbox/A.txt', 'deleted sandbox/a.txt'],
    ],
  ];

  test.each(CHANGES)('%s', (_what, change, expected) => {
    const session = makeSession({
      'a.txt': 'a\n',
      'dir/b.txt': 'b\n',
      'dir2/b.txt': 'c\n',
      '.gitignore': 'out/\n',
    });
    autocommit(session);
    change(session.sandbox);
    const dry = autocommit(session, '--dry-run');
    expect(dry.outcome).toBe('would-commit');
    const report = autocommit(session);
    expect(changedPaths(report).sort()).toEqual(expected);
    expect(dry.changes).toEqual(report.changes);
    expect(autocommit(session).outcome).toBe('unchanged');
  });

  test.each([
    ['newline', 'two\nlines'],
    ['quotes and backslash', '"quoted" \\ \'single\''],
    ['leading dash and blanks', ' -rf '],
    ['tab', 'a\tb'],
    ['not UTF-8', '\xff\xfe\x80'],
    ['UTF-8', 'na\xc3\xafve'],
    ['255 bytes', 'x'.repeat(255)],
    ['percent', '%41%agt-x'],
    ['control characters', '\x01\x1b[31m'],
  ])('a name with %s', (_what, name) => {
    const session = makeSession();
    autocommit(session);
    const path = Buffer.concat([Buffer.from(`${session.sandbox}/`), Buffer.from(name, 'latin1')]);
    writeFileSync(path, 'content');
    autocommit(session);
    expect(snapshotTree(session, 'agtsessions/s1').get(`sandbox/${name}`)).toBe('100644 content');
    chmodSync(path, 0o640);
    autocommit(session);
    expect(Object.values(manifestOf(session).modes.others)).toEqual(['0640']);
    unlinkSync(path);
    expect(changedPaths(autocommit(session))).toHaveLength(1);
    expect(snapshotTree(session, 'agtsessions/s1').has(`sandbox/${name}`)).toBe(false);
  });

  test('captures the bytes on disk, without filters and end-of-line conversion', () => {
    const session = makeSession({
      '.gitattributes': '*.txt text eol=crlf\n*.id ident\n',
      'a.txt': 'one\ntwo\n',
      'b.id': '$Id$\n',
    });
    const disk = (name: string) => readFileSync(join(session.sandbox, name)).toString('latin1');
    expect(disk('a.txt')).toBe('one\r\ntwo\r\n');
    autocommit(session);
    const tree = snapshotTree(session, 'agtsessions/s1');
    expect(tree.get('sandbox/a.txt')).toBe('100644 one\r\ntwo\r\n');
    expect(tree.get('sandbox/b.id')).toBe(`100644 ${disk('b.id')}`);
  });

  test('a file that is larger than agt.maxFileSize is skipped and named', () => {
    const session = makeSession();
    agtOk(session.repository, 'config', 'set', 'agt.maxFileSize', '1k');
    write(join(session.sandbox, 'big'), 'x'.repeat(1025));
    write(join(session.sandbox, 'fits'), 'x'.repeat(1024));
    const report = autocommit(session);
    expect(report.skipped).toEqual([
      { path: 'sandbox/big', reason: 'is larger than agt.maxFileSize (1025 bytes)' },
    ]);
    expect([...snapshotTree(session, 'agtsessions/s1').keys()].sort()).toEqual([
      'sandbox/README.md',
      'sandbox/fits',
    ]);
    expect(manifestOf(session).skipped).toEqual(report.skipped);
    expect(tryAutocommit(session).stderr).toContain('warning: s1: not captured: sandbox/big: is larger');
  });

  test('a file too large for memory is streamed, and restored whole', () => {
    const session = makeSession();
    const big = Buffer.alloc(40 * 1024 * 1024);
    for (let i = 0; i < big.length; i += 4096) big.writeUInt32LE(i, i);
    write(join(session.sandbox, 'big'), big);
    autocommit(session);
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1:sandbox/big')).toBe(
      git(session.sandbox, 'hash-object', '--no-filters', 'big'),
    );
    expect(git(session.repository, 'cat-file', '-s', 'agtsessions/s1:sandbox/big')).toBe(String(big.length));
  });

  test('pipes and sockets are skipped, and the rest is captured', () => {
    const session = makeSession();
    execFileSync('mkfifo', [join(session.sandbox, 'pipe')]);
    const script = `import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])`;
    const bound = spawnSync('python3', ['-c', script, 'sock'], { cwd: session.sandbox });
    write(join(session.sandbox, 'file'), 'x');
    const reasons = new Map(autocommit(session).skipped.map(({ path, reason }) => [path, reason]));
    expect(reasons.get('sandbox/pipe')).toBe('is a named pipe');
    if (bound.status === 0) expect(reasons.get('sandbox/sock')).toBe('is a socket');
    expect(snapshotTree(session, 'agtsessions/s1').has('sandbox/file')).toBe(true);
  });

  test('the files of a nested repository are captured; agt names its .git as skipped', () => {
    const session = makeSession();
    git(session.sandbox, 'init', '-q', 'nested');
    write(join(session.sandbox, 'nested/file'), 'x');
    expect(autocommit(session).skipped).toEqual([
      { path: 'sandbox/nested/.git', reason: 'belongs to a nested repository' },
    ]);
    const tree = [...snapshotTree(session, 'agtsessions/s1').keys()];
    expect(tree).toContain('sandbox/nested/file');
    expect(tree.some((path) => path.includes('.git/'))).toBe(false);
  });

  test('a submodule in the start tree is replaced by its files on disk', () => {
    const library = makeRepository({ 'lib.c': 'int x;\n' });
    const repository = makeRepository();
    git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
    git(repository, 'commit', '-q', '-m', 'library');
    const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json'));
    git(sandbox, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
    agtOk(repository, 'autocommit', '--session-id', 's1');
    expect(git(repository, 'ls-tree', '-r', 'agtsessions/s1', 'sandbox/')).not.toContain('160000');
    expect(git(repository, 'show', 'agtsessions/s1:sandbox/lib/lib.c')).toBe('int x;');
    const checked = run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], { cwd: repository });
    expect(checked.exitCode).toBe(0);
  });
});
