import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agtAlone, scriptAlone } from '../harness/alone.ts';
import { autocommit, snapshotFolder } from '../harness/session.ts';
import { NO_STRACE, strace, straceWorks } from '../harness/strace.ts';
import { agtOk, git, makeTempDir, REAL_GIT, write } from '../harness/world.ts';
import { FILES, fill, SwapStage, swapProblem, TITLE } from './swap-stage.ts';

describe.skipIf(swapProblem !== undefined)(TITLE, () => {
  const stage = new SwapStage();

  test('undo brings back what was deleted, and keeps everything else as it is', (context) => {
    const { sandbox, folder } = stage.session;
    fill(stage.modules, 'first', FILES);
    symlinkSync('f0', join(stage.modules, 'link'));
    mkdirSync(join(stage.modules, 'nothing'), { mode: 0o700 });
    writeFileSync(Buffer.from(`${stage.modules}/d1/\xff`, 'latin1'), 'odd\n');
    write(join(sandbox, 'src/gone'), 'gone\n');
    agtOk(stage.repository, 'autocommit', 's1', '-q');
    const file = join(stage.modules, 'd3/f3');
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
    agtOk(stage.repository, 'autocommit', 's1', '-q');
    const wanted = snapshotFolder(folder);
    const index = git(sandbox, 'ls-files', '--stage');
    stage.removeModules();

    const undo = () =>
      expect(agtAlone(stage.repository, 'undo', 's1')).toMatch(/^s1: restored \d+ paths, verified\n/);
    expect(stage.isSwapped(undo)).toBe(true);
    expect(snapshotFolder(folder)).toEqual(wanted);
    expect(statSync(file)).toMatchObject({ ino, mtimeMs });
    expect(statSync(join(sandbox, 'src/d')).mtimeMs).toBe(1_000_000_000_000);
    for (const path of ['a.txt', 'src/deep'])
      expect([path, statSync(join(sandbox, path)).uid]).toEqual([path, 1234]);
    expect(statSync(join(sandbox, 'src/new')).nlink).toBe(2);
    expect(lstatSync(join(folder, '.agtignore')).mode & 0o777).toBe(0o640);
    expect(git(sandbox, 'ls-files', '--stage')).toBe(index);

    const { outcome, read } = autocommit(stage.session);
    expect([outcome, read]).toEqual(['unchanged', 0]);
    expect(stage.isSwapped(() => agtAlone(stage.repository, 'redo', 's1'))).toBe(true);
    expect([existsSync(stage.modules), stage.findings()]).toEqual([false, []]);
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
      scriptAlone(
        stage.repository,
        'strace -f -o "$log" -e trace=/stat,open,openat,rename $agt undo s1',
        env,
      );
    expect(stage.isSwapped(() => expect(undo()).toMatchObject({ exitCode: 0, stderr: '' }))).toBe(true);
    const calls = readFileSync(env.log, 'latin1').split('\n');
    const inPlace = calls.findIndex((call) => /rename\(.*agt-making/.test(call));
    expect(inPlace).toBeGreaterThan(0);
    expect(calls.slice(inPlace + 1).filter((call) => /\bd\d+\/f\d+"/.test(call))).toEqual([]);
    expect(autocommit(stage.session)).toMatchObject({ outcome: 'unchanged', read: 0 });
  });

  test('files that no frozen moment has come back with the directory that one has', () => {
    const late = join(stage.modules, 'd7/late');
    write(late, 'late\n');
    linkSync(join(stage.modules, 'd8/f8'), join(stage.modules, 'd8/linked'));
    chmodSync(join(stage.modules, 'd9/f9'), 0o600);
    autocommit(stage.session);
    const wanted = snapshotFolder(stage.session.folder);
    stage.removeModules();
    const undo = () =>
      expect(agtAlone(stage.repository, 'undo', 's1')).toMatch(/^s1: restored \d+ paths, verified\n/);
    expect(stage.isSwapped(undo)).toBe(true);
    expect(snapshotFolder(stage.session.folder)).toEqual(wanted);
    expect(autocommit(stage.session)).toMatchObject({ outcome: 'unchanged', read: 0 });
    agtAlone(stage.repository, 'redo', 's1');
  });

  test('files that replace others get the present time, files that come back keep theirs', () => {
    fill(stage.modules, 'one', 300);
    const { commit } = autocommit(stage.session);
    fill(stage.modules, 'two', 300);
    rmSync(join(stage.modules, 'd5/f5'));
    autocommit(stage.session);
    const [replaced, back] = ['d4/f4', 'd5/f5'].map((path) => join(stage.modules, path)) as [string, string];
    const { mtimeMs } = statSync(replaced);
    const restore = () =>
      stage.inTestBuild('session', 'restore', 's1', '--to', commit as string, '--path', 'modules');
    expect(stage.isSwapped(restore)).toBe(true);
    expect([readFileSync(replaced, 'utf8'), readFileSync(back, 'utf8')]).toEqual(['one 4\n', 'one 5\n']);
    expect(statSync(replaced).mtimeMs).toBeGreaterThan(mtimeMs);
    expect(statSync(back).mtimeMs).toBeLessThan(mtimeMs);
    expect(autocommit(stage.session).read).toBe(0);
  });
});
