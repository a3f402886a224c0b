/** agt session restore. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, snapshotFolder, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, makeTempDir } from '../harness/world.ts';

const write = (session: TestSession, path: string, text: string) =>
  writeFileSync(join(session.folder, path), text);

/** A session with every kind of work in it, captured with the label `then`, and then wrecked. */
function workThenWreck(): { session: TestSession; then: Map<string, string>; status: string } {
  const session = makeSession({ a: 'a\n', 'src/b': 'b\n', 'src/keep': 'keep\n', '.gitignore': '*.env\n' });
  const { sandbox } = session;
  write(session, 'sandbox/committed', 'by the agent\n');
  git(sandbox, 'add', 'committed');
  git(sandbox, 'commit', '-q', '-m', 'By the agent');
  write(session, 'sandbox/a', 'staged\n');
  git(sandbox, 'add', 'a');
  write(session, 'sandbox/a', 'not staged\n');
  write(session, 'sandbox/secret.env', 'TOKEN\n');
  chmodSync(join(sandbox, 'secret.env'), 0o600);
  mkdirSync(join(sandbox, 'empty/inner'), { recursive: true });
  symlinkSync('../..', join(sandbox, 'link'));
  write(session, 'xdg/log', 'said\n');
  const then = snapshotFolder(session.folder);
  const status = git(sandbox, 'status', '--porcelain=v2', '--branch', '--ignored');
  autocommit(session, '--label', 'then');

  git(sandbox, 'reset', '-q', '--hard', 'HEAD~1');
  git(sandbox, 'clean', '-q', '-fdx');
  rmSync(join(sandbox, 'src'), { recursive: true });
  write(session, 'sandbox/src', 'a file now\n');
  write(session, 'sandbox/new', 'new\n');
  rmSync(join(session.folder, 'xdg/log'));
  return { session, then, status };
}

const head = ({ sandbox }: TestSession) => git(sandbox, 'rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD');

describe('agt session restore', () => {
  test('restores files, permissions, empty directories, index, HEAD and work branch', () => {
    const { session, then, status } = workThenWreck();
    const done = agt(session.repository, 'session', 'restore', session.id, '--to', 'then');
    expect(done.stderr).toBe('');
    expect(done.exitCode).toBe(0);
    expect(done.stdout).toMatch(
      /^s1: restored \d+ paths, verified\n(?: {2}[AMD] .*\n)+ {2}branch agt\/s1: now at \w+ \(was \w+\)\nto take this back: agt undo s1\n$/,
    );
    expect(snapshotFolder(session.folder)).toEqual(then);
    expect(git(session.sandbox, 'status', '--porcelain=v2', '--branch', '--ignored')).toBe(status);
    expect(git(session.sandbox, 'show', '-s', '--format=%s', 'agt/s1')).toBe('By the agent');
  });

  test('prints the command that undoes the restore, and that command works', () => {
    const { session } = workThenWreck();
    const before = snapshotFolder(session.folder);
    const headBefore = head(session);
    const { stdout } = agt(session.repository, 'session', 'restore', session.id, '--to', 'then');
    const command = /to take this back: agt (.*)\n/.exec(stdout)?.[1] ?? '';
    agtOk(session.repository, ...command.split(' '));
    expect(snapshotFolder(session.folder)).toEqual(before);
    expect(head(session)).toBe(headBefore);
  });

  test('only appends to the shadow branch, and moves no user branch', () => {
    const { session } = workThenWreck();
    const tip = git(session.repository, 'rev-parse', 'agtsessions/s1');
    const main = git(session.repository, 'rev-parse', 'main');
    agtOk(session.repository, 'session', 'restore', session.id, '--to', 'then');
    git(session.repository, 'merge-base', '--is-ancestor', tip, 'agtsessions/s1');
    expect(git(session.repository, 'rev-parse', 'main')).toBe(main);
    const trailers = git(session.repository, 'show', '-s', '--format=%(trailers)', 'agtsessions/s1');
    expect(trailers).toContain(`Agt-Restored: ${tip}`);
  });

  test('does not write files that do not differ', () => {
    const { session } = workThenWreck();
    const path = join(session.sandbox, '.gitignore');
    const before = lstatSync(path);
    agtOk(session.repository, 'session', 'restore', session.id, '--to', 'then');
    const after = lstatSync(path);
    expect([after.mtimeMs, after.ctimeMs, after.ino]).toEqual([before.mtimeMs, before.ctimeMs, before.ino]);
  });

  test('--dry-run lists every path that would change, and changes nothing', () => {
    const { session } = workThenWreck();
    const before = snapshotFolder(session.folder);
    const refs = git(session.repository, 'for-each-ref');
    const { stdout } = agt(session.repository, 'session', 'restore', 's1', '--to', 'then', '--dry-run');
    expect(stdout.split('\n').slice(0, -2)).toEqual([
      'M a',
      'A committed',
      'A empty/inner',
      'A link',
      'D new',
      'A secret.env',
      'D src',
      'A src/b',
      'A src/keep',
      'A xdg/log',
      expect.stringMatching(/^branch agt\/s1: would be at \w+ \(is \w+\)$/),
    ]);
    expect(snapshotFolder(session.folder)).toEqual(before);
    expect(git(session.repository, 'for-each-ref')).toBe(refs);
    const json = agtOk(session.repository, 'session', 'restore', 's1', '--to', 'then', '--dry-run', '--json');
    expect(JSON.parse(json).changes).toHaveLength(10);
  });

  test('--path restores only these paths, relative to the current directory in the session', () => {
    const { session } = workThenWreck();
    const headBefore = head(session);
    agtOk(
      session.repository,
      'session',
      'restore',
      's1',
      '--to',
      'then',
      '--path',
      'src/b',
      '--path',
      '../xdg/log',
    );
    expect(readFileSync(join(session.sandbox, 'src/b'), 'utf8')).toBe('b\n');
    expect(existsSync(join(session.sandbox, 'src/keep'))).toBe(false);
    expect(readFileSync(join(session.folder, 'xdg/log'), 'utf8')).toBe('said\n');
    expect(existsSync(join(session.sandbox, 'new'))).toBe(true);
    expect(head(session)).toBe(headBefore);
    agtOk(join(session.sandbox, 'src'), 'session', 'restore', '--to', 'then', '--path', 'keep');
    expect(existsSync(join(session.sandbox, 'src/keep'))).toBe(true);
    const wrong = agt(
      session.repository,
      'session',
      'restore',
      's1',
      '--to',
      'then',
      '--path',
      '/etc/passwd',
    );
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toMatch(/^error: "\/etc\/passwd" is not in session "s1"\nhint: /);
  });

  test('--only restores one folder of the session', () => {
    const { session } = workThenWreck();
    agtOk(session.repository, 'session', 'restore', 's1', '--to', 'then', '--only', 'xdg');
    expect(readFileSync(join(session.folder, 'xdg/log'), 'utf8')).toBe('said\n');
    expect(existsSync(join(session.sandbox, 'new'))).toBe(true);
  });

  test('never deletes or replaces files that are in no snapshot, and names them', () => {
    const session = makeSession({ a: 'a\n' });
    write(session, 'sandbox/big', 'small then\n');
    autocommit(session, '--label', 'then');
    truncateSync(join(session.sandbox, 'big'), 600 * 2 ** 20);
    truncateSync(writeNew(session, 'sandbox/dir/huge'), 600 * 2 ** 20);
    git(session.sandbox, 'init', '-q', 'nested');
    write(session, 'sandbox/nested/file', 'x\n');
    const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
    expect(done.exitCode).toBe(1);
    expect(done.stdout).toContain('some differ from the snapshot');
    expect(done.stderr).toMatch(/(?<!sandbox\/)big/);
    expect(statSync(join(session.sandbox, 'big')).size).toBe(600 * 2 ** 20);
    expect(statSync(join(session.sandbox, 'dir/huge')).size).toBe(600 * 2 ** 20);
    expect(existsSync(join(session.sandbox, 'nested/.git/HEAD'))).toBe(true);
    expect(existsSync(join(session.sandbox, 'nested/file'))).toBe(false);
  });

  test('never writes through a symbolic link', () => {
    const session = makeSession({ a: 'a\n' });
    const outside = makeTempDir('outside');
    mkdirSync(join(session.sandbox, 'dir'));
    write(session, 'sandbox/dir/file', 'inside\n');
    autocommit(session, '--label', 'then');
    rmSync(join(session.sandbox, 'dir'), { recursive: true });
    writeFileSync(join(outside, 'file'), 'outside\n');
    symlinkSync(outside, join(session.sandbox, 'dir'));
    agtOk(session.repository, 'session', 'restore', 's1', '--to', 'then', '--path', 'dir/file');
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('outside\n');
    expect(readFileSync(join(session.sandbox, 'dir/file'), 'utf8')).toBe('inside\n');
  });

  test.each([
    ['the folder', (s: TestSession) => rmSync(s.folder, { recursive: true })],
    ['the sandbox', (s: TestSession) => rmSync(s.sandbox, { recursive: true })],
    [
      "the worktree's registration",
      (s: TestSession) => rmSync(git(s.sandbox, 'rev-parse', '--absolute-git-dir'), { recursive: true }),
    ],
    ["the sandbox's .git", (s: TestSession) => rmSync(join(s.sandbox, '.git'))],
    [
      'folder and registration',
      (s: TestSession) => {
        rmSync(s.folder, { recursive: true });
        git(s.repository, 'worktree', 'prune');
      },
    ],
    [
      'folder, registration and work branch',
      (s: TestSession) => {
        rmSync(s.folder, { recursive: true });
        git(s.repository, 'worktree', 'prune');
        git(s.repository, 'update-ref', '-d', 'refs/heads/agt/s1');
      },
    ],
    ['the session, removed', (s: TestSession) => agtOk(s.repository, 'session', 'remove', s.id)],
  ])('works when %s is gone, and says where it is back', (_, lose) => {
    const { session, then, status } = workThenWreck();
    lose(session);
    const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
    expect(done.stderr).toBe('');
    expect(done.exitCode).toBe(0);
    expect(done.stdout).toContain(`\ns1 is back in ${session.sandbox}\n`);
    expect(snapshotFolder(session.folder)).toEqual(then);
    expect(git(session.sandbox, 'status', '--porcelain=v2', '--branch', '--ignored')).toBe(status);
    expect(agtOk(session.repository, 'doctor')).toContain('nothing is wrong');
    expect(git(session.repository, 'worktree', 'list').split('\n')).toHaveLength(2);
  });

  test('captures the files of a sandbox without registration before it overwrites them', () => {
    const { session } = workThenWreck();
    write(session, 'sandbox/a', 'not captured yet\n');
    rmSync(git(session.sandbox, 'rev-parse', '--absolute-git-dir'), { recursive: true });
    agtOk(session.repository, 'session', 'restore', 's1', '--to', 'then');
    expect(git(session.repository, 'show', 'agtsessions/s1~1:sandbox/a')).toBe('not captured yet');
  });

  test('keeps commits reachable that the work branch no longer contains', () => {
    const { session } = workThenWreck();
    write(session, 'sandbox/new', 'newer\n');
    git(session.sandbox, 'add', '-A');
    git(session.sandbox, 'commit', '-q', '-m', 'Later');
    const later = git(session.sandbox, 'rev-parse', 'HEAD');
    git(session.sandbox, 'checkout', '-q', '--detach', 'HEAD~1');
    agtOk(session.repository, 'session', 'restore', 's1', '--to', 'then');
    git(session.repository, 'merge-base', '--is-ancestor', later, 'agtsessions/s1');
  });

  test('does not move another branch that is checked out, but detaches HEAD and warns', () => {
    const session = makeSession({ a: 'a\n' });
    git(session.sandbox, 'switch', '-q', '-c', 'feature');
    autocommit(session, '--label', 'then');
    const then = git(session.sandbox, 'rev-parse', 'HEAD');
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'On');
    const moved = git(session.sandbox, 'rev-parse', 'HEAD');
    const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
    expect(done.stderr).toMatch(/^warning: HEAD is detached at \w+: branch "feature" has moved since/);
    expect(git(session.sandbox, 'rev-parse', 'HEAD', 'feature')).toBe(`${then}\n${moved}`);
    expect(git(session.sandbox, 'rev-parse', '--symbolic-full-name', 'HEAD')).toBe('HEAD');
  });

  test('fails for an unknown snapshot with exit code 1, and changes nothing', () => {
    const { session } = workThenWreck();
    const before = snapshotFolder(session.folder);
    const refs = git(session.repository, 'for-each-ref');
    const wrong = agt(session.repository, 'session', 'restore', 's1', '--to', 'nowhere');
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toMatch(/^error: no snapshot "nowhere" of "s1"/);
    expect(snapshotFolder(session.folder)).toEqual(before);
    expect(git(session.repository, 'for-each-ref')).toBe(refs);
  });
});

function writeNew(session: TestSession, path: string): string {
  const absolute = join(session.folder, path);
  mkdirSync(join(absolute, '..'), { recursive: true });
  writeFileSync(absolute, '');
  return absolute;
}

test('a restore names the files that it deletes, and says that a prompt comes before its work', () => {
  const session = makeSession({ a: 'a\n' });
  const { repository, sandbox, id } = session;
  autocommit(session, '--label', 'prompt: write docs');
  writeFileSync(join(sandbox, 'docs'), 'docs\n');
  autocommit(session);
  const { stdout, stderr } = agt(repository, 'restore', id, 'write docs', '--', 'docs');
  expect(stdout).toContain('s1: restored 1 path, verified\n  D docs\n');
  expect(stderr).toContain('note: this snapshot is from before the work on that prompt; ');
});
