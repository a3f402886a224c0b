/** agt watch captures changes until a signal ends it. Deadlines are generous; no test measures time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { identify } from '../../src/disk/lock-owner.ts';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';

const DEADLINE = 20_000;
const running: ChildProcess[] = [];

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

interface Watch {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends the signal, waits for the end and returns the exit code. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>;
}

async function startWatch(cwd: string, ...args: string[]): Promise<Watch> {
  return start(cwd, AGT, ['watch', ...(args.includes('--debounce') ? [] : ['--debounce', '0.1']), ...args]);
}

async function start(cwd: string, program: string, args: string[]): Promise<Watch> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, AGT_GIT_PATH: REAL_GIT },
    detached: true,
  });
  running.push(child);
  const text = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => {
    text.out += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    text.err += data.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    child,
    stdout: () => text.out,
    stderr: () => text.err,
    end: (signal) => {
      if (signal !== undefined) child.kill(signal);
      return ended;
    },
  };
}

/** Polls until the condition is true. */
async function until(what: string, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + DEADLINE; !isSo(); ) {
    if (Date.now() > end) throw new Error(`never true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function captured({ repository, id }: TestSession, path: string): string | undefined {
  const shown = run(REAL_GIT, ['show', `agtsessions/${id}:${path}`], { cwd: repository });
  return shown.exitCode === 0 ? shown.stdout : undefined;
}

describe('agt watch captures', { timeout: 120_000 }, () => {
  test('earlier changes, files, new and moved directories, and the index, until a signal', async () => {
    const session = makeSession({ 'a.txt': 'a\n', 'deep/er/b.txt': 'b\n' });
    write(join(session.folder, 'xdg/before'), 'x');
    const watch = await startWatch(session.repository);
    const seen = (path: string, content: string) =>
      until(`${path} = ${content}`, () => captured(session, path) === content);
    await seen('xdg/before', 'x');
    write(join(session.sandbox, 'a.txt'), 'aa\n');
    await seen('sandbox/a.txt', 'aa\n');
    write(join(session.sandbox, 'new/dir/c.txt'), 'c\n');
    await seen('sandbox/new/dir/c.txt', 'c\n');
    write(join(session.sandbox, 'new/dir/c.txt'), 'cc\n');
    await seen('sandbox/new/dir/c.txt', 'cc\n');
    renameSync(join(session.sandbox, 'new'), join(session.sandbox, 'deep/moved'));
    await seen('sandbox/deep/moved/dir/c.txt', 'cc\n');
    write(join(session.sandbox, 'deep/moved/dir/c.txt'), 'ccc\n');
    await seen('sandbox/deep/moved/dir/c.txt', 'ccc\n');
    rmSync(join(session.sandbox, 'deep'), { recursive: true });
    await until('deep is gone', () => captured(session, 'sandbox/deep/er/b.txt') === undefined);
    mkdirSync(join(session.sandbox, 'deep'));
    write(join(session.sandbox, 'deep/again'), '1');
    await seen('sandbox/deep/again', '1');
    git(session.sandbox, 'add', 'deep/again');
    await seen('_/staged/deep/again', '1');
    expect(await watch.end('SIGTERM')).toBe(0);
    expect(watch.stderr()).toBe('');
    expect(watch.stdout()).toMatch(/^s1: watching\ns1: captured \d+ paths? as \w{10}\n/);
    expect(
      watch
        .stdout()
        .split('\n')
        .filter((line) => line !== '' && !/^s1: (watching|captured )/.test(line)),
    ).toEqual([]);
  });

  test('changes just before the signal, and prints JSON lines', async () => {
    const session = makeSession();
    const watch = await startWatch(
      session.repository,
      's1',
      '--debounce',
      '3600',
      '--interval',
      '3600',
      '--json',
    );
    await until('it watches', () => watch.stdout().includes('"captured"'));
    write(join(session.sandbox, 'last'), 'last\n');
    expect(await watch.end('SIGINT')).toBe(0);
    expect(captured(session, 'sandbox/last')).toBe('last\n');
    const lines = watch
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { event: 'watching', session_id: 's1', periodic: null },
      { event: 'captured', session_id: 's1', outcome: 'committed' },
      { event: 'captured', session_id: 's1', changes: [{ path: 'sandbox/last', status: 'added' }] },
    ]);
  });

  test('everything when a terminal sends the signal to the whole process group', async () => {
    const session = makeSession();
    const watch = await startWatch(session.repository);
    await until('it watches', () => watch.stdout().includes('captured'));
    for (let i = 0; i < 50; i++) write(join(session.sandbox, `f${i}`), Buffer.alloc(200_000, i));
    await new Promise((resolve) => setTimeout(resolve, 150));
    process.kill(-(watch.child.pid as number), 'SIGINT');
    expect(await watch.end()).toBe(0);
    expect(captured(session, 'sandbox/f49')).toBe('1'.repeat(200_000));
    expect(agtOk(session.repository, 'autocommit', '--session-id', 's1')).toBe('s1: nothing changed');
  });

  test('files as soon as .agtignore no longer excludes them', async () => {
    const session = makeSession();
    write(join(session.folder, '.agtignore'), 'cache/\n');
    write(join(session.sandbox, 'cache/x'), '1');
    const watch = await startWatch(session.repository);
    await until('it watches', () => watch.stdout().includes('captured'));
    write(join(session.folder, '.agtignore'), '\n');
    await until('cache is captured', () => captured(session, 'sandbox/cache/x') === '1');
    write(join(session.sandbox, 'cache/x'), '2');
    await until('cache is watched', () => captured(session, 'sandbox/cache/x') === '2');
    expect(await watch.end('SIGTERM')).toBe(0);
  });
});

describe('agt watch', { timeout: 120_000 }, () => {
  test('watches a session that is created meanwhile, and drops one that is removed', async () => {
    const session = makeSession();
    const watch = await startWatch(session.repository);
    await until('it watches', () => watch.stdout().includes('s1: captured'));
    agtOk(session.repository, 'session', 'new', '--id', 's2');
    await until('s2', () => watch.stdout().includes('s2: captured'));
    await until(
      's1 is removed',
      () => agt(session.repository, 'session', 'remove', '--id', 's1').exitCode === 0,
    );
    await until('s1 is left alone', () => watch.stdout().includes('s1: session is gone'));
    write(join(session.folder, '../s2/sandbox/x'), 'x');
    await until('x', () => captured({ ...session, id: 's2' }, 'sandbox/x') === 'x');
    expect(await watch.end('SIGTERM')).toBe(0);
    expect(watch.stderr()).toBe('');
  });

  test('says that there is no session to watch', () => {
    const repository = makeRepository({ a: 'a\n' });
    agtOk(repository, 'snapshot');
    const stderr = expect.stringMatching(/^error: no active session here: nothing to watch\n.* agt new\n/);
    expect(agt(repository, 'watch')).toMatchObject({ exitCode: 1, stderr });
  });

  test('watches a session again that lost its folder and got it back', async () => {
    const session = makeSession({ 'a.txt': 'a\n' });
    const watch = await startWatch(session.repository, '--interval', '0.5');
    await until('it watches', () => watch.stdout().includes('s1: captured'));
    const restore = () => agt(session.repository, 'session', 'restore', 's1', '--to', '@{0}').exitCode === 0;
    for (const [round, gone] of [session.sandbox, session.folder].entries()) {
      rmSync(gone, { recursive: true });
      await until('it is back', restore);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      write(join(session.sandbox, 'dir/x'), `${round}`);
      await until(`x = ${round}`, () => captured(session, 'sandbox/dir/x') === `${round}`);
      write(join(session.sandbox, 'dir/x'), `${round} again`);
      await until(`x = ${round} again`, () => captured(session, 'sandbox/dir/x') === `${round} again`);
    }
    expect(
      watch
        .stdout()
        .trimEnd()
        .split('\n')
        .filter((line) => line === 's1: watching').length,
    ).toBeGreaterThan(1);
    expect(await watch.end('SIGTERM')).toBe(0);
  });

  test('ends when the last named session is removed, and refuses an unknown one', async () => {
    const session = makeSession();
    const watch = await startWatch(session.repository, 's1');
    await until('it watches', () => watch.stdout().includes('captured'));
    await until(
      's1 is removed',
      () => agt(session.repository, 'session', 'remove', '--id', 's1').exitCode === 0,
    );
    expect(await watch.end()).toBe(0);
    expect(agt(session.repository, 'watch', 'nobody').stderr).toContain('error: no session "nobody"');
    expect(agt(session.repository, 'watch', '--debounce', 'soon').exitCode).toBe(2);
  });

  test('captures everything once if two processes watch the same sessions', async () => {
    const session = makeSession();
    const watches = [await startWatch(session.repository), await startWatch(session.repository)];
    await until('both watch', () => watches.every((watch) => watch.stdout().includes('watching')));
    for (let i = 0; i < 5; i++) {
      write(join(session.sandbox, 'x'), `${i}\n`);
      await until(`x = ${i}`, () => captured(session, 'sandbox/x') === `${i}\n`);
    }
    expect(await Promise.all(watches.map((watch) => watch.end('SIGTERM')))).toEqual([0, 0]);
    expect(watches.map((watch) => watch.stderr())).toEqual(['', '']);
    const trees = git(
      session.repository,
      'log',
      '--first-parent',
      '--format=%T',
      'main..agtsessions/s1',
    ).split('\n');
    expect(new Set(trees).size).toBe(trees.length);
  });
});

describe('agt watch with problems', { timeout: 120_000 }, () => {
  test('prints an error that lasts once, and retries', async () => {
    const session = makeSession();
    mkdirSync(join(session.folder, '.agtignore'));
    const watch = await startWatch(session.repository, '--interval', '0.2');
    await until('the problem is printed', () => watch.stderr().includes('.agtignore is not a regular file'));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(watch.stderr().match(/^error: /gm)).toHaveLength(1);
    rmSync(join(session.folder, '.agtignore'), { recursive: true });
    await until('it is captured', () => watch.stdout().includes('s1: captured'));
    await until('its folder is watched', () => watch.stdout().includes('s1: watching\n'));
    expect(await watch.end('SIGTERM')).toBe(0);
  });

  test('waits for another agt that is working on the session', async () => {
    const session = makeSession();
    const lock = join(session.repository, '.git/agt/locks/s1');
    write(lock, JSON.stringify(identify(process.pid)));
    const watch = await startWatch(session.repository);
    await until('it watches', () => watch.stdout().includes('watching'));
    await new Promise((resolve) => setTimeout(resolve, 500));
    rmSync(lock);
    await until('it is captured', () => watch.stdout().includes('captured'));
    expect(watch.stderr()).toBe('');
    expect(await watch.end('SIGTERM')).toBe(0);
  });

  test.for([
    ['max_inotify_watches', '5', 'fs.inotify.max_user_watches'],
    ['max_inotify_instances', '0', 'fs.inotify.max_user_instances'],
  ] as const)('warns and captures periodically at the limit %s', async ([limit, value, reason], { skip }) => {
    const session = makeSession({ 'a/b/c/d/e/f': 'x\n' });
    const script = `echo ${value} >/proc/sys/user/${limit} || exit 77; exec '${AGT}' watch --debounce 0.1 --interval 0.3`;
    const watch = await start(session.repository, 'unshare', ['-U', '-r', 'sh', '-c', script]);
    const ended = watch.end();
    await Promise.race([ended, until('the problem is printed', () => watch.stderr() !== '')]);
    skip(watch.child.exitCode !== null, 'the limit cannot be lowered here');
    expect(watch.stderr()).toMatch(
      new RegExp(
        `^warning: s1: cannot watch its files, autocommitting periodically: the kernel's limit .*\\(${reason}\\)\n$`,
      ),
    );
    write(join(session.sandbox, 'a/b/c/d/e/f'), 'y\n');
    await until('f', () => captured(session, 'sandbox/a/b/c/d/e/f') === 'y\n');
    expect(await watch.end('SIGTERM')).toBe(0);
  });

  test('warns and captures periodically when it reaches a limit later', async ({ skip }) => {
    const session = makeSession();
    const script = `echo 30 >/proc/sys/user/max_inotify_watches || exit 77; exec '${AGT}' watch --debounce 0.1 --interval 0.3`;
    const watch = await start(session.repository, 'unshare', ['-U', '-r', 'sh', '-c', script]);
    await Promise.race([watch.end(), until('it watches', () => watch.stdout().includes('captured'))]);
    skip(watch.child.exitCode !== null, 'the limit cannot be lowered here');
    for (let i = 0; i < 40; i++) write(join(session.sandbox, `d${i}/f`), '1');
    await until('the problem is printed', () => watch.stderr().includes('autocommitting periodically'));
    writeFileSync(join(session.sandbox, 'd39/f'), '2');
    await until('f', () => captured(session, 'sandbox/d39/f') === '2');
    expect(await watch.end('SIGTERM')).toBe(0);
  });
});
