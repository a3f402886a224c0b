/**
 * A swap happens only where nobody works in the folder, all of it is captured, and there is room. Otherwise agt restores in
 * place, or changes nothing.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scriptAlone, tryAlone } from '../harness/alone.ts';
import { fillDisk } from '../harness/disks.ts';
import { sessionOf, snapshotFolder, type TestSession } from '../harness/session.ts';
import { AGT, agtOk, git, makeTempDir, run, write } from '../harness/world.ts';
import { FILES, fill, SwapStage, swapProblem, TITLE } from './swap-stage.ts';

const NOTHING = 'something is in the way, and swaps if not';

describe.skipIf(swapProblem !== undefined)(TITLE, () => {
  const stage = new SwapStage();

  beforeAll(() => fill(stage.modules, 'first', FILES));

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
    const end = prepare(stage.session);
    try {
      agtOk(stage.repository, 'autocommit', 's1', '-q');
      stage.removeModules();
      const env = { sandbox: stage.session.sandbox, repository: stage.repository, dir: makeTempDir() };
      const restore = () => {
        const done = scriptAlone(stage.repository, `${script}$agt undo s1`, env);
        expect([done.exitCode, done.stderr]).toEqual([0, '']);
      };
      expect(stage.isSwapped(restore)).toBe(reason === NOTHING);
      expect(readdirSync(stage.modules)).toHaveLength(20);
    } finally {
      end?.();
    }
  });

  test('agt restores in place where it does not see the processes outside of its namespace', () => {
    agtOk(stage.repository, 'autocommit', 's1', '-q');
    stage.removeModules();
    const words = ['--pid', '--fork', '--mount-proc', AGT, 'undo', 's1'];
    const undo = () => expect(run('unshare', words, { cwd: stage.repository }).exitCode).toBe(0);
    expect(stage.isSwapped(undo)).toBe(false);
    expect(readdirSync(stage.modules)).toHaveLength(20);
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
      agtOk(stage.repository, 'autocommit', 's1', '-q');
      stage.removeModules();
      const told = join(makeTempDir(), 'told');
      const env = {
        node: process.execPath,
        writer,
        folder: stage.session.folder,
        told,
        pause: String(round),
      };
      const script = `
        "$node" -e "$writer" "$folder" "$told" "$pause" & pid=$!
        while ! test -s "$told"; do :; done
        $agt session restore s1 --to @ --path modules; code=$?
        kill $pid; wait $pid 2>/dev/null; exit $code`;
      const done = scriptAlone(stage.repository, script, env);
      expect([round, done.exitCode, done.stderr]).toEqual([round, 0, '']);
      const last = Number(readFileSync(told, 'utf8').split(' ').at(-2));
      const found = readFileSync(join(stage.session.sandbox, 'outside'), 'utf8');
      expect(['', String(last), String(last + 1)]).toContain(found); // killed in the middle of a write
      expect(readdirSync(stage.modules)).toHaveLength(20);
    }
    rmSync(join(stage.session.sandbox, 'outside'));
  });

  test('agt watch captures what changes in the folder that is in place now', () => {
    agtOk(stage.repository, 'autocommit', 's1', '-q');
    stage.removeModules();
    const log = join(makeTempDir(), 'log');
    const script = `
      : > "$log"; $agt watch >> "$log" 2>&1 & watch=$!
      while ! grep -q s1 "$log"; do sleep 0.1; done
      tries=0; until $agt undo s1 2>> "$log"; do tries=$((tries + 1)); test $tries -lt 50 || exit 1; sleep 0.1; done
      sleep 1; echo later > "$folder/sandbox/src/c"; tries=0
      until git show agtsessions/s1:sandbox/src/c | grep -q later; do
        tries=$((tries + 1)); test $tries -lt 100 || exit 2; sleep 0.2
      done
      kill $watch; wait $watch; exit 0`;
    let done = { exitCode: null as number | null, stderr: '' };
    const env = { log, folder: stage.session.folder };
    const undo = () => {
      done = scriptAlone(stage.repository, script, env);
    };
    expect([stage.isSwapped(undo), done.exitCode, done.stderr]).toEqual([true, 0, '']);
  });

  test('of two at once, one has the session and the other one says so', () => {
    agtOk(stage.repository, 'autocommit', 's1', '-q');
    const wanted = snapshotFolder(stage.session.folder);
    stage.removeModules();
    const script =
      '$agt undo s1 & one=$!; $agt session restore s1 --to @ & two=$!; wait $one; a=$?; wait $two; echo $a $?';
    const { stdout, stderr } = scriptAlone(stage.repository, script);
    expect(stdout).toMatch(/^s1: restored \d+ paths, verified\n[\s\S]*\n(0 75|75 0|0 0)\n$/);
    if (!stdout.endsWith('0 0\n')) expect(stderr).toContain('error: another agt is using session "s1"\n');
    expect(snapshotFolder(stage.session.folder)).toEqual(wanted);
    expect(stage.findings()).toEqual([]);
  });

  test('a moved repository swaps, fs.keep limits what is kept, and a removal leaves nothing', () => {
    agtOk(stage.repository, 'autocommit', 's1', '-q');
    for (const path of ['.agt', '']) renameSync(stage.repository + path, `${stage.repository}-moved${path}`);
    stage.repository = `${stage.repository}-moved`;
    stage.session = sessionOf(stage.repository, 's1');
    agtOk(stage.repository, 'doctor', '--fix');
    agtOk(stage.repository, 'config', 'set', 'fs.keep', '1');
    for (let round = 0; round < 2; round++) {
      stage.removeModules();
      expect([round, stage.isSwapped(() => stage.inTestBuild('undo', 's1'))]).toEqual([round, round === 0]); // the moment is gone then
    }
    const moments = () =>
      readdirSync(join(`${stage.repository}.agt`, 'frozen')).filter((name) => name.startsWith('moment'));
    expect(moments()).toHaveLength(1);
    expect(stage.findings()).toEqual([]);
    agtOk(stage.repository, 'session', 'remove', 's1');
    expect(moments()).toEqual([]);
  });
});

describe.skipIf(swapProblem !== undefined)(`${TITLE}, a disk without room`, () => {
  const stage = new SwapStage();

  beforeAll(() => {
    agtOk(stage.repository, 'config', 'set', 'fs.keep', '2');
    fill(stage.modules, 'first', FILES);
  });

  test.each<[string, boolean, boolean]>([
    ['for data', false, false],
    ['for data, after a capture', true, false],
    ['for anything', true, true],
  ])('%s: nothing is lost, and undo works when there is room', (_, isCaptured, small) => {
    agtOk(stage.repository, 'autocommit', 's1', '-q');
    const wanted = snapshotFolder(stage.session.folder);
    stage.removeModules();
    write(join(stage.session.sandbox, 'written'), 'before\n');
    if (isCaptured) agtOk(stage.repository, 'autocommit', 's1', '-q');
    const empty = fillDisk(stage.disk, small);
    const full = tryAlone(stage.repository, ['undo', 's1']);
    empty();
    const noRoom = expect.stringMatching(/^error: (not enough space in|write|open) \S+: .*\nhint: .*\n/);
    expect(full).toMatchObject({ exitCode: 1, stderr: noRoom });
    stage.inTestBuild('undo', 's1');
    expect(snapshotFolder(stage.session.folder)).toEqual(wanted);
    const held = ['@{1}', '@{2}'].filter(
      (back) => git(stage.repository, 'ls-tree', `agtsessions/s1${back}:sandbox`, 'written') !== '',
    );
    expect(held).not.toEqual([]);
    expect(stage.findings()).toEqual([]);
  });
});
