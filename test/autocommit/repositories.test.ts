/** Captures in repositories of every kind, called from places that point git elsewhere; and what git's filters would do. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, manifestOf, snapshotTree, type TestSession } from '../harness/session.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

/** A session in a repository that is there already. */
function sessionIn(repository: string, id = 's1'): TestSession {
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', id, '--json'));
  return { repository, sandbox, folder: join(sandbox, '..'), id };
}

/** Changed, captured, unchanged, sound. */
function expectWorks(session: TestSession): void {
  autocommit(session);
  write(join(session.sandbox, 'untracked'), 'u\n');
  write(join(session.sandbox, 'staged'), 's\n');
  git(session.sandbox, 'add', '--sparse', 'staged');
  expect(autocommit(session)).toMatchObject({ outcome: 'committed', failed: [], warnings: [] });
  expect(autocommit(session).outcome).toBe('unchanged');
  const tree = snapshotTree(session, 'agtsessions/s1');
  expect(tree.get('sandbox/untracked')).toBe('100644 u\n');
  expect(git(session.repository, 'show', 'agtsessions/s1:_/staged/staged')).toBe('s');
}

function expectSound(repository: string): void {
  expect(run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], { cwd: repository })).toMatchObject({
    exitCode: 0,
  });
}

describe('variables that point git elsewhere', () => {
  const elsewhere = makeRepository({ 'other.txt': 'other\n' });
  const VARIABLES: Record<string, string> = {
    GIT_DIR: join(elsewhere, '.git'),
    GIT_WORK_TREE: elsewhere,
    GIT_INDEX_FILE: join(elsewhere, '.git/index'),
    GIT_OBJECT_DIRECTORY: join(elsewhere, '.git/objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(elsewhere, '.git/objects'),
    GIT_COMMON_DIR: join(elsewhere, '.git'),
    GIT_NAMESPACE: 'foreign',
    GIT_PREFIX: 'deep/',
    GIT_QUARANTINE_PATH: join(elsewhere, '.git/objects/incoming'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.worktree',
    GIT_CONFIG_VALUE_0: elsewhere,
    GIT_CONFIG_PARAMETERS: "'core.bare'='true'",
    GIT_SHALLOW_FILE: '/nonexistent',
    GIT_GRAFT_FILE: '/nonexistent',
    GIT_REPLACE_REF_BASE: 'refs/elsewhere/',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_DEFAULT_HASH: 'sha256',
    GIT_CEILING_DIRECTORIES: '/',
  };

  const snapshot = () => [
    git(elsewhere, 'for-each-ref'),
    git(elsewhere, 'count-objects', '-v'),
    readFileSync(join(elsewhere, '.git/index')).toString('latin1'),
  ];

  test.for([...Object.keys(VARIABLES), 'all of them'])('%s', (name) => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    write(join(session.sandbox, 'a.txt'), 'aa\n');
    git(session.sandbox, 'add', 'a.txt');
    const before = snapshot();
    const env = name === 'all of them' ? VARIABLES : { [name]: VARIABLES[name] };
    const outcome = run(AGT, ['autocommit'], { cwd: session.sandbox, env });
    expect(outcome).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^s1: captured 1 path/),
      stderr: '',
    });
    expect(git(session.repository, 'show', 'agtsessions/s1:_/staged/a.txt')).toBe('aa');
    expect(snapshot()).toEqual(before);
    expectSound(session.repository);
  });

  test('from hooks of git itself, of the repository and of another', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    const hooks = makeTempDir('hooks');
    const script = `#!/bin/sh\n'${AGT}' -C '${session.sandbox}' autocommit --label from-hook\n`;
    for (const name of ['pre-commit', 'post-commit']) write(join(hooks, name), script, 0o755);
    git(session.repository, 'config', 'core.hooksPath', hooks);
    write(join(session.sandbox, 'b.txt'), 'b\n');
    git(session.sandbox, 'add', 'b.txt');
    const run1 = run(REAL_GIT, ['commit', '-m', 'with a hook'], { cwd: session.sandbox });
    expect(run1.exitCode).toBe(0);
    expect(manifestOf(session).head.commit).toBe(git(session.sandbox, 'rev-parse', 'HEAD'));
    write(join(elsewhere, 'c.txt'), 'c\n');
    git(elsewhere, 'add', 'c.txt');
    git(elsewhere, '-c', `core.hooksPath=${hooks}`, 'commit', '-q', '-m', 'elsewhere');
    expect(git(elsewhere, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });
});

describe('settings that change what git does', () => {
  test('nobody is named, signing is on, hooks refuse, objects are never written with filters', () => {
    const session = makeSession({ 'a.txt': 'one\r\ntwo\n' });
    const hooks = makeTempDir('hooks');
    for (const name of ['reference-transaction', 'pre-commit', 'post-index-change'])
      write(join(hooks, name), '#!/bin/sh\necho "$0" >>"$HOME/hooks-that-ran"\nexit 1\n', 0o755);
    const settings = {
      'core.hooksPath': hooks,
      'commit.gpgSign': 'true',
      'gpg.program': '/bin/false',
      'user.useConfigOnly': 'true',
      'core.autocrlf': 'true',
      'core.safecrlf': 'true',
      'i18n.commitEncoding': 'ISO-8859-1',
      'core.quotePath': 'true',
      'fastimport.unpackLimit': '0',
      'transfer.fsckObjects': 'true',
      'core.logAllRefUpdates': 'always',
    };
    for (const [key, value] of Object.entries(settings)) git(session.repository, 'config', key, value);
    write(join(session.sandbox, 'müll'), 'ü\r\n');
    const identity = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) =>
        ['NAME', 'EMAIL', 'DATE'].map((what) => [`GIT_${who}_${what}`, undefined]),
      ),
    );
    const home = makeTempDir('home');
    const outcome = run(AGT, ['autocommit', '--label', 'größer'], {
      cwd: session.sandbox,
      env: { ...identity, HOME: home, GIT_CONFIG_GLOBAL: undefined, USER: undefined, EMAIL: undefined },
    });
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(() => readFileSync(join(home, 'hooks-that-ran'))).toThrow();
    expect(git(session.repository, 'log', '-1', '--format=%an <%ae> %cn <%ce>', 'agtsessions/s1')).toBe(
      'agt <agt@local> agt <agt@local>',
    );
    const raw = Buffer.from(
      git(session.repository, 'cat-file', 'commit', 'agtsessions/s1'),
      'latin1',
    ).toString();
    expect(raw).toContain('\n\ngrößer\n');
    expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/a.txt')).toBe('100644 one\r\ntwo\n');
  });

  test('attributes: end of line, ident, encodings, filters and LFS: the bytes on disk, whoever made them', () => {
    const repository = makeRepository();
    git(repository, 'config', 'filter.rot.clean', 'tr a-z n-za-m');
    git(repository, 'config', 'filter.rot.smudge', 'tr a-z n-za-m');
    git(repository, 'config', 'filter.lfs.clean', 'false');
    git(repository, 'config', 'filter.lfs.smudge', 'sed "s/^version.*/real content/"');
    write(
      join(repository, '.gitattributes'),
      '*.crlf text eol=crlf\n*.lf text eol=lf\n*.id ident\n*.rot filter=rot\n*.u16 text working-tree-encoding=UTF-16LE\n*.bin filter=lfs diff=lfs merge=lfs -text\n',
    );
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`;
    write(join(repository, 'a.crlf'), 'one\ntwo\n');
    write(join(repository, 'a.lf'), 'one\ntwo\n');
    write(join(repository, 'a.id'), '$Id$\n');
    write(join(repository, 'a.rot'), 'hello\n');
    write(join(repository, 'a.u16'), Buffer.from('é\n', 'utf16le'));
    git(repository, 'add', '-A');
    const blob = run(REAL_GIT, ['hash-object', '-w', '--no-filters', '--stdin'], {
      cwd: repository,
      input: pointer,
    });
    for (const name of ['a.bin', 'b.bin'])
      git(repository, 'update-index', '--add', '--cacheinfo', `100644,${blob.stdout.trim()},${name}`);
    git(repository, 'commit', '-q', '-m', 'attributes');
    const session = sessionIn(repository);
    const expectBytes = () => {
      const tree = snapshotTree(session, 'agtsessions/s1');
      for (const name of ['a.crlf', 'a.lf', 'a.id', 'a.rot', 'a.u16', 'a.bin', 'b.bin']) {
        const disk = readFileSync(join(session.sandbox, name)).toString('latin1');
        expect(`${name} ${tree.get(`sandbox/${name}`)}`).toBe(`${name} 100644 ${disk}`);
      }
    };
    expect(readFileSync(join(session.sandbox, 'a.bin'), 'utf8')).toMatch(/^real content/);
    autocommit(session);
    expectBytes();
    // Pointers that stand as they are, bytes that are no such encoding, and line ends that git would refuse.
    writeFileSync(join(session.sandbox, 'b.bin'), pointer);
    writeFileSync(join(session.sandbox, 'a.u16'), Buffer.from([0xff, 0xd8, 0x00]));
    writeFileSync(join(session.sandbox, 'a.lf'), 'one\r\ntwo\rthree\n');
    writeFileSync(join(session.sandbox, 'a.rot'), 'HELLO hello\n');
    expect(autocommit(session).failed).toEqual([]);
    expectBytes();
    expect(autocommit(session).outcome).toBe('unchanged');
  });

  test('attributes that change, and nothing on disk', () => {
    const session = makeSession({ 'a.txt': 'one\ntwo\n' });
    autocommit(session);
    write(join(session.sandbox, '.gitattributes'), '* text eol=crlf filter=none\n');
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/.gitattributes', kind: 'added' }]);
  });
});

describe('kinds of repositories', () => {
  test('sha256', () => {
    const repository = join(makeTempDir(), 'project');
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main', '--object-format=sha256');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
    expectWorks(sessionIn(repository));
    expectSound(repository);
  });

  test('reftable', ({ skip }) => {
    const repository = join(makeTempDir(), 'project');
    const made = run(REAL_GIT, ['init', '-q', '-b', 'main', '--ref-format=reftable', repository], {
      cwd: '/',
    });
    skip(made.exitCode !== 0, 'needs git 2.45 or newer');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
    expectWorks(sessionIn(repository));
    expectSound(repository);
  });

  test('alternates: objects of another repository are used and left where they are', () => {
    const origin = makeRepository({ 'a.txt': 'a\n' });
    const repository = join(makeTempDir(), 'project');
    git('/', 'clone', '-q', '--shared', origin, repository);
    const session = sessionIn(repository);
    const before = git(origin, 'count-objects', '-v');
    expectWorks(session);
    expect(git(origin, 'count-objects', '-v')).toBe(before);
    expectSound(repository);
  });

  test('shallow', () => {
    const origin = makeRepository({ 'a.txt': 'a\n' });
    for (let i = 0; i < 3; i++) git(origin, 'commit', '-q', '--allow-empty', '-m', `${i}`);
    const repository = join(makeTempDir(), 'project');
    git('/', 'clone', '-q', '--depth=1', `file://${origin}`, repository);
    expectWorks(sessionIn(repository));
    expect(git(repository, 'rev-parse', '--is-shallow-repository')).toBe('true');
    expectSound(repository);
  });

  test.for(['blob:none', 'tree:0'])(
    'partial (%s): what is missing is neither fetched nor missed',
    (filter) => {
      const origin = makeRepository({
        'a.txt': 'a\n',
        'b.txt': 'b\n',
        'dir/c.txt': 'c\n',
        'far/d.txt': 'd\n',
      });
      git(origin, 'config', 'uploadpack.allowFilter', 'true');
      git(origin, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
      const repository = join(makeTempDir(), 'project');
      git('/', 'clone', '-q', `--filter=${filter}`, '--sparse', `file://${origin}`, repository);
      git(repository, 'sparse-checkout', 'set', 'dir');
      const session = sessionIn(repository);
      git(session.sandbox, 'sparse-checkout', 'set', 'dir');
      const asked = join(makeTempDir(), 'upload-pack');
      write(asked, '#!/bin/sh\necho asked >"$0.asked"\nexit 1\n', 0o755);
      git(repository, 'config', 'remote.origin.uploadpack', asked);
      expect(run(REAL_GIT, ['fetch'], { cwd: repository }).exitCode).not.toBe(0);
      rmSync(`${asked}.asked`);
      expectWorks(session);
      const tree = snapshotTree(session, 'agtsessions/s1');
      expect(tree.get('sandbox/dir/c.txt')).toBe('100644 c\n');
      expect(tree.has('sandbox/far/d.txt')).toBe(false);
      write(join(session.sandbox, 'far/d.txt'), 'mine\n');
      write(join(session.sandbox, 'a.txt'), 'aa\n');
      expect(autocommit(session)).toMatchObject({ failed: [], warnings: [] });
      expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/far/d.txt')).toBe('100644 mine\n');
      expect(existsSync(`${asked}.asked`)).toBe(false);
    },
  );

  test.for([[], ['--sparse-index']])('sparse checkout %s', (options) => {
    const repository = makeRepository({
      'top.txt': 't\n',
      'in/a.txt': 'a\n',
      'out/b.txt': 'b\n',
      'out/deep/c.txt': 'c\n',
    });
    const session = sessionIn(repository);
    autocommit(session);
    git(session.sandbox, 'sparse-checkout', 'set', '--cone', ...options, 'in');
    autocommit(session);
    expect([...snapshotTree(session, 'agtsessions/s1').keys()].sort()).toEqual([
      'sandbox/in/a.txt',
      'sandbox/top.txt',
    ]);
    expect(git(repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s1:_/staged').split('\n')).toEqual([
      'in/a.txt',
      'out/b.txt',
      'out/deep/c.txt',
      'top.txt',
    ]);
    expectWorks(session);
    git(session.sandbox, 'sparse-checkout', 'disable');
    autocommit(session);
    expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/out/b.txt')).toBe('100644 b\n');
    expectSound(repository);
  });

  test('a split index', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    git(session.repository, 'config', 'core.splitIndex', 'true');
    git(session.sandbox, 'update-index', '--split-index');
    expectWorks(session);
    expectSound(session.repository);
  });

  test('index format 4, untracked cache, fsmonitor with a hook that lies', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    const monitor = join(makeTempDir(), 'fsmonitor');
    // It says that nothing ever changes.
    write(monitor, '#!/bin/sh\necho asked >>"$0.asked"\nprintf "token\\0"\n', 0o755);
    const settings = {
      'core.fsmonitor': monitor,
      'index.version': '4',
      'core.untrackedCache': 'true',
      'feature.manyFiles': 'true',
    };
    for (const [key, value] of Object.entries(settings)) git(session.repository, 'config', key, value);
    git(session.sandbox, 'update-index', '--index-version', '4', '--force-write-index');
    git(session.sandbox, 'status');
    expectWorks(session);
    write(join(session.sandbox, 'a.txt'), 'b\n');
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/a.txt', kind: 'changed' }]);
    expectSound(session.repository);
  });

  test('packed refs, a commit graph, a multi-pack index, everything repacked meanwhile', () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    autocommit(session);
    git(session.repository, 'pack-refs', '--all');
    git(session.repository, 'repack', '-q', '-a', '-d', '--write-bitmap-index');
    git(session.repository, 'commit-graph', 'write', '--reachable');
    git(session.repository, 'multi-pack-index', 'write');
    expectWorks(session);
    git(session.repository, 'gc', '-q', '--prune=now');
    expect(autocommit(session).outcome).toBe('unchanged');
    expectSound(session.repository);
  });

  test('replace refs and grafts change nothing in what is captured', () => {
    const session = makeSession({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    autocommit(session);
    const [a, b] = git(session.repository, 'rev-parse', 'main:a.txt', 'main:b.txt').split('\n') as [
      string,
      string,
    ];
    git(session.repository, 'replace', a, b);
    write(join(session.sandbox, 'c.txt'), 'a\n');
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/c.txt', kind: 'added' }]);
    expect(autocommit(session).outcome).toBe('unchanged');
  });
});
