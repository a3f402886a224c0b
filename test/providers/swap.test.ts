/**
 * A restore of many files by a swap: the nearest frozen moment, cloned, takes the place of the session folder. It leaves
 * what a restore in place leaves, and happens only where nobody works in the folder and all of it is captured.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agtAlone, aloneProblem, scriptAlone, tryAlone } from '../harness/alone.ts';
import { btrfsProblem, type Disk, mountBtrfs } from '../harness/disks.ts';
import { autocommit, sessionOf, snapshotFolder, type TestSession } from '../harness/session.ts';
import { NO_STRACE, strace, straceWorks } from '../harness/strace.ts';
import { agtOk, git, makeRepositoryAt, makeTempDir, REAL_GIT, write } from '../harness/world.ts';

const problem = btrfsProblem() ?? aloneProblem();
/** More than a restore writes one by one. */
const FILES = 5100;
const NOTHING = 'something is in the way, and swaps if not';

function fill(directory: string, content: string, files: number): void {
  for (let n = 0; n < files; n++) {
    const parent = join(directory, `d${n % 20}`);
    if (n < 20) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `f${n}`), `${content} ${n}\n`);
  }
}

describe.skipIf(problem !== undefined)(`btrfs${problem === undefined ? '' : ` (${problem})`}`, () => {
  let disk: Disk;
  let repository: string;
  let session: TestSession;
  let modules: string;

  beforeAll(() => {
    disk = mountBtrfs();
    process.env['XDG_STATE_HOME'] = makeTempDir('state');
    const files = {
      'a.txt': 'a\n',
      'b.txt': 'b\n',
      'src/c': 'c\n',
      'src/d': 'd\n',
      '.gitignore': 'modules\n',
    };
    repository = makeRepositoryAt(join(disk.path, 'project'), files);
    agtOk(repository, 'session', 'new', 's1');
    session = sessionOf(repository, 's1');
    modules = join(session.sandbox, 'modules');
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  /** Of the subvolume that is the session folder. */
  const device = () => statSync(session.folder).dev;
  const findings = () => JSON.parse(agtOk(repository, 'doctor', '--json')).findings;
  /** Whether the session folder is another one afterwards. */
  const isSwapped = (restore: () => void) => {
    const before = device();
    restore();
    return device() !== before;
  };
  const removeModules = () => rmSync(modules, { recursive: true, force: true });
  const inTestBuild = (...args: string[]) => {
    const { exitCode, stderr } = tryAlone(repository, args);
    expect([args, exitCode, stderr]).toEqual([args, 0, '']);
  };

  test('undo brings back what was deleted, and keeps everything else as it is', (context) => {
    const { sandbox, folder } = session;
    fill(modules, 'first', FILES);
    symlinkSync('f0', join(modules, 'link'));
    mkdirSync(join(modules, 'nothing'), { mode: 0o700 });
    writeFileSync(Buffer.from(`${modules}/d1/\xff`, 'latin1'), 'odd\n');
    write(join(sandbox, 'src/gone'), 'gone\n');
    agtOk(repository, 'autocommit', 's1', '-q');
    const file = join(modules, 'd3/f3');
    const { ino, mtimeMs } = statSync(file);
    // No snapshot has times, owners and hard links.
    write(join(sandbox, 'src/new'), 'new\n');
    linkSync(join(sandbox, 'src/new'), join(sandbox, 'src/linked'));
    utimesSync(join(sandbox, 'src/d'), 1_000_000_000, 1_000_000_000);
    chownSync(join(sandbox, 'a.txt'), 1234, 1234);
    mkdirSync(join(sandbox, 'src/deep/empty'), { recursive: true });
    chmodSync(join(sandbox, 'src/deep'), 0o750);
    chownSync(join(sandbox, 'src/deep'), 1234, 1234);
    rmSync(join(sandbox, 'src/gone'));
    write(join(folder, 'config/setting'), 'set\n');
    write(join(folder, '.agtignore'), 'nothing-of-this\n', 0o640);
    write(join(sandbox, 'b.txt'), 'staged\n');
    git(sandbox, 'add', 'b.txt');
    agtOk(repository, 'autocommit', 's1', '-q');
    const wanted = snapshotFolder(folder);
    const index = git(sandbox, 'ls-files', '--stage');
    removeModules();

    const undo = () =>
      expect(agtAlone(repository, 'undo', 's1')).toMatch(/^s1: restored \d+ paths, verified\n/);
    expect(isSwapped(undo)).toBe(true);
    expect(snapshotFolder(folder)).toEqual(wanted);
    expect(statSync(file)).toMatchObject({ ino, mtimeMs });
    expect(statSync(join(sandbox, 'src/d')).mtimeMs).toBe(1_000_000_000_000);
    for (const path of ['a.txt', 'src/deep'])
      expect([path, statSync(join(sandbox, path)).uid]).toEqual([path, 1234]);
    expect(statSync(join(sandbox, 'src/new')).nlink).toBe(2);
    expect(lstatSync(join(folder, '.agtignore')).mode & 0o777).toBe(0o640);
    expect(git(sandbox, 'ls-files', '--stage')).toBe(index);

    const { outcome, read } = autocommit(session);
    expect([outcome, read]).toEqual(['unchanged', 0]);
    expect(isSwapped(() => agtAlone(repository, 'redo', 's1'))).toBe(true);
    expect([existsSync(modules), findings()]).toEqual([false, []]);
    git(sandbox, 'status');
    if (!straceWorks) return context.skip(NO_STRACE);
    const log = join(makeTempDir(), 'log');
    strace(log, ['-e', 'trace=open,openat,readlink'], [REAL_GIT, 'status'], sandbox);
    const calls = readFileSync(log, 'latin1');
    expect(['a.txt', 'b.txt', 'src/c', 'src/d'].filter((path) => calls.includes(`"${path}"`))).toEqual([]);
  });

  test('agt looks at nothing in the clone that the frozen moment tells it', (context) => {
    if (!straceWorks) return context.skip(NO_STRACE);
    const env = { log: join(makeTempDir(), 'log') };
    const undo = () =>
      scriptAlone(repository, 'strace -f -o "$log" -e trace=/stat,open,openat,rename $agt undo s1', env);
    expect(isSwapped(() => expect(undo()).toMatchObject({ exitCode: 0, stderr: '' }))).toBe(true);
    const calls = readFileSync(env.log, 'latin1').split('\n');
    const inPlace = calls.findIndex((call) => /rename\(.*agt-making/.test(call));
    expect(inPlace).toBeGreaterThan(0);
    expect(calls.slice(inPlace + 1).filter((call) => /\bd\d+\/f\d+"/.test(call))).toEqual([]);
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', read: 0 });
  });

  test('files that no frozen moment has come back with the directory that one has', () => {
    const late = join(modules, 'd7/late');
    write(late, 'late\n');
    linkSync(join(modules, 'd8/f8'), join(modules, 'd8/linked'));
    chmodSync(join(modules, 'd9/f9'), 0o600);
    autocommit(session);
    const wanted = snapshotFolder(session.folder);
    removeModules();
    const undo = () =>
      expect(agtAlone(repository, 'undo', 's1')).toMatch(/^s1: restored \d+ paths, verified\n/);
    expect(isSwapped(undo)).toBe(true);
    expect(snapshotFolder(session.folder)).toEqual(wanted);
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', read: 0 });
    agtAlone(repository, 'redo', 's1');
  });

  test('files that replace others get the present time, files that come back keep theirs', () => {
    fill(modules, 'one', 300);
    const { commit } = autocommit(session);
    fill(modules, 'two', 300);
    rmSync(join(modules, 'd5/f5'));
    autocommit(session);
    const [replaced, back] = ['d4/f4', 'd5/f5'].map((path) => join(modules, path)) as [string, string];
    const { mtimeMs } = statSync(replaced);
    const restore = () =>
      inTestBuild('session', 'restore', 's1', '--to', commit as string, '--path', 'modules');
    expect(isSwapped(restore)).toBe(true);
    expect([readFileSync(replaced, 'utf8'), readFileSync(back, 'utf8')]).toEqual(['one 4\n', 'one 5\n']);
    expect(statSync(replaced).mtimeMs).toBeGreaterThan(mtimeMs);
    expect(statSync(back).mtimeMs).toBeLessThan(mtimeMs);
    expect(autocommit(session).read).toBe(0);
  });

  test.each<[string, (place: TestSession) => (() => void) | undefined, string?]>([
    [
      'the current directory of a process is there',
      () => undefined,
      'sh -c \'cd "$sandbox/src"; sleep 60\' & ',
    ],
    ['a file there is open', () => undefined, 'sleep 60 < "$sandbox/src/c" & '],
    ['agt itself is there', () => undefined, 'cd "$sandbox"; '],
    [
      'a process sees it at another path',
      () => undefined,
      'mkdir "$dir/at"; unshare --mount sh -c \'mount --bind "$sandbox" "$dir/at"; : > "$dir/up"; sleep 60\' & while ! test -e "$dir/up"; do :; done; ',
    ],
    [
      'a file is not captured',
      ({ folder, sandbox }) => {
        write(join(folder, '.agtignore'), 'secret\n');
        write(join(sandbox, 'secret'), 'secret\n');
        return () => {
          expect(readFileSync(join(sandbox, 'secret'), 'utf8')).toBe('secret\n');
          for (const path of [join(sandbox, 'secret'), join(folder, '.agtignore')]) rmSync(path);
        };
      },
    ],
    [
      'there is a named pipe',
      ({ sandbox }) => {
        spawnSync('mkfifo', [join(sandbox, 'pipe')]);
        return () => rmSync(join(sandbox, 'pipe'));
      },
    ],
    [
      'there is another subvolume',
      ({ sandbox }) => {
        spawnSync('btrfs', ['subvolume', 'create', join(sandbox, 'inner')]);
        return () => spawnSync('btrfs', ['subvolume', 'delete', join(sandbox, 'inner')]);
      },
    ],
    [
      'part of it is mounted elsewhere',
      ({ sandbox }) => {
        const point = makeTempDir('point');
        expect(spawnSync('mount', ['--bind', join(sandbox, 'src'), point]).status).toBe(0);
        return () => spawnSync('umount', ['--lazy', point]);
      },
    ],
    [NOTHING, () => undefined],
  ])('agt restores in place if %s', (reason, prepare, script = '') => {
    const end = prepare(session);
    try {
      agtOk(repository, 'autocommit', 's1', '-q');
      removeModules();
      const env = { sandbox: session.sandbox, repository, dir: makeTempDir() };
      const restore = () => {
        const done = scriptAlone(repository, `${script}$agt undo s1`, env);
        expect([done.exitCode, done.stderr]).toEqual([0, '']);
      };
      expect(isSwapped(restore)).toBe(reason === NOTHING);
      expect(readdirSync(modules)).toHaveLength(20);
    } finally {
      end?.();
    }
  });

  test('a file that a program writes meanwhile is not lost', () => {
    const writer = `
      const { appendFileSync, writeFileSync } = require('node:fs');
      const end = Date.now() + 60_000;
      for (let n = 1; Date.now() < end; n++) {
        try { writeFileSync(process.argv[1] + '/sandbox/outside', String(n)); } catch { continue; }
        appendFileSync(process.argv[2], n + ' ');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, (n % 5) * Number(process.argv[3]));
      }`;
    for (const round of [2, 10, 40]) {
      agtOk(repository, 'autocommit', 's1', '-q');
      removeModules();
      const told = join(makeTempDir(), 'told');
      const env = { node: process.execPath, writer, folder: session.folder, told, pause: String(round) };
      const script = `
        "$node" -e "$writer" "$folder" "$told" "$pause" & pid=$!
        while ! test -s "$told"; do :; done
        $agt session restore s1 --to @ --path modules; code=$?
        kill $pid; wait $pid 2>/dev/null; exit $code`;
      const done = scriptAlone(repository, script, env);
      expect([round, done.exitCode]).toEqual([round, 0]);
      const last = Number(readFileSync(told, 'utf8').split(' ').at(-2));
      const found = readFileSync(join(session.sandbox, 'outside'), 'utf8');
      expect(['', String(last), String(last + 1)]).toContain(found); // killed in the middle of a write
      expect(readdirSync(modules)).toHaveLength(20);
    }
    rmSync(join(session.sandbox, 'outside'));
  });

  test('agt watch captures what changes in the folder that is in place now', () => {
    agtOk(repository, 'autocommit', 's1', '-q');
    removeModules();
    const log = join(makeTempDir(), 'log');
    const script = `
      $agt watch > "$log" 2>&1 & watch=$!
      while ! grep -q s1 "$log"; do sleep 0.1; done
      tries=0; until $agt undo s1 2>> "$log"; do tries=$((tries + 1)); test $tries -lt 50 || exit 1; sleep 0.1; done
      sleep 1; echo later > "$folder/sandbox/src/c"; tries=0
      until git show agtsessions/s1:sandbox/src/c | grep -q later; do
        tries=$((tries + 1)); test $tries -lt 100 || exit 2; sleep 0.2
      done
      kill $watch; wait $watch; exit 0`;
    let done = { exitCode: null as number | null, stderr: '' };
    const env = { log, folder: session.folder };
    const undo = () => {
      done = scriptAlone(repository, script, env);
    };
    expect([isSwapped(undo), done.exitCode, done.stderr]).toEqual([true, 0, '']);
  });

  test('a moved repository swaps, fs.keep limits what is kept, and a removal leaves nothing', () => {
    agtOk(repository, 'autocommit', 's1', '-q');
    for (const path of ['.agt', '']) renameSync(repository + path, `${repository}-moved${path}`);
    repository = `${repository}-moved`;
    session = sessionOf(repository, 's1');
    modules = join(session.sandbox, 'modules');
    agtOk(repository, 'doctor', '--fix');
    agtOk(repository, 'config', 'set', 'fs.keep', '1');
    for (let round = 0; round < 2; round++) {
      removeModules();
      expect([round, isSwapped(() => inTestBuild('undo', 's1'))]).toEqual([round, round === 0]); // the moment is gone then
    }
    const moments = () =>
      readdirSync(join(`${repository}.agt`, 'frozen')).filter((name) => name.startsWith('moment'));
    expect(moments()).toHaveLength(1);
    expect(findings()).toEqual([]);
    agtOk(repository, 'session', 'remove', 's1');
    expect(moments()).toEqual([]);
  });
});
