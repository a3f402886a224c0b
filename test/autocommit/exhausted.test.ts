/** A full disk, no inodes, no file descriptors, a limit on file sizes: a clear error, the old snapshot, no leftovers. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requireSpace, reservedSpace } from '../../src/disk/free-space.ts';
import { agtWithOpenFiles } from '../harness/privileges.ts';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, run, write } from '../harness/world.ts';

/** Temporary files of git and agt. */
function leftovers(...roots: string[]): string[] {
  return roots
    .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }))
    .filter((path) =>
      /(^|\/)(tmp_|fast_import_crash|bulk_fsync|agt-index|\.agt-)|\.(lock|tmp|breaking)$|agt\/locks\/./.test(
        path,
      ),
    );
}

function refs(repository: string): string {
  return git(repository, 'for-each-ref');
}

describe('on a small disk', () => {
  let disk: string;
  let repository: string;
  let sandbox: string;

  function mountDisk(options: string): string | undefined {
    disk = makeTempDir('disk');
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk], { encoding: 'utf8' });
    if (mount.status !== 0) return 'a small disk cannot be mounted here';
    repository = join(disk, 'project');
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
    sandbox = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json')).sandbox;
    agtOk(sandbox, 'autocommit');
    return undefined;
  }

  beforeEach(() => {
    disk = '';
  });

  afterEach(() => {
    if (disk !== '') spawnSync('umount', ['--lazy', disk]);
  });

  test('an autocommit that does not fit is not begun; the message has both numbers', ({ skip }) => {
    const problem = mountDisk('size=20m');
    skip(problem !== undefined, problem);
    const before = refs(repository);
    for (const name of ['one', 'two'])
      write(join(sandbox, name), Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))));
    for (const name of ['big', 'bigger']) {
      const content = Buffer.concat(
        Array.from({ length: 130 }, () => crypto.getRandomValues(new Uint8Array(65_536))),
      );
      write(join(sandbox, name), content);
    }
    const outcome = agt(sandbox, 'autocommit');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toMatch(
      /^error: not enough space in .*: 8\.1 MiB to write, \d\.\d MiB free, 1\.0 MiB of it reserved\nhint: nothing was captured/,
    );
    expect(refs(repository)).toBe(before);
    expect(leftovers(disk)).toEqual([]);
    rmSync(join(sandbox, 'bigger'));
    rmSync(join(sandbox, 'big'));
    // A file that does not fit is not read first: that would take minutes.
    write(join(sandbox, 'sparse'), '');
    truncateSync(join(sandbox, 'sparse'), 2 ** 38);
    agtOk(sandbox, 'config', 'set', 'agt.maxFileSize', '1000g');
    expect(agt(sandbox, 'autocommit').stderr).toMatch(
      /^error: not enough space in .*: 262144\.0 MiB to write/,
    );
    rmSync(join(sandbox, 'sparse'));
    agtOk(sandbox, 'autocommit');
    expect(run('git', ['fsck', '--strict'], { cwd: repository }).exitCode).toBe(0);
  });

  test('agt run says before its command that no snapshot has what is there', ({ skip }) => {
    const problem = mountDisk('size=6m');
    skip(problem !== undefined, problem);
    write(join(sandbox, 'hand'), 'work\n');
    const filler = join(disk, 'filler');
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k']);
    const { exitCode, stderr } = agt(sandbox, 'run', '--', 'sh', '-c', `rm ${filler}; echo begun >&2`);
    expect(stderr).toMatch(/^error: .*no space left on device\n(hint: .*\n)*begun\n$/m);
    expect(exitCode).toBe(0);
    expect(git(repository, 'show', 'agtsessions/s1:sandbox/hand')).toBe('work');
  });

  test('ENOSPC at every step', ({ skip }) => {
    const problem = mountDisk('size=200m,nr_inodes=150');
    skip(problem !== undefined, problem);
    // git moves the two refs one after the other; the tip counts, and the next autocommit moves the other one.
    const counting = () => refs(repository).replace(/.*refs\/heads\/agtsessions\/s1\n?/, '');
    const free = () => Number(execFileSync('df', ['--output=iavail', disk]).toString().split('\n')[1]);
    const timestamp = join(repository, '.git/agt/timestamps/s1');
    writeFileSync(timestamp, '1000\n');
    const codes: (number | null)[] = [];
    for (let left = 0, isWhole = false; left < 20 && !isWhole; left++) {
      for (let i = 0; i < 5; i++) write(join(sandbox, `${left}-${i}`), `${left} ${i}\n`);
      const fill = join(disk, 'fill');
      mkdirSync(fill);
      for (let i = free(); i > left; i--) writeFileSync(join(fill, String(i)), '');
      const before = [counting(), readFileSync(timestamp, 'utf8')];
      const outcome = agt(sandbox, 'autocommit');
      codes.push(outcome.exitCode);
      expect(outcome.stderr).not.toContain('internal');
      if (outcome.exitCode !== 0) {
        expect(outcome.stderr).toMatch(/^error: .*no space left on device/i);
        expect([counting(), readFileSync(timestamp, 'utf8')]).toEqual(before);
      }
      expect(leftovers(disk)).toEqual([]);
      // The files that no space is left for then only help the next scan.
      isWhole = outcome.exitCode === 0 && outcome.stderr === '';
      if (outcome.exitCode === 0 && !isWhole) expect(outcome.stderr).toMatch(/^warning: s1: captured, but /);
      rmSync(fill, { recursive: true });
    }
    expect(codes.length).toBeGreaterThan(2);
    expect(Number(readFileSync(timestamp, 'utf8'))).toBeGreaterThan(1000);
    expect(codes.at(-1)).toBe(0);
    expect(agtOk(sandbox, 'autocommit')).toBe('s1: nothing changed');
    expect(git(repository, 'fsck', '--strict', '--no-dangling')).toBe('');
  });
});

test('a limit on file sizes', ({ skip }) => {
  skip(process.platform === 'win32', 'no such limits');
  const session = makeSession();
  agtOk(session.sandbox, 'autocommit');
  const before = refs(session.repository);
  write(
    join(session.sandbox, 'big'),
    Buffer.concat(Array.from({ length: 40 }, () => crypto.getRandomValues(new Uint8Array(65_536)))),
  );
  const outcome = run('sh', ['-c', 'ulimit -f 1000; exec "$0" autocommit', AGT], { cwd: session.sandbox });
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stderr).toMatch(/^error: git fast-import failed: /);
  expect(refs(session.repository)).toBe(before);
  expect(leftovers(session.repository, session.folder)).toEqual([]);
  agtOk(session.sandbox, 'autocommit');
});

test('EMFILE, for every limit on open files', ({ skip }) => {
  skip(spawnSync('prlimit', ['--version']).status !== 0, 'there is no prlimit(1)');
  const session = makeSession();
  agtOk(session.sandbox, 'autocommit');
  const codes = new Set<number | null>();
  for (let limit = 18; limit < 40; limit++) {
    write(join(session.sandbox, `f${limit}`), `${limit}\n`);
    const before = refs(session.repository);
    const outcome = agtWithOpenFiles(limit, session.sandbox, 'autocommit');
    codes.add(outcome.exitCode);
    if (outcome.exitCode === 0) continue;
    expect(refs(session.repository)).toBe(before);
    expect(leftovers(session.repository, session.folder)).toEqual([]);
    // With fewer file descriptors, Node cannot start and prints nothing.
    if (limit > 22) expect(outcome.stderr).toMatch(/^error: (.*\n)*.*too many open files/);
    expect(outcome.stderr).not.toContain('internal');
  }
  expect(codes.has(0)).toBe(true);
  expect(codes.size).toBeGreaterThan(1);
  expect(git(session.repository, 'fsck', '--strict')).toBe('');
});

test('a directory in place of the stat cache: captured with a warning, and the next snapshot is right', () => {
  const session = makeSession();
  agtOk(session.sandbox, 'autocommit');
  const obstacle = join(session.repository, '.git/agt/scan/s1.tmp');
  mkdirSync(obstacle);
  write(join(session.sandbox, 'f'), 'f\n');
  const outcome = agt(session.sandbox, 'autocommit');
  expect(outcome.exitCode).toBe(0);
  expect(outcome.stderr).toMatch(
    /^warning: s1: captured, but the stat cache could not be written: .*directory\n$/,
  );
  expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/f')).toBe('f');
  rmSync(obstacle, { recursive: true });
  expect(agt(session.sandbox, 'autocommit')).toMatchObject({ stdout: 's1: nothing changed\n', stderr: '' });
});

test('the reserve on large and on small disks', () => {
  expect(reservedSpace(1_000_000)).toBe(50_000);
  expect(reservedSpace(1e12)).toBe(64 * 1024 * 1024);
  requireSpace('/', 0);
  expect(() => requireSpace('/', 1e18)).toThrow('not enough space in /: 953674316406.3 MiB to write');
});
