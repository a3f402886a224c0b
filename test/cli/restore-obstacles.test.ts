/** agt session restore when something is in its way: it names that, does the rest, and never says "verified". */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agtWithPermissions, permissionsProblem } from '../harness/privileges.ts';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const isRoot = process.getuid?.() === 0;
const at = ({ folder }: TestSession, path: string) => join(folder, path);
const restore = (session: TestSession, ...options: string[]) =>
  agt(session.repository, 'session', 'restore', 's1', '--to', 'then', ...options);
const bits = (path: string) => statSync(path).mode & 0o7777;

function expectIncomplete(done: ReturnType<typeof restore>, path: string): void {
  expect(done.exitCode).toBe(1);
  expect(done.stdout).not.toContain('verified');
  expect(done.stderr).toContain(path);
  expect(done.stderr).not.toContain('internal');
}

describe('restore goes on after', () => {
  test('a file that is a mount point', ({ skip }) => {
    const session = makeSession({ a: 'a\n', b: 'b\n', z: 'z\n' });
    autocommit(session, '--label', 'then');
    for (const name of ['a', 'b', 'z']) write(at(session, `sandbox/${name}`), 'changed\n');
    const source = join(makeTempDir(), 'mounted');
    writeFileSync(source, 'mounted\n');
    const mount = spawnSync('mount', ['--bind', source, at(session, 'sandbox/b')]);
    skip(mount.status !== 0, 'mount --bind is not allowed here');
    try {
      const done = restore(session);
      expectIncomplete(done, ' b was not restored: cannot be replaced');
      expect(readFileSync(at(session, 'sandbox/a'), 'utf8')).toBe('a\n');
      expect(readFileSync(at(session, 'sandbox/z'), 'utf8')).toBe('z\n');
      expect(readFileSync(source, 'utf8')).toBe('mounted\n');
    } finally {
      spawnSync('umount', [at(session, 'sandbox/b')]);
    }
    expect(restore(session).stdout).toContain('verified');
  });

  test('a directory of another user', ({ skip }) => {
    skip(!isRoot || permissionsProblem() !== undefined, 'only root can make a file of another user');
    const session = makeSession({ 'd/a': 'a\n', e: 'e\n' });
    autocommit(session, '--label', 'then');
    write(at(session, 'sandbox/d/a'), 'changed\n');
    write(at(session, 'sandbox/e'), 'changed\n');
    chownSync(at(session, 'sandbox/d'), 4711, 4711);
    const done = spawnSync(
      'setpriv',
      [
        '--bounding-set=-dac_override,-dac_read_search,-fowner',
        '--inh-caps=-dac_override,-dac_read_search,-fowner',
        join(import.meta.dirname, '../../dist/agt'),
        ...['session', 'restore', 's1', '--to', 'then'],
      ],
      { cwd: session.repository, encoding: 'latin1' },
    );
    expect(done.status).toBe(1);
    expect(done.stderr).toContain(' d/a was not restored: cannot be replaced: permission denied');
    expect(done.stdout).not.toContain('verified');
    expect(readFileSync(at(session, 'sandbox/e'), 'utf8')).toBe('e\n');
  });

  test('a file whose content is missing in the repository', () => {
    const session = makeSession();
    for (const name of ['a', 'b', 'c']) write(at(session, `sandbox/${name}`), `${name}\n`);
    autocommit(session, '--label', 'then');
    for (const name of ['a', 'b', 'c']) write(at(session, `sandbox/${name}`), 'changed\n');
    const objects = join(session.repository, '.git/objects');
    for (const pack of globSync('pack/*.pack', { cwd: objects })) {
      const input = readFileSync(join(objects, pack));
      rmSync(join(objects, 'pack'), { recursive: true });
      mkdirSync(join(objects, 'pack'));
      run(REAL_GIT, ['unpack-objects', '-q'], { cwd: session.repository, input });
    }
    const oid = git(session.repository, 'rev-parse', 'agtsessions/s1:sandbox/b');
    rmSync(join(objects, oid.slice(0, 2), oid.slice(2)));
    expectIncomplete(restore(session), ` b was not restored: its content is missing`);
    const texts = ['a', 'b', 'c'].map((name) => readFileSync(at(session, `sandbox/${name}`), 'utf8'));
    expect(texts).toEqual(['a\n', 'changed\n', 'c\n']);
  });

  test('a file that cannot be read, before and after', ({ skip }) => {
    skip(permissionsProblem() !== undefined, permissionsProblem());
    const session = makeSession({ a: 'a\n', b: 'b\n' });
    autocommit(session, '--label', 'then');
    write(at(session, 'sandbox/a'), 'changed and unreadable\n');
    chmodSync(at(session, 'sandbox/a'), 0);
    write(at(session, 'sandbox/b'), 'changed\n');
    const done = agtWithPermissions(session.repository, 'session', 'restore', 's1', '--to', 'then');
    expectIncomplete(done, ' a ');
    expect(readFileSync(at(session, 'sandbox/b'), 'utf8')).toBe('b\n');
  });
});

describe('a top-level folder that was a link or a file', () => {
  test.each([
    ['a link', (path: string) => symlinkSync('/etc', path), (path: string) => readlinkSync(path)],
    ['a file', (path: string) => writeFileSync(path, 'file\n'), (path: string) => readFileSync(path, 'utf8')],
  ])('%s can be restored and forked', (_, make, read) => {
    const session = makeSession();
    rmSync(at(session, 'config'), { recursive: true });
    make(at(session, 'config'));
    const then = read(at(session, 'config'));
    autocommit(session, '--label', 'then');
    rmSync(at(session, 'config'));
    mkdirSync(at(session, 'config'));
    write(at(session, 'config/file'), 'now a directory\n');
    expect(restore(session)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(read(at(session, 'config'))).toBe(then);
    agtOk(session.repository, 'session', 'fork', '--from', 's1', '--at', 'then', '--id', 's2');
    expect(read(join(session.folder, '../s2/config'))).toBe(then);
    agtOk(session.repository, 'session', 'undo', 's1');
    expect(readFileSync(at(session, 'config/file'), 'utf8')).toBe('now a directory\n');
  });
});

describe('permissions', () => {
  test.each(['false', 'group'])(
    'the mode of the sandbox itself comes back, with core.sharedRepository=%s',
    (shared) => {
      const session = makeSession();
      git(session.repository, 'config', 'core.sharedRepository', shared);
      chmodSync(session.sandbox, 0o700);
      chmodSync(at(session, 'xdg'), 0o750);
      autocommit(session, '--label', 'then');
      agtOk(session.repository, 'session', 'remove', 's1');
      expect(restore(session)).toMatchObject({ exitCode: 0, stderr: '' });
      expect([bits(session.sandbox), bits(at(session, 'xdg'))]).toEqual([0o700, 0o750]);
    },
  );

  test('root gives nobody a set-user-ID file that was theirs as its own', ({ skip }) => {
    skip(!isRoot, 'only root can make a file of another user');
    const session = makeSession();
    const path = at(session, 'sandbox/program');
    write(path, 'of another user\n');
    chownSync(path, 4711, 4711);
    chmodSync(path, 0o6755);
    autocommit(session, '--label', 'then');
    rmSync(path);
    const done = restore(session);
    expectIncomplete(done, ' program');
    expect([statSync(path).uid, bits(path)]).toEqual([0, 0o755]);
  });

  test('a file that the snapshot could not capture keeps its mode', ({ skip }) => {
    skip(permissionsProblem() !== undefined, permissionsProblem());
    const folder = makeRepository({ a: 'a\n' });
    write(join(folder, 'secret'), 'secret\n', 0);
    agtWithPermissions(folder, 'snapshot', '--label', 'then');
    chmodSync(join(folder, 'secret'), 0o600);
    write(join(folder, 'a'), 'changed\n');
    agtOk(folder, 'snapshot');
    expectIncomplete(agt(folder, 'snapshot', 'restore', 'then'), 'secret');
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('a\n');
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('secret\n');
    expect(bits(join(folder, 'secret'))).toBe(0o600);
  });

  test('the owner of a set-user-ID file gets it back as it was', () => {
    const session = makeSession();
    const path = at(session, 'sandbox/program');
    write(path, 'then\n', 0o4755);
    autocommit(session, '--label', 'then');
    rmSync(path);
    expect(restore(session)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(bits(path)).toBe(0o4755);
  });

  test('files that root restores stay the files of their owner', ({ skip }) => {
    skip(!isRoot, 'only root can give files away');
    const session = makeSession({ a: 'a\n' });
    write(at(session, 'sandbox/d/new'), 'new\n');
    symlinkSync('a', at(session, 'sandbox/d/link'));
    git(session.repository, 'config', '--global', 'safe.directory', '*');
    spawnSync('chown', ['-R', '-h', '4711:4712', session.sandbox]);
    autocommit(session, '--label', 'then');
    write(at(session, 'sandbox/a'), 'changed\n');
    rmSync(at(session, 'sandbox/d'), { recursive: true });
    restore(session);
    for (const name of ['a', 'd', 'd/new', 'd/link']) {
      const { uid, gid } = lstatSync(at(session, `sandbox/${name}`));
      expect([name, uid, gid]).toEqual([name, 4711, 4712]);
    }
  });
});

test('a restore that does not fit on the disk is not begun', ({ skip }) => {
  const session = makeSession({ a: 'a\n' });
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', at(session, 'xdg')]);
  skip(mount.status !== 0, 'mount is not allowed here');
  try {
    write(at(session, 'xdg/large'), Buffer.alloc(20 * 2 ** 20, 'x'));
    autocommit(session, '--label', 'then');
    truncateSync(at(session, 'xdg/large'), 0);
    write(at(session, 'xdg/other'), Buffer.alloc(20 * 2 ** 20, 'y'));
    git(session.sandbox, 'switch', '-q', '--detach');
    const done = restore(session, '--path', '../xdg/large');
    expect(done.exitCode).toBe(1);
    expect(done.stderr).toContain('not enough space');
    expect(statSync(at(session, 'xdg/other')).size).toBe(20 * 2 ** 20);
    expect(agtOk(session.repository, 'doctor')).toContain('nothing is wrong');
  } finally {
    spawnSync('umount', [at(session, 'xdg')]);
  }
});

describe('a damaged git directory', () => {
  const damages: [string, string, (path: string) => void][] = [
    ['an index that is cut off', 'index', (path) => truncateSync(path, 40)],
    ['an empty index', 'index', (path) => truncateSync(path, 0)],
    ['an index of garbage', 'index', (path) => writeFileSync(path, 'garbage, and more of it')],
    ['an empty HEAD', 'HEAD', (path) => truncateSync(path, 0)],
    ['a HEAD of NULs', 'HEAD', (path) => writeFileSync(path, Buffer.alloc(41))],
  ];
  test.each(damages)('%s stops no capture, and a restore mends it', (_, name, damage) => {
    const session = makeSession({ a: 'a\n' });
    write(at(session, 'sandbox/staged'), 'staged\n');
    git(session.sandbox, 'add', 'staged');
    const status = git(session.sandbox, 'status', '--porcelain', '--branch');
    autocommit(session, '--label', 'then');
    const gitDir = git(session.sandbox, 'rev-parse', '--absolute-git-dir');
    damage(join(gitDir, name));
    write(at(session, 'sandbox/new'), 'new\n');
    const report = autocommit(session);
    expect(report.changes).toEqual([{ path: 'sandbox/new', status: 'added' }]);
    expect(report.warnings.join()).toMatch(new RegExp(`${name} of the (sandbox|worktree) .*damaged`));
    expect(restore(session).stdout).toContain('verified');
    expect(git(session.sandbox, 'status', '--porcelain', '--branch')).toBe(status);
    expect(existsSync(at(session, 'sandbox/new'))).toBe(false);
  });
});

test("a directory whose name is no UTF-8 is in no restore's way", () => {
  const session = makeSession({ a: 'a\n' });
  autocommit(session, '--label', 'then');
  const odd = Buffer.concat([Buffer.from(`${session.sandbox}/caf`), Buffer.from([0xe9])]);
  mkdirSync(odd);
  writeFileSync(Buffer.concat([odd, Buffer.from('/below')]), 'below\n');
  write(join(session.sandbox, 'a'), 'changed\n');
  expect(restore(session)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('verified') });
  expect(existsSync(odd)).toBe(false);
});
