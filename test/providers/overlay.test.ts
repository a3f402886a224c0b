/** Sessions on overlayfs: they live through a restart of the system, kills and deletions, or agt says what stands in the way. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attack } from '../crash/aftermath.ts';
import { type Disk, mountExt4, overlayProblem } from '../harness/disks.ts';
import { autocommit, onDisk, sessionOf, snapshotFolder, snapshotTree } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepositoryAt, makeTempDir, run, write } from '../harness/world.ts';

const problem = overlayProblem();
const program = [process.execPath, join(import.meta.dirname, '../../dist/failure-points/main.cjs')];

describe.skipIf(problem !== undefined)(`overlay${problem === undefined ? '' : ` (${problem})`}`, () => {
  let disk: Disk;
  let repository: string;
  let area: string;

  beforeAll(() => {
    disk = mountExt4();
    process.env['XDG_STATE_HOME'] = makeTempDir('state');
    process.env['AGT_FS_SNAPSHOTS'] = 'overlay';
    const files = { a: 'a\n', b: 'b\n', 'src/c': 'src/c\n', 'src/deep/d': 'src/deep/d\n' };
    repository = makeRepositoryAt(join(disk.path, 'a, b: c'), files);
    area = `${repository}.agt`;
    agtOk(repository, 'session', 'new', 's0');
    agtOk(repository, 'session', 'new', 's1');
  });

  afterAll(() => {
    for (const name of ['XDG_STATE_HOME', 'AGT_FS_SNAPSHOTS']) delete process.env[name];
    disk.unmount();
  });

  const overlays = () =>
    readFileSync('/proc/self/mountinfo', 'latin1')
      .split('\n')
      .filter((line) => line.includes(disk.path) && line.includes(' - overlay agt-'));

  /** As a restart of the system. */
  const restart = () => {
    for (const line of overlays()) {
      const point = line
        .split(' ')[4]
        ?.replace(/\\([0-7]{3})/g, (_, n) => String.fromCharCode(Number.parseInt(n, 8)));
      expect(spawnSync('umount', ['-l', point ?? '']).status).toBe(0);
    }
  };

  test('a session works as in a folder: renamed and removed directories are captured and forked', () => {
    const session = sessionOf(repository, 's1');
    const { sandbox } = session;
    renameSync(join(sandbox, 'src'), join(sandbox, 'source'));
    rmSync(join(sandbox, 'b'));
    write(join(sandbox, 'source/c'), 'changed\n');
    autocommit(session);
    expect(snapshotTree(session, 'agtsessions/s1')).toEqual(onDisk(session));
    agtOk(repository, 'session', 'fork', 's1', '--id', 'f1', '-q');
    expect(snapshotFolder(sessionOf(repository, 'f1').folder)).toEqual(snapshotFolder(session.folder));
    write(join(sandbox, 'source/c'), 'again\n');
    expect(readFileSync(join(sessionOf(repository, 'f1').sandbox, 'source/c'), 'utf8')).toBe('changed\n');
    expect(readFileSync(join(sessionOf(repository, 's0').sandbox, 'src/c'), 'utf8')).toBe('src/c\n');
    agtOk(repository, 'session', 'undo', 's1');
    expect(readFileSync(join(sandbox, 'source/c'), 'utf8')).toBe('changed\n');
    agtOk(repository, 'session', 'remove', 'f1');
    expect(git(sandbox, 'status', '--porcelain')).toMatch(/ D b/);
  });

  test('after a restart, the next command of root mounts it again, with what no snapshot has', () => {
    const { sandbox } = sessionOf(repository, 's1');
    write(join(sandbox, 'not captured'), 'work\n');
    const staged = join(sandbox, 'staged');
    write(staged, 'staged\n');
    git(sandbox, 'add', 'staged');
    restart();
    expect(readdirSync(sessionOf(repository, 's1').folder)).toEqual([]);
    git(repository, 'worktree', 'prune');
    agtOk(repository, 'autocommit', 's1');
    expect(agt(repository, 'session', 'cat', 's1', '@:not captured').stdout).toBe('work\n');
    expect(git(sandbox, 'diff', '--cached', '--name-only')).toBe('staged');
    restart();
    expect(agtOk(repository, 'session', 'list')).toMatch(/s0[\s\S]*s1/);
    expect(existsSync(join(sandbox, 'not captured'))).toBe(true);
    restart();
    agtOk(repository, 'session', 'remove', 's0');
    expect(existsSync(sessionOf(repository, 's0').folder)).toBe(false);
  });

  test('nothing takes the place of work that is not mounted: agt names both', () => {
    const { sandbox, folder } = sessionOf(repository, 's1');
    restart();
    write(join(folder, 'sandbox/other'), 'written meanwhile\n');
    for (const command of [
      ['autocommit', 's1'],
      ['session', 'restore', 's1', '--to', '@'],
      ['session', 'remove', 's1', '--force'],
      ['session', 'fork', 's1', '--id', 'no'],
    ]) {
      const outcome = agt(repository, ...command);
      expect([command, outcome.exitCode, outcome.stderr]).toEqual([
        command,
        1,
        expect.stringContaining('is not mounted: there are other files'),
      ]);
    }
    expect(agt(repository, 'session', 'list').exitCode).toBe(0);
    const report = agt(repository, 'doctor', '--fix');
    expect(report.stdout).toContain('is not mounted: there are other files');
    expect(readFileSync(join(folder, 'sandbox/other'), 'utf8')).toBe('written meanwhile\n');
    renameSync(join(folder, 'sandbox'), join(disk.path, 'moved away'));

    const asUser = ['--reuid=65534', '--regid=65534', '--clear-groups', AGT];
    const home = join(disk.path, 'home');
    write(join(home, '.gitconfig'), '[safe]\n\tdirectory = *\n');
    const env = { HOME: home, XDG_STATE_HOME: undefined, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') };
    const user = run('setpriv', [...asUser, 'session', 'run', 's1', '--', 'true'], { cwd: repository, env });
    expect(user.exitCode).toBe(1);
    expect(user.stderr).toContain('is not mounted: only root can mount it');
    agtOk(repository, 'autocommit', 's1');
    expect(readFileSync(join(sandbox, 'not captured'), 'utf8')).toBe('work\n');
    expect(agt(repository, 'doctor').stdout).toContain('nothing is wrong');
  });

  test('a program that is in it does not stop a removal', async () => {
    agtOk(repository, 'session', 'new', 'busy');
    const script = 'cd "$1" && exec sleep 30';
    const { spawn } = await import('node:child_process');
    const user = spawn('sh', ['-c', script, 'sh', sessionOf(repository, 'busy').sandbox], {
      stdio: 'ignore',
    });
    await new Promise((resolve) => user.once('spawn', resolve));
    agtOk(repository, 'session', 'remove', 'busy');
    user.kill('SIGKILL');
    expect(existsSync(sessionOf(repository, 'busy').folder)).toBe(false);
    expect(agt(repository, 'doctor').stdout).toContain('nothing is wrong');
  });

  test('killed at any step: the same command works, and nothing is left', async () => {
    const points: [string, string[]][] = [
      ['workspace: made#1', ['session', 'new', 'k']],
      ['clone: at its commit#1', ['session', 'new', 'k']],
      ['overlay: bound#1', ['session', 'new', 'k']],
      ['workspace: in place#1', ['session', 'new', 'k']],
      ['workspace: made#1', ['session', 'fork', 's1', '--id', 'k']],
      ['workspace: in place#1', ['session', 'fork', 's1', '--id', 'k']],
    ];
    const before = overlays().length;
    const every = process.env['AGT_TEST_STEPS'] === 'all';
    const place = { repository, sandbox: sessionOf(repository, 's1').sandbox };
    for (const [point, command] of points.filter((_, n) => every || n % 2 === 0)) {
      await attack(place, command, { program, env: { AGT_TEST_KILL_AT: point } });
      expect([point, agt(repository, 'doctor', '--fix').exitCode]).toEqual([point, 0]);
      expect(overlays()).toHaveLength(before);
      agtOk(repository, ...command);
      for (const step of every ? ['closed', 'folder removed'] : ['closed']) {
        if (!existsSync(sessionOf(repository, 'k').folder))
          agtOk(repository, 'session', 'restore', 'k', '--to', '@');
        await attack(place, ['session', 'remove', 'k'], {
          program,
          env: { AGT_TEST_KILL_AT: `remove: ${step}#1` },
        });
        agt(repository, 'doctor', '--fix');
      }
      agt(repository, 'session', 'remove', 'k');
      agtOk(repository, 'session', 'remove', 'k', '--delete-branch', '--force');
      expect(overlays()).toHaveLength(before);
      expect(agt(repository, 'doctor').stdout).toContain('nothing is wrong');
    }
  }, 60_000);

  test('the template goes with the last session that needs it; doctor unmounts what rm -rf leaves', () => {
    for (const id of ['s1']) agtOk(repository, 'session', 'remove', id);
    expect(overlays()).toEqual([]);
    expect(readdirSync(join(area, 'frozen'))).toHaveLength(1);
    agtOk(repository, 'session', 'new', 'left');
    rmSync(repository, { recursive: true });
    spawnSync('rm', ['-rf', join(area, 'overlay')]); // rm may come to the layers before it comes to the mount
    spawnSync('rm', ['-rf', area]);
    expect(overlays()).toHaveLength(1);
    const elsewhere = makeTempDir();
    expect(agt(elsewhere, 'doctor').stdout).toContain('a mount of a session whose files are gone');
    agt(elsewhere, 'doctor', '--fix');
    expect(overlays()).toEqual([]);
  });
});
