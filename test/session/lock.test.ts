/** Autocommits of one session wait for each other; agt takes over a lock whose owner is gone. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/disk/lock-owner.ts';
import { makeSession, manifestOf, tryAutocommit } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, write } from '../harness/world.ts';

describe('if something fails', () => {
  test('another autocommit at work: exit code 75; a lock whose owner is gone is taken over', () => {
    const session = makeSession();
    const lock = join(session.repository, '.git/agt/locks/s1');
    const own = identify(process.pid);
    const foreign = { ...own, pid: 4_000_000, place: 'another container' };
    const hints = new Map([
      [own, `hint: try again when process ${own.pid} has ended\n`],
      [foreign, `hint: if no agt runs there any more: rm ${lock}\n`],
    ]);
    for (const [standing, hint] of hints) {
      write(lock, JSON.stringify(standing));
      const busy = tryAutocommit(session, '--wait', '0');
      expect(busy.exitCode).toBe(75);
      expect(busy.stderr).toContain('error: another agt is using session "s1"');
      expect(busy.stderr).toContain(hint);
      expect(existsSync(lock)).toBe(true);
    }
    for (const change of [{ start: '1' }, { boot: 'another' }, { pid: 4_000_000, start: '' }]) {
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

  test('the message speaks of a folder where there is no session', () => {
    const folder = makeRepository();
    agtOk(folder, 'snapshot');
    const { store } = JSON.parse(agtOk(folder, 'snapshot', 'status', '--json'));
    write(join(store, 'agt/locks/project'), JSON.stringify(identify(process.pid)));
    const { exitCode, stderr } = agt(folder, 'snapshot', '--wait', '0');
    const message = expect.stringContaining(`error: another agt is using the folder ${folder}\n`);
    expect([exitCode, stderr]).toEqual([75, message]);
  });

  test('killed while it took over a lock: the next one takes over', () => {
    const session = makeSession();
    const lock = join(session.repository, '.git/agt/locks/s1');
    const gone = JSON.stringify({ ...identify(process.pid), start: '1' });
    for (const path of [lock, lock.replace(/s1$/, '.s1.breaking')]) write(path, gone);
    expect(tryAutocommit(session)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readdirSync(join(lock, '..'))).toEqual([]);
  });

  test('an owner in another container: its lock holds while it lives, and no longer', async ({ skip }) => {
    const session = makeSession();
    const lock = join(session.repository, '.git/agt/locks/s1');
    const holder = spawn('unshare', [
      ...['--pid', '--fork', '--kill-child', '--mount-proc', '--uts', 'sh', '-c'],
      ...['hostname elsewhere && exec "$@"', 'sh', process.execPath],
      ...[join(import.meta.dirname, 'hold-lock.ts'), lock],
    ]);
    // Its standard output closes when the process inside has ended, too.
    const ended = new Promise((resolve) => holder.on('close', resolve));
    const isHeld = await Promise.race([
      new Promise((resolve) => holder.stdout.on('data', () => resolve(true))),
      ended.then(() => false),
    ]);
    skip(!isHeld, 'no process namespace can be made here');
    expect(tryAutocommit(session, '--wait', '0').exitCode).toBe(75);
    expect(JSON.parse(agt(session.repository, 'doctor', '--json').stdout).findings).toEqual([]);
    holder.kill('SIGKILL');
    await ended;
    write(join(session.sandbox, 'x'), 'x');
    expect(tryAutocommit(session)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readdirSync(join(lock, '..'))).toEqual([]);
  });

  test('a life sign that a killed process left is found by doctor', () => {
    const session = makeSession();
    const locks = join(session.repository, '.git/agt/locks');
    const script = `const s = require('net').createServer().listen('${join(locks, '.alive-1-x')}', () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script]);
    expect(readdirSync(locks)).toEqual(['.alive-1-x']);
    const why = '.alive-1-x: the mark of a process that has ended\n';
    expect(agt(session.repository, 'doctor').stdout).toContain(why);
    const fixed = agt(session.repository, 'doctor', '--fix');
    expect(fixed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^fixed: .*has ended$/m) });
    expect(readdirSync(locks)).toEqual([]);
  });

  test('a killed process that held several locks is one note of doctor, which --fix mends', () => {
    const session = makeSession();
    const locks = join(session.repository, '.git/agt/locks');
    const held = (name: string, alive: string) => {
      const script = `const s = require('net').createServer().listen('${join(locks, alive)}', () => process.kill(process.pid, 'SIGKILL'))`;
      spawnSync(process.execPath, ['-e', script]);
      const gone = { ...identify(process.pid), pid: 4_000_000, alive };
      write(join(locks, name), JSON.stringify(gone));
    };
    held('s1', '.alive-4000000-x');
    held('.prune', '.alive-4000000-y');
    const { findings } = JSON.parse(agt(session.repository, 'doctor', '--json').stdout);
    expect(findings).toMatchObject([
      { about: join(locks, 's1'), problem: 'a lock of a process that has ended, which also held .prune' },
    ]);
    expect(agtOk(session.repository, 'doctor', '--fix').match(/^fixed: .*$/gm)).toHaveLength(1);
    expect(readdirSync(locks)).toEqual([]);
  });

  test('ids like the names of temporary files', () => {
    const session = makeSession();
    for (const id of ['x', 'x.breaking', 'a.tmp']) {
      agtOk(session.repository, 'session', 'new', '--id', id);
      agtOk(session.repository, 'autocommit', '--session-id', id);
    }
    expect(agt(session.repository, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
  });

  test('--wait: until the other is done, and no longer than that', async () => {
    const session = makeSession();
    const lock = join(session.repository, '.git/agt/locks/s1');
    write(lock, JSON.stringify(identify(process.pid)));
    expect(tryAutocommit(session, '--wait', '0.2').exitCode).toBe(75);
    const child = spawn(AGT, ['autocommit', '--all', '--wait', '60'], { cwd: session.repository });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    await new Promise((resolve) => setTimeout(resolve, 500));
    rmSync(lock);
    expect(await ended).toBe(0);
    expect(manifestOf(session).session).toBe('s1');
    expect(tryAutocommit(session, '--wait', 'long').exitCode).toBe(2);
  });

  test('commands of a person wait for a capture in the background', async () => {
    const session = makeSession();
    write(join(session.sandbox, 'new'), 'one\n');
    agtOk(session.repository, 'autocommit', '--session-id', 's1');
    write(join(session.sandbox, 'new'), 'two\n');
    const lock = join(session.repository, '.git/agt/locks/s1');
    const commands = [
      ['autocommit', 's1'],
      ['snapshot', '--label', 'here'],
      ['undo', 's1'],
      ['session', 'redo', 's1'],
      ['session', 'fork', 's1', '--id', 's2'],
      ['reject', 's1'],
    ];
    for (const args of commands) {
      const holder = spawn(process.execPath, [join(import.meta.dirname, 'hold-lock.ts'), lock, '700']);
      await new Promise((resolve) => holder.stdout.once('data', resolve));
      const { exitCode, stderr } = agt(
        args[0] === 'snapshot' ? session.sandbox : session.repository,
        ...args,
      );
      expect([args, exitCode, stderr]).toEqual([args, 0, expect.not.stringContaining('error')]);
    }
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
});
