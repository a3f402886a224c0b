import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, sessionIn, snapshotFolder, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, type Outcome, REAL_GIT, run, write } from '../harness/world.ts';

function diff(session: TestSession, ...args: string[]): Outcome {
  return agt(session.repository, 'session', 'diff', session.id, ...args);
}

/** Prints the differences of two folders with these files, by git alone. */
function gitDiff(before: Record<string, string>, after: Record<string, string>, ...args: string[]): string {
  const dir = makeTempDir();
  git(dir, 'init', '-q');
  for (const [path, content] of Object.entries(before)) write(join(dir, path), content);
  git(dir, 'add', '-A', '-f');
  git(dir, 'commit', '-q', '-m', 'before');
  for (const path of Object.keys(before)) rmSync(join(dir, path));
  for (const [path, content] of Object.entries(after)) write(join(dir, path), content);
  git(dir, 'add', '-A', '-f');
  return run(REAL_GIT, ['diff', '--cached', ...args], { cwd: dir }).stdout;
}

const lines = (n: number, changed?: string) =>
  Array.from({ length: n }, (_, i) => (i === 3 && changed ? changed : `line ${i}`)).join('\n');

describe('agt session diff', () => {
  test('prints the same as git, with the sandbox at the top and the other folders beside it', () => {
    const session = makeSession({ 'src/a.c': lines(9), 'gone.txt': 'x\n', 'same.txt': 'same\n' });
    autocommit(session, '--label', 'then');
    write(join(session.sandbox, 'src/a.c'), lines(9, 'changed'));
    rmSync(join(session.sandbox, 'gone.txt'));
    write(join(session.sandbox, '.env'), 'TOKEN\n');
    write(join(session.folder, 'xdg/log'), 'logged\n');
    write(join(session.folder, 'config/x'), 'set\n');
    const before = { 'src/a.c': lines(9), 'gone.txt': 'x\n' };
    const after = {
      'src/a.c': lines(9, 'changed'),
      '.env': 'TOKEN\n',
      'xdg/log': 'logged\n',
      'config/x': 'set\n',
    };
    for (const options of [[], ['--stat'], ['--name-status'], ['--name-only']]) {
      const outcome = diff(session, ...options);
      expect(outcome).toEqual({ exitCode: 0, stdout: gitDiff(before, after, ...options), stderr: '' });
    }
    autocommit(session);
    expect(diff(session).stdout).toBe('');
    expect(diff(session, 'then').stdout).toBe(gitDiff(before, after));
    expect(diff(session, 'then', '@{0}').stdout).toBe(gitDiff(before, after));
    expect(diff(session, '@{0}', 'then').stdout).toBe(gitDiff(after, before));
  });

  test('compares with the start commit before the first autocommit', () => {
    const session = makeSession({ 'a.txt': 'a\n', '.gitmodules': '[x]\n' });
    expect(diff(session)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(diff(session, '--json').stdout).toBe('[]\n');
    write(join(session.sandbox, 'a.txt'), 'b\n');
    write(join(session.sandbox, '.gitmodules'), '[y]\n');
    const [before, after] = [
      { 'a.txt': 'a\n', '.gitmodules': '[x]\n' },
      { 'a.txt': 'b\n', '.gitmodules': '[y]\n' },
    ];
    expect(diff(session).stdout).toBe(gitDiff(before, after));
    autocommit(session);
    expect(diff(session).stdout).toBe('');
  });

  test('changes nothing and leaves nothing behind', () => {
    const session = makeSession();
    autocommit(session);
    write(join(session.sandbox, 'new'), 'x'.repeat(100_000));
    const look = () => ({
      files: snapshotFolder(session.folder),
      refs: git(session.repository, 'for-each-ref'),
      objects: git(session.repository, 'cat-file', '--batch-all-objects', '--batch-check'),
      index: readFileSync(join(git(session.sandbox, 'rev-parse', '--absolute-git-dir'), 'index'), 'latin1'),
      scratch: existsSync(join(session.repository, '.git/agt/scratch')),
    });
    const before = look();
    expect(diff(session).stdout).toContain('+xxx');
    expect(look()).toEqual(before);
    expect(before.scratch).toBe(false);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
    'leaves no temporary objects when ended by %s',
    async (signal) => {
      const session = makeSession();
      autocommit(session);
      write(join(session.sandbox, 'new'), 'x\n');
      const scratch = join(session.repository, '.git/agt/scratch');
      // An external diff that does not end, so that the signal surely comes during the command.
      const env = { ...process.env, AGT_GIT_PATH: REAL_GIT };
      git(session.repository, 'config', 'diff.external', 'sleep 60; false');
      const child = spawn(AGT, ['session', 'diff', 's1'], { cwd: session.repository, env, detached: true });
      const ended = once(child, 'exit');
      while (!existsSync(scratch) || readdirSync(scratch).length === 0) await delay(20);
      await delay(signal === 'SIGINT' ? 0 : 500);
      process.kill(-(child.pid as number), signal); // a terminal signals the whole process group
      await ended;
      if (signal === 'SIGKILL') {
        expect(agtOk(session.repository, 'doctor')).toContain('a killed agt left this directory');
        git(session.repository, 'config', '--unset', 'diff.external');
        expect(diff(session, '--name-only').stdout).toBe('new\n');
      }
      expect(existsSync(scratch)).toBe(false);
    },
  );

  test('shows links, programs, binary files and strange names as they are on disk', () => {
    const session = makeSession({ program: '#!/bin/sh\n' });
    autocommit(session);
    chmodSync(join(session.sandbox, 'program'), 0o755);
    symlinkSync('program', join(session.sandbox, 'link'));
    write(join(session.sandbox, '.GIT/git~1/x'), 'x\n');
    write(join(session.sandbox, 'a\nb'), 'x\n');
    write(join(session.sandbox, 'large'), Buffer.alloc(5_000_000));
    const { stdout } = diff(session);
    expect(stdout).toContain('old mode 100644\nnew mode 100755\n');
    expect(stdout).toContain('diff --git a/link b/link\nnew file mode 120000\n');
    expect(stdout).toContain('diff --git a/.GIT/git~1/x b/.GIT/git~1/x\n');
    expect(stdout).toContain('diff --git "a/a\\nb" "b/a\\nb"\n');
    expect(diff(session, '--stat').stdout).toMatch(/ large +\| +Bin 0 -> 5000000 bytes\n/);
    expect(diff(session, '--name-only', '--', '.GIT').stdout).toBe('.GIT/git~1/x\n');
  });

  test('shows changed permissions and empty directories, which git does not track', () => {
    const session = makeSession();
    write(join(session.sandbox, '.env'), 'x\n', 0o644);
    mkdirSync(join(session.sandbox, 'old/empty'), { recursive: true });
    autocommit(session);
    expect(diff(session, '--exit-code').exitCode).toBe(0);
    chmodSync(join(session.sandbox, '.env'), 0o600);
    rmSync(join(session.sandbox, 'old/empty'), { recursive: true });
    mkdirSync(join(session.folder, 'xdg/new'));
    const outcome = diff(session, '--exit-code');
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toBe(
      'note: permissions of .env: 644 before, 600 after\n' +
        'note: empty directory deleted: old/empty/\n' +
        'note: empty directory added: xdg/new/\n',
    );
    expect(diff(session, '--name-status').stdout).toBe('M\t.env\nD\told/empty/\nA\txdg/new/\n');
    expect(diff(session, '--name-status', '--', 'xdg').stdout).toBe('A\txdg/new/\n');
  });

  test('takes the usual options of git diff, and refuses those that it does not know', () => {
    const session = makeSession({ 'a.txt': 'one two\n', 'b.txt': lines(9) });
    const after = { 'a.txt': 'one  three\n', 'b.txt': lines(9, 'changed') };
    for (const [path, content] of Object.entries(after)) write(join(session.sandbox, path), content);
    autocommit(session);
    const before = { 'a.txt': 'one two\n', 'b.txt': lines(9) };
    const given = ['--shortstat --numstat', '--word-diff -w -U1', '--stat=40 --summary', '-U0 -S three'];
    for (const words of [...given, '--diff-filter A', '-R --word-diff=porcelain --word-diff-regex=.']) {
      const options = words.split(' ');
      const outcome = diff(session, '--base', ...options, '--', 'a.txt', 'b.txt');
      expect(outcome).toEqual({ exitCode: 0, stdout: gitDiff(before, after, ...options), stderr: '' });
    }
    expect(diff(session, '--base', '--quiet')).toEqual({ exitCode: 1, stdout: '', stderr: '' });
    for (const option of ['--cached', '--output=x', '--ext-diff', '--shortsta', '-X'])
      expect(diff(session, '--base', option).stderr).toContain(`unknown option "${option.split('=')[0]}`);
    expect(diff(session, '--base', '--json', '-w').stderr).toContain('-w is for what git prints');
    const short = agt(session.repository, 'diff', 's1', '--base', '--shortstat');
    expect(short.stdout).toBe(gitDiff(before, after, '--shortstat'));
  });

  test('takes paths relative to the sandbox', () => {
    const session = makeSession({ 'src/a.c': 'a\n', 'src/b.h': 'b\n', top: 't\n' });
    autocommit(session);
    for (const path of ['src/a.c', 'src/b.h', 'top']) write(join(session.sandbox, path), 'new\n');
    write(join(session.folder, 'xdg/log'), 'x\n');
    const names = (...paths: string[]) =>
      diff(session, '--name-only', '--', ...paths)
        .stdout.split('\n')
        .slice(0, -1);
    expect(names('src')).toEqual(['src/a.c', 'src/b.h']);
    expect(names('*.c')).toEqual(['src/a.c']);
    expect(names('.')).toEqual(['src/a.c', 'src/b.h', 'top']);
    expect(names('xdg')).toEqual(['xdg/log']);
    expect(names('../xdg/log', 'top')).toEqual(['top', 'xdg/log']);
    expect(names(':!src')).toEqual(['top', 'xdg/log']);
    const inSource = agtOk(join(session.sandbox, 'src'), 'session', 'diff', '--name-only', '--', 'b.h');
    expect(inSource).toBe('src/b.h');
  });

  test('distinguishes a folder of the session from one of the same name in the sandbox', () => {
    const session = makeSession({ 'config/x': 'x\n' });
    autocommit(session);
    write(join(session.sandbox, 'config/x'), 'y\n');
    write(join(session.folder, 'config/deep/own'), 'own\n');
    const names = (...paths: string[]) => diff(session, '--name-only', '--', ...paths).stdout;
    expect(names()).toBe('../config/deep/own\nconfig/x\n');
    expect(names('config')).toBe('config/x\n');
    expect(names('../config')).toBe('../config/deep/own\n');
    expect(names('../config/deep/own')).toBe('../config/deep/own\n');
  });

  test('prints a list with --json', () => {
    const session = makeSession({ a: 'a\n' });
    autocommit(session);
    write(join(session.sandbox, 'a'), 'b\n');
    write(join(session.folder, 'xdg/x'), 'x\n');
    mkdirSync(join(session.sandbox, 'empty'));
    expect(JSON.parse(diff(session, '--json').stdout)).toEqual([
      { path: 'a', status: 'modified', old_mode: '100644', new_mode: '100644' },
      { path: 'xdg/x', status: 'added', old_mode: null, new_mode: '100644' },
      { path: 'empty/', status: 'added', old_permissions: null, new_permissions: null },
    ]);
    expect(diff(session, '--json', '--exit-code').exitCode).toBe(1);
  });

  test('finds the session of the current directory, and distinguishes session ids from snapshots', () => {
    const session = makeSession({ a: 'a\n' });
    autocommit(session, '--label', 'one');
    write(join(session.sandbox, 'a'), 'b\n');
    autocommit(session, '--label', 'two');
    const here = (...args: string[]) => agt(session.sandbox, 'session', 'diff', '--name-only', ...args);
    expect(here('one').stdout).toBe('a\n');
    expect(here('one', 'two').stdout).toBe('a\n');
    expect(here('s1', 'one', 'two').stdout).toBe('a\n');
    expect(here('two', 'one', 'one').stderr).toMatch(/^error: no session "two"/);
    expect(agt(session.repository, 'session', 'diff', 'one').stderr).toMatch(/^error: no session "one"/);
    expect(here('three').stderr).toMatch(/^error: no snapshot "three" of "s1"/);
  });

  test.each(['remove', 'reject', 'accept'])('shows what a session did after %s', (end) => {
    const session = makeSession({ a: 'a\n' });
    write(join(session.sandbox, 'new'), 'new\n');
    autocommit(session, '--label', 'one');
    write(join(session.sandbox, 'a'), 'b\n');
    autocommit(session, '--label', 'two');
    agtOk(session.repository, 'session', end, 's1', ...(end === 'accept' ? ['--untracked=all'] : []));
    expect(diff(session, 'one', 'two', '--name-only').stdout).toBe('a\n');
    expect(diff(session, 'one', '--name-only').stdout).toBe('a\n');
    expect(diff(session).stdout).toBe(gitDiff({ a: 'a\n' }, { a: 'b\n', new: 'new\n' }));
    for (const stderr of [diff(session, '--base').stderr, agt(session.repository, 'review', 's1').stderr])
      expect(stderr).toMatch(/^error: .* not active\n.*\nhint: to see what it did: agt session diff s1\n/);
  });

  test('--base shows what a session would bring home, and --with compares two sessions', () => {
    const files = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', '.gitignore': '*.log\n' };
    const session = makeSession(files);
    const { repository, sandbox } = session;
    write(join(repository, 'c.txt'), 'of the user\n');
    git(repository, 'commit', '-q', '-a', '-m', 'of the user');
    write(join(sandbox, 'a.txt'), 'committed\n');
    git(sandbox, 'commit', '-q', '-a', '-m', 'of the agent');
    autocommit(session, '--label', 'one');
    write(join(sandbox, 'b.txt'), 'uncommitted\n');
    write(join(sandbox, 'new/untracked.txt'), 'untracked\n');
    write(join(sandbox, 'x.log'), 'ignored\n');
    write(join(session.folder, 'config/token'), 'secret\n');
    const status = git(sandbox, 'status', '--porcelain');
    const after = {
      ...files,
      'a.txt': 'committed\n',
      'b.txt': 'uncommitted\n',
      'new/untracked.txt': 'untracked\n',
    };
    expect(diff(session, '--base')).toEqual({ exitCode: 0, stdout: gitDiff(files, after), stderr: '' });
    expect(diff(session, '--base', '--stat').stdout).toBe(gitDiff(files, after, '--stat'));
    expect(diff(session, '--base', '--name-only', '--', 'new').stdout).toBe('new/untracked.txt\n');
    expect(JSON.parse(diff(session, '--base', '--json').stdout)).toHaveLength(3);
    git(sandbox, 'update-index', '--split-index');
    expect(diff(session, '--base').stdout).toBe(gitDiff(files, after));
    expect(git(sandbox, 'status', '--porcelain')).toBe(status);
    expect(diff(session, 'one', '--base')).toMatchObject({ exitCode: 2, stdout: '' });

    const other = sessionIn(repository, 's2');
    write(join(other.sandbox, 'b.txt'), 'other\n');
    autocommit(other, '--label', 'two');
    const ofOther = { ...files, 'b.txt': 'other\n', 'c.txt': 'of the user\n' };
    expect(diff(session, '--with', 's2').stdout).toBe(gitDiff(after, ofOther));
    expect(diff(session, 'one', 'two', '--with', 's2').stdout).toBe(
      gitDiff({ ...files, 'a.txt': 'committed\n' }, ofOther),
    );
    expect(diff(session, '--with', 's3').stderr).toMatch(/^error: no session "s3"/);
  });

  test('uses the pager and colours of git on a terminal', ({ skip }) => {
    if (run('sh', ['-c', 'command -v script'], { cwd: '/' }).exitCode !== 0)
      skip('no script(1) to make a terminal');
    const session = makeSession({ a: 'a\n' });
    autocommit(session);
    write(join(session.sandbox, 'a'), 'b\n');
    const command = `'${AGT}' session diff s1`;
    const env = { GIT_PAGER: 'sed s/^/paged:/', TERM: 'xterm' };
    const outcome = run('script', ['-qec', command, '/dev/null'], { cwd: session.repository, env });
    expect(outcome.stdout).toContain('paged:\u001b[1mdiff --git a/a b/a');
    const log = run('script', ['-qec', `'${AGT}' session log s1`, '/dev/null'], {
      cwd: session.repository,
      env,
    });
    expect(log.stdout).toContain('paged:\u001b[2mSNAPSHOT');
  });
});
