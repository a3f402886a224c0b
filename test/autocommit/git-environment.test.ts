/** Captures under environment variables, hooks, settings and attributes that change what git does. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, manifestOf, sessionIn, snapshotTree } from '../harness/session.ts';
import { ofToday } from '../harness/today.ts';
import { AGT, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { expectSound } from './expect-sound.ts';

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

  test.for(ofToday([...Object.keys(VARIABLES), 'all of them']))('%s', (name) => {
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

  test('in hooks of git, of the same repository and of another', () => {
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
  test('no identity, signing on, refusing hooks: the autocommit succeeds all the same', () => {
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

  test('attributes for end of line, ident, encodings, filters and LFS: the snapshot has the bytes on disk', () => {
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

  test('attributes change, but no file on disk does', () => {
    const session = makeSession({ 'a.txt': 'one\ntwo\n' });
    autocommit(session);
    write(join(session.sandbox, '.gitattributes'), '* text eol=crlf filter=none\n');
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/.gitattributes', status: 'added' }]);
  });
});
