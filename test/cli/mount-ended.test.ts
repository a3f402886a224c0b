/** The end of a mounted snapshot: in use, killed at any step, or its session or repository deleted before. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attack } from '../crash/aftermath.ts';
import { autocommit, makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, run, write } from '../harness/world.ts';
import {
  ALL_STEPS,
  ended,
  expectNothingLeft,
  type Mount,
  mount,
  mounted,
  mountProblem,
  outputOf,
  serverOf,
  umount,
} from './mounted.ts';

describe.skipIf(mountProblem !== undefined)(
  `as root${mountProblem === undefined ? '' : ` (${mountProblem})`}`,
  () => {
    let session: TestSession;

    beforeAll(() => {
      session = makeSession({ 'README.md': 'hello\n' });
      write(join(session.sandbox, 'key'), 'secret\n', 0o600);
      autocommit(session);
    });

    afterAll(() => {
      agt(session.repository, 'session', 'umount', '--all', '--lazy');
    });

    test('a program that works in it keeps it, unless --lazy detaches it', async () => {
      const { repository } = session;
      const { directory } = mount(session);
      const server = serverOf(repository, { directory } as Mount);
      const user = spawn('sh', ['-c', 'cd "$1"; echo; read line; cat key', 'sh', join(directory, 'sandbox')]);
      await new Promise((resolve) => user.stdout.once('data', resolve));
      const refused = agt(repository, 'session', 'umount', 's1');
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toContain(`these processes work there: ${user.pid} (sh)`);
      expect(refused.stderr).toContain(`agt session umount --lazy ${directory}\n`);
      expect(run(AGT, ['session', 'umount', 's1', '--lazy'], { cwd: repository }).exitCode).toBe(0);
      expect(existsSync(directory)).toBe(false);
      const output = outputOf(user);
      user.stdin.end('\n');
      expect(await output).toBe('secret\n');
      await ended(server);
      expectNothingLeft(repository);
    }, 20_000);

    test('the end of the session and git gc leave a mounted snapshot whole', () => {
      const other = sessionIn(session.repository, 'short');
      write(join(other.sandbox, 'only here'), 'kept\n');
      autocommit(other);
      const { directory } = mount(other);
      expect(agt(other.repository, 'session', 'remove', 'short', '--delete-branch', '--force').exitCode).toBe(
        0,
      );
      git(other.repository, 'reflog', 'expire', '--expire=now', '--all');
      agtOk(other.repository, 'gc', '--prune=now');
      git(other.repository, 'gc', '-q', '--prune=now');
      expect(readFileSync(join(directory, 'sandbox/only here'), 'utf8')).toBe('kept\n');
      umount(other);
      expectNothingLeft(other.repository);
    });

    test('agt captures nothing of a mounted snapshot, and removes no folder that one is in', () => {
      const other = sessionIn(session.repository, 'around');
      const { directory } = mount(session);
      const inside = join(other.sandbox, 'inside');
      mkdirSync(inside);
      execFileSync('mount', ['--bind', directory, inside]);
      try {
        const report = autocommit(other);
        expect(report.skipped).toEqual([
          { path: 'sandbox/inside', reason: 'is a snapshot that agt has mounted' },
        ]);
        const removal = agt(other.repository, 'session', 'remove', 'around');
        expect(removal.stderr).toMatch(/inside is a mount point/);
      } finally {
        execFileSync('umount', [inside]);
      }
      agtOk(other.repository, 'session', 'remove', 'around');
      expect(existsSync(join(directory, 'sandbox/key'))).toBe(true);
      umount(session);
    });

    test('doctor names a mount whose server was killed, and ends it; so does umount', async () => {
      const { repository } = session;
      for (const end of [
        ['doctor', '--fix'],
        ['session', 'umount', 's1'],
      ]) {
        const found = mount(session);
        const server = serverOf(repository, found);
        process.kill(server, 'SIGKILL');
        await ended(server);
        expect(() => lstatSync(join(found.directory, 'sandbox'))).toThrow(/ENOTCONN|ECONNABORTED/);
        expect(mounted(repository).map(({ state }) => state)).toEqual(['dead']);
        const report = agt(repository, 'doctor');
        expect(report.exitCode).toBe(1);
        expect(report.stdout).toContain('the process that served this snapshot of session "s1" has ended');
        agtOk(repository, ...end);
        expectNothingLeft(repository);
      }
      expect(agt(repository, 'doctor').stdout).toContain('nothing is wrong');
    });

    test('a signal ends the server, and it cleans up; the next mount cleans up after umount(8)', async () => {
      const { repository } = session;
      const server = serverOf(repository, mount(session));
      process.kill(server, 'SIGTERM');
      await ended(server);
      expectNothingLeft(repository);
      const second = mount(session);
      const pid = serverOf(repository, second);
      execFileSync('umount', [second.directory]);
      await ended(pid);
      expectNothingLeft(repository);
    });

    test('the server ends when its repository is deleted', async () => {
      const other = makeSession();
      autocommit(other);
      const found = mount(other);
      const server = serverOf(other.repository, found);
      expect(readFileSync(join(found.directory, 'sandbox/README.md'), 'utf8')).toBe('hello\n');
      rmSync(other.repository, { recursive: true });
      await ended(server);
      expect(readdirSync(found.directory)).toEqual([]);
    });

    test('the server ends when its repository was moved, and the directories go that agt has made', async () => {
      const other = makeSession();
      autocommit(other);
      const parent = join(other.repository, '..');
      const inside = mount(other);
      const outside = mount(other, join(parent, 'made/deep/mnt'));
      const servers = [inside, outside].map((one) => serverOf(other.repository, one));
      const repository = join(parent, 'moved');
      renameSync(other.repository, repository);
      renameSync(`${other.repository}.agt`, `${repository}.agt`);
      expect(agtOk(repository, 'list')).toMatch(/^s1 {2}sandbox moved /m);
      expect(agtOk(repository, 'session', 'mount')).not.toContain('served');
      for (const server of servers) await ended(server);
      expect(agtOk(repository, 'session', 'mount')).toBe('');
      expect(readFileSync('/proc/self/mountinfo', 'latin1')).not.toContain(parent);
      agtOk(repository, 'session', 'umount', '--all');
      expect(readdirSync(parent).sort()).toEqual(['moved', 'moved.agt']);
      expectNothingLeft(repository);
    });

    test('umount ends it also in the moment after the move', async () => {
      const other = makeSession();
      autocommit(other);
      const server = serverOf(other.repository, mount(other, join(other.repository, 'mnt')));
      const repository = join(other.repository, '../moved');
      renameSync(other.repository, repository);
      agtOk(repository, 'session', 'umount', '--all');
      await ended(server);
      expect(readFileSync('/proc/self/mountinfo', 'latin1')).not.toContain(join(repository, '..'));
      agtOk(repository, 'session', 'umount', '--all');
      expect(agtOk(repository, 'session', 'mount')).toBe('');
    });

    test('doctor ends a dead mount of a repository that is gone', () => {
      const other = makeSession();
      autocommit(other);
      // In a mount namespace of its own: the doctors of other tests would end it.
      const script = [
        'dir=$("$agt" session mount s1 --to @) && cat "$dir/sandbox/README.md"',
        'kill -9 $(sed -n \'s/.*"pid": *\\([0-9]*\\).*/\\1/p\' .git/agt/mounts/*.json)',
        'while ls "$dir/sandbox" >/dev/null 2>&1; do sleep 0.02; done',
        'rm -rf "$PWD" && cd /',
        '"$agt" doctor; "$agt" doctor --fix; ls "$dir" && echo gone',
      ].join('\n');
      const words = ['--mount', 'env', `agt=${AGT}`, 'sh', '-c', script];
      const { stdout } = run('unshare', words, { cwd: other.repository });
      const directory = `${other.repository}.agt/mounts/s1@`;
      expect(stdout).toMatch(/^hello\n/);
      expect(stdout).toContain(`error: ${directory}`);
      expect(stdout).toContain(`fixed: ${directory}`);
      expect(stdout).toMatch(/gone\n$/);
    });

    test('a mount that is killed at any step leaves nothing that doctor does not end', async () => {
      const { repository } = session;
      const program = [process.execPath, join(import.meta.dirname, '../../dist/failure-points/main.cjs')];
      const place = { repository, sandbox: session.sandbox };
      const words = ['session', 'mount', 's1', '--to', '@'];
      const points: [string, string[]][] = [
        ['mount: recorded#1', []],
        ['mount: kept#1', []],
        ['mount: directory made#1', []],
        ['mount: mounted#1', []],
        ['mount: recorded as served#1', []],
        ['mount: kept#1', ['--copy']],
        ['checkout: files removed#1', ['--copy']],
        ['mount: copied#1', ['--copy']],
      ];
      for (const [point, more] of points.filter((_, n) => ALL_STEPS || n % 2 === 1)) {
        await attack(place, [...words, ...more], { program, env: { AGT_TEST_KILL_AT: point } });
        agt(repository, 'doctor', '--fix');
        agtOk(repository, 'session', 'umount', '--all');
        expectNothingLeft(repository);
        expect(agt(repository, 'doctor').stdout, point).toContain('nothing is wrong');
      }
      for (const point of ALL_STEPS ? ['unmounted', 'directory removed', 'ref deleted'] : ['unmounted']) {
        agtOk(repository, 'session', 'mount', 's1', '--to', '@');
        const how = { program, env: { AGT_TEST_KILL_AT: `unmount: ${point}#1` } };
        await attack(place, ['session', 'umount', 's1'], how);
        agt(repository, 'doctor', '--fix');
        expectNothingLeft(repository);
      }
    }, 60_000);
  },
);
