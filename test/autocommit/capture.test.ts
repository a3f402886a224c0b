import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
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
import { identify } from '../../src/disk/lock.ts';
import {
  autocommit,
  changedPaths,
  makeSession,
  manifestOf,
  snapshotTree,
  tryAutocommit,
} from '../harness/session.ts';
import { agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

function parents(repository: string, commit: string): string[] {
  return git(repository, 'rev-parse', `${commit}^@`).split('\n');
}

describe('what an autocommit is', () => {
  test('a commit by agt on the shadow branch, with two parents, that names its session', () => {
    const session = makeSession();
    const start = git(session.repository, 'rev-parse', 'main');
    const { commit, outcome } = autocommit(session);
    expect(outcome).toBe('committed');
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1', 'refs/agt/tip/s1').split('\n')).toEqual([
      commit,
      commit,
    ]);
    expect(parents(session.repository, 'agtsessions/s1')).toEqual([start, start]);
    expect(git(session.repository, 'log', '-1', '--format=%an <%ae> %cn <%ce>%n%B', 'agtsessions/s1')).toBe(
      `agt <agt@local> agt <agt@local>\nagt autocommit\n\nAgt-Session: s1\nAgt-Head: ${start}\n`,
    );
  });

  test('the tree is the session folder and _/; the sandbox, its index and branches stay as they are', () => {
    const session = makeSession({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n' });
    write(join(session.folder, 'xdg/log'), 'thoughts\n');
    const before = git(session.repository, 'for-each-ref', 'refs/heads/agt', 'refs/heads/main');
    autocommit(session);
    expect(git(session.repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s1').split('\n')).toEqual([
      '_/index',
      '_/manifest.json',
      '_/staged/a.txt',
      '_/staged/dir/b.txt',
      'sandbox/a.txt',
      'sandbox/dir/b.txt',
      'xdg/log',
    ]);
    expect(git(session.repository, 'for-each-ref', 'refs/heads/agt', 'refs/heads/main')).toBe(before);
    expect(git(session.sandbox, 'status', '--porcelain')).toBe('');
  });

  test('nothing changed, no commit; a refreshed index is no change', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    const first = autocommit(session);
    utimesSync(join(session.sandbox, 'a.txt'), 1, 1);
    git(session.sandbox, 'status');
    const second = autocommit(session);
    expect(second).toMatchObject({ outcome: 'unchanged', commit: first.commit, changes: [] });
  });

  test('the second parent is the user branch now, the third the commit that the agent made', () => {
    const session = makeSession();
    const first = autocommit(session).commit;
    git(session.repository, 'commit', '-q', '--allow-empty', '-m', 'by the user');
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
    const agent = git(session.sandbox, 'rev-parse', 'HEAD');
    const user = git(session.repository, 'rev-parse', 'main');
    autocommit(session);
    expect(parents(session.repository, 'agtsessions/s1')).toEqual([first, user, agent]);
    write(join(session.sandbox, 'x'), 'x\n');
    const second = git(session.repository, 'rev-parse', 'agtsessions/s1');
    autocommit(session);
    expect(parents(session.repository, 'agtsessions/s1')).toEqual([second, user]);
  });

  test('what the agent committed stays reachable whatever it resets or amends', () => {
    const session = makeSession();
    write(join(session.sandbox, 'x'), 'x\n');
    git(session.sandbox, 'add', 'x');
    git(session.sandbox, 'commit', '-q', '-m', 'one');
    const one = git(session.sandbox, 'rev-parse', 'HEAD');
    autocommit(session);
    git(session.sandbox, 'reset', '-q', '--hard', 'HEAD~1');
    autocommit(session);
    git(session.repository, 'reflog', 'expire', '--expire=now', '--all');
    git(session.repository, 'gc', '-q', '--prune=now');
    expect(git(session.repository, 'log', '-1', '--format=%s', one)).toBe('one');
  });

  test('a user branch that was deleted is replaced by the start commit', () => {
    const session = makeSession();
    const start = git(session.repository, 'rev-parse', 'main');
    git(session.repository, 'checkout', '-q', '--detach');
    git(session.repository, 'branch', '-D', 'main');
    autocommit(session);
    expect(parents(session.repository, 'agtsessions/s1')).toEqual([start, start]);
  });

  test('fsck --strict is content with all of it', () => {
    const session = makeSession({ '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ../x\n', a: 'a\n' });
    for (const name of [
      '.GIT',
      'git~1',
      '.gitmodules ',
      '.git.',
      'sub/.Git',
      'a\\..\\b',
      '%agt-00',
      '.g\u200cit',
    ]) {
      write(join(session.sandbox, name, 'file'), name);
    }
    symlinkSync('a', join(session.folder, 'xdg/.gitmodules'));
    autocommit(session);
    const checked = run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], { cwd: session.repository });
    expect(checked.stdout + checked.stderr).toBe('');
    expect(checked.exitCode).toBe(0);
    expect([...snapshotTree(session, 'agtsessions/s1').keys()]).toContain('sandbox/.GIT/file');
    expect(manifestOf(session).encoded).toContain('sandbox/.GIT/file');
  });
});

describe('what an autocommit sees', () => {
  const CHANGES: [string, (sandbox: string) => void, string[]][] = [
    ['an added file', (dir) => write(join(dir, 'new.txt'), 'x'), ['added sandbox/new.txt']],
    ['a changed file', (dir) => write(join(dir, 'a.txt'), 'other\n'), ['changed sandbox/a.txt']],
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
      ['changed sandbox/a.txt'],
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
      ['changed sandbox/a.txt'],
    ],
    [
      'two directories that were swapped',
      (dir) => {
        renameSync(join(dir, 'dir'), join(dir, 'swap'));
        renameSync(join(dir, 'dir2'), join(dir, 'dir'));
        renameSync(join(dir, 'swap'), join(dir, 'dir2'));
      },
      ['changed sandbox/dir/b.txt', 'changed sandbox/dir2/b.txt'],
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

  test('bytes on disk, not what filters and end-of-line rules make of them', () => {
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

  test('a file too large for memory is streamed, and comes back whole', () => {
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

  test('pipes and sockets are skipped, and stop nothing', () => {
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

  test("a nested repository's files are captured, its .git is named", () => {
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

  test("a submodule's place in the start tree becomes the files that are there", () => {
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

describe('_/', () => {
  test('_/index is the raw index, _/staged its tree; both follow what is staged', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    write(join(session.sandbox, 'a.txt'), 'staged\n');
    git(session.sandbox, 'add', 'a.txt');
    write(join(session.sandbox, 'a.txt'), 'on disk\n');
    autocommit(session);
    expect(git(session.repository, 'show', 'agtsessions/s1:_/staged/a.txt')).toBe('staged');
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/a.txt')).toBe('on disk');
    const gitDir = git(session.sandbox, 'rev-parse', '--absolute-git-dir');
    const stored = run(REAL_GIT, ['cat-file', 'blob', 'agtsessions/s1:_/index'], {
      cwd: session.repository,
    }).stdout;
    expect(stored).toBe(readFileSync(join(gitDir, 'index')).toString('latin1'));
    expect(existsSync(join(gitDir, 'index.lock'))).toBe(false);
  });

  test('_/staged is left out in a conflict, and the operation is named', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    git(session.sandbox, 'checkout', '-q', '-b', 'other');
    write(join(session.sandbox, 'a.txt'), 'theirs\n');
    git(session.sandbox, 'commit', '-q', '-a', '-m', 'theirs');
    git(session.sandbox, 'checkout', '-q', 'agt/s1');
    write(join(session.sandbox, 'a.txt'), 'ours\n');
    git(session.sandbox, 'commit', '-q', '-a', '-m', 'ours');
    expect(run(REAL_GIT, ['merge', '-q', 'other'], { cwd: session.sandbox }).exitCode).toBe(1);
    autocommit(session);
    expect(git(session.repository, 'ls-tree', '--name-only', 'agtsessions/s1:_').split('\n')).toEqual([
      'index',
      'manifest.json',
      'operation',
    ]);
    expect(manifestOf(session).operation).toBe('merge');
    git(session.sandbox, 'add', 'a.txt');
    git(session.sandbox, 'commit', '-q', '-m', 'merged');
    autocommit(session);
    expect(manifestOf(session).operation).toBeNull();
    expect(git(session.repository, 'show', 'agtsessions/s1:_/staged/a.txt')).toContain('ours');
  });

  test('the manifest holds HEAD, permissions that are unusual, empty directories, label and tool', () => {
    const session = makeSession({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    write(join(session.folder, 'config/key'), 'secret\n', 0o600);
    mkdirSync(join(session.sandbox, 'hollow/inner'), { recursive: true });
    chmodSync(join(session.sandbox, 'hollow'), 0o700);
    autocommit(session, '--label', 'tests pass', '--tool', 'edit');
    expect(manifestOf(session)).toEqual({
      version: 1,
      session: 's1',
      head: { ref: 'refs/heads/agt/s1', commit: git(session.repository, 'rev-parse', 'main') },
      operation: null,
      label: 'tests pass',
      tool: 'edit',
      modes: {
        file: '0644',
        program: '0755',
        directory: '0755',
        others: { 'config/key': '0600', 'sandbox/hollow': '0700' },
      },
      empty_directories: ['sandbox/hollow/inner', 'xdg'],
      encoded: [],
      skipped: [],
    });
    const message = git(session.repository, 'log', '-1', '--format=%B', 'agtsessions/s1');
    expect(message).toMatch(
      /^tests pass\n\nAgt-Session: s1\nAgt-Head: \w+\nAgt-Label: tests pass\nAgt-Tool: edit\n/,
    );
  });

  test('a label is worth a commit of its own; going without one again is not', () => {
    const session = makeSession();
    autocommit(session);
    expect(autocommit(session, '--label', 'here').outcome).toBe('committed');
    expect(autocommit(session, '--label', 'here').outcome).toBe('unchanged');
    expect(autocommit(session).outcome).toBe('unchanged');
  });

  test('a detached HEAD is captured as such, and a change of HEAD alone is a change', () => {
    const session = makeSession();
    autocommit(session);
    git(session.sandbox, 'checkout', '-q', '--detach');
    expect(autocommit(session).outcome).toBe('committed');
    expect(manifestOf(session).head.ref).toBeNull();
  });
});

describe('options', () => {
  test('--siblings scans only those folders; the others keep their last state, their permissions included', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    write(join(session.folder, 'config/key'), 'one\n', 0o600);
    write(join(session.folder, 'xdg/log'), 'one\n');
    autocommit(session);
    for (const path of ['config/key', 'xdg/log', 'sandbox/a.txt']) write(join(session.folder, path), 'two\n');
    chmodSync(join(session.folder, 'config/key'), 0o640);
    expect(changedPaths(autocommit(session, '--siblings', 'sandbox'))).toEqual(['changed sandbox/a.txt']);
    const tree = snapshotTree(session, 'agtsessions/s1');
    expect(tree.get('config/key')).toBe('100644 one\n');
    expect(manifestOf(session).modes.others).toEqual({ 'config/key': '0600' });
    expect(changedPaths(autocommit(session))).toEqual(['changed config/key', 'changed xdg/log']);
    expect(tryAutocommit(session, '--siblings', 'nowhere').exitCode).toBe(2);
  });

  test('--timestamp reads files again that were modified since', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    expect(autocommit(session, '--timestamp', '0').outcome).toBe('unchanged');
    expect(tryAutocommit(session, '--timestamp', 'yesterday').stderr).toContain(
      "'yesterday' is not a Unix time",
    );
  });

  test('--dry-run writes nothing at all', () => {
    const session = makeSession();
    autocommit(session);
    write(join(session.sandbox, 'x'), 'x'.repeat(100));
    const objects = () => git(session.repository, 'count-objects', '-v');
    const before = [objects(), git(session.repository, 'for-each-ref')];
    expect(autocommit(session, '--dry-run').outcome).toBe('would-commit');
    expect(tryAutocommit(session, '--dry-run').stdout).toBe('A sandbox/x\ns1: would capture 1 path\n');
    expect([objects(), git(session.repository, 'for-each-ref')]).toEqual(before);
  });

  test('--all captures every active session, says only what happened, and goes on past one that fails', () => {
    const session = makeSession();
    agtOk(session.repository, 'session', 'new', '--id', 's2');
    agtOk(session.repository, 'session', 'new', '--id', 's3');
    expect(agtOk(session.repository, 'autocommit', '--all').split('\n')).toHaveLength(3);
    expect(agtOk(session.repository, 'autocommit', '--all')).toBe('');
    write(join(session.folder, '../s3/sandbox/x'), 'x');
    rmSync(join(session.folder, '../s2'), { recursive: true });
    const outcome = run(join(import.meta.dirname, '../../dist/agt'), ['autocommit', '--all'], {
      cwd: session.repository,
    });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stdout).toMatch(/^s3: captured 1 path as /);
    expect(outcome.stderr).toContain('error: the sandbox of "s2" is gone');
  });
});

describe('what can go wrong', () => {
  test('a lost or damaged stat cache costs a full scan and a warning, nothing else', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    const manifest = join(session.repository, '.git/agt/scan/s1');
    rmSync(manifest);
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', warnings: [] });
    writeFileSync(manifest, readFileSync(manifest).subarray(0, -30));
    write(join(session.sandbox, 'a.txt'), 'b\n');
    const report = autocommit(session);
    expect(changedPaths(report)).toEqual(['changed sandbox/a.txt']);
    expect(report.warnings).toEqual([
      'the stat cache could not be used (it is damaged); every file was read',
    ]);
  });

  test('a shadow branch that was moved is put back, said, and what was put on it stays reachable', () => {
    const session = makeSession();
    const { commit } = autocommit(session);
    const tree = git(session.repository, 'rev-parse', 'main^{tree}');
    const foreign = git(session.repository, 'commit-tree', '-p', 'main', '-m', 'foreign', tree);
    git(session.repository, 'update-ref', 'refs/heads/agtsessions/s1', foreign);
    const report = autocommit(session);
    expect(report.warnings[0]).toContain('agtsessions/s1 was moved to');
    expect(parents(session.repository, 'agtsessions/s1')[0]).toBe(commit);
    expect(parents(session.repository, 'agtsessions/s1')).toContain(foreign);
    git(session.repository, 'branch', '-q', '-D', 'agtsessions/s1');
    expect(autocommit(session).warnings[0]).toContain('agtsessions/s1 was deleted');
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(
      git(session.repository, 'rev-parse', 'refs/agt/tip/s1'),
    );
  });

  test('another autocommit at work: exit code 75; a lock whose owner is gone is taken over', () => {
    const session = makeSession();
    const lock = join(session.repository, '.git/agt/locks/s1');
    const own = identify(process.pid);
    const foreign = { ...own, pid: 4_000_000, place: 'another container' };
    for (const standing of [own, foreign]) {
      write(lock, JSON.stringify(standing));
      const busy = tryAutocommit(session);
      expect(busy.exitCode).toBe(75);
      expect(busy.stderr).toContain('error: another agt is working on session "s1"');
      expect(existsSync(lock)).toBe(true);
    }
    for (const change of [{ started: '1' }, { boot: 'another' }, { pid: 4_000_000, started: '' }]) {
      write(lock, JSON.stringify({ ...own, ...change }));
      expect(tryAutocommit(session).exitCode).toBe(0);
      expect(existsSync(lock)).toBe(false);
    }
    write(lock, JSON.stringify(foreign));
    utimesSync(lock, 1000, 1000);
    expect(tryAutocommit(session).exitCode).toBe(0);
    write(lock, '{"pid"');
    expect(tryAutocommit(session).exitCode).toBe(0);
  });

  test('--wait: until the other is done, and no longer than that', async () => {
    const session = makeSession();
    const lock = join(session.repository, '.git/agt/locks/s1');
    write(lock, JSON.stringify(identify(process.pid)));
    expect(tryAutocommit(session, '--wait', '0.2').exitCode).toBe(75);
    const { AGT } = await import('../harness/world.ts');
    const child = spawn(AGT, ['autocommit', '--all', '--wait', '60'], { cwd: session.repository });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    await new Promise((resolve) => setTimeout(resolve, 500));
    rmSync(lock);
    expect(await ended).toBe(0);
    expect(manifestOf(session).session).toBe('s1');
    expect(tryAutocommit(session, '--wait', 'long').exitCode).toBe(2);
  });

  test('a lock whose owner was killed and not yet waited for is taken over', async () => {
    const session = makeSession();
    // The child ends when its parent has become something that never asks for it.
    const parent = spawn('/bin/sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const pid = Number(
      await new Promise((resolve) => parent.stdout.on('data', (data: Buffer) => resolve(data.toString()))),
    );
    const state = () => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0];
    while (state() !== 'Z') await new Promise((resolve) => setTimeout(resolve, 5));
    write(join(session.repository, '.git/agt/locks/s1'), JSON.stringify(identify(pid)));
    const outcome = tryAutocommit(session);
    parent.kill();
    expect(outcome.stderr).toBe('');
    expect(outcome.exitCode).toBe(0);
  });

  test('many at once on one session: each ends in order, one state results', async () => {
    const session = makeSession();
    write(join(session.sandbox, 'x'), 'x');
    const { AGT } = await import('../harness/world.ts');
    const codes = await Promise.all(
      Array.from({ length: 8 }, () => {
        const child = spawn(AGT, ['autocommit', '--session-id', 's1'], {
          cwd: session.repository,
          stdio: 'ignore',
        });
        return new Promise((resolve) => child.on('exit', resolve));
      }),
    );
    expect(codes.every((code) => code === 0 || code === 75)).toBe(true);
    expect(codes).toContain(0);
    expect(git(session.repository, 'rev-list', '--first-parent', '--count', 'main..agtsessions/s1')).toBe(
      '1',
    );
  });

  test('killed in the middle of the stream: the old state stands', () => {
    const session = makeSession();
    const { commit } = autocommit(session);
    write(join(session.sandbox, 'x'), 'x');
    // A git whose fast-import loses its input half way, as when agt is killed.
    const bin = makeTempDir('bin');
    write(
      join(bin, 'git'),
      `#!/bin/sh\nfor word; do [ "$word" = fast-import ] && { head -c 700 | exec ${REAL_GIT} "$@"; exit $?; }; done\nexec ${REAL_GIT} "$@"\n`,
      0o755,
    );
    const outcome = run(join(import.meta.dirname, '../../dist/agt'), ['autocommit', '--session-id', 's1'], {
      cwd: session.repository,
      env: { AGT_GIT_PATH: join(bin, 'git') },
    });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('error: git fast-import failed');
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1', 'refs/agt/tip/s1').split('\n')).toEqual([
      commit,
      commit,
    ]);
    expect(changedPaths(autocommit(session))).toEqual(['added sandbox/x']);
  });
});
