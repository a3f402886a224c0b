/**
 * Nothing that changes goes unseen, whatever it does to times, sizes and inodes; and nothing is taken for what it is not.
 * After each change the captured tree is compared with the disk, file by file.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CachedFiles, COLUMNS } from '../../../src/autocommit/stat-cache/cached-files.ts';
import {
  readStatCache,
  type StatCache,
  writeStatCache,
} from '../../../src/autocommit/stat-cache/stat-cache.ts';
import { autocommit, makeSession, onDisk, snapshotTree, type TestSession } from '../../harness/session.ts';
import { AGT, agtOk, git, REAL_GIT, write } from '../../harness/world.ts';

function expectCaptured(session: TestSession): void {
  expect(snapshotTree(session, 'agtsessions/s1')).toEqual(onDisk(session));
  expect(autocommit(session).outcome).toBe('unchanged');
}

const OLD = new Date('2001-02-03T04:05:06Z');
const FUTURE = new Date('2099-01-01T00:00:00Z');

function shell(cwd: string, command: string): void {
  execFileSync('sh', ['-ec', command], { cwd });
}

/** Something goes on until the capture has ended; then what is captured is one of the states that there were. */
async function during(
  session: TestSession,
  action: (round: number, pid: number | undefined) => void,
): Promise<number | null> {
  const child = spawn(AGT, ['autocommit', '--session-id', 's1'], {
    cwd: session.repository,
    env: { ...process.env, AGT_GIT_PATH: REAL_GIT },
    stdio: 'ignore',
  });
  let code: number | null | undefined;
  child.on('close', (status) => {
    code = status;
  });
  for (let round = 0; code === undefined; round++) {
    action(round, child.pid);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return code;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const MIB = 1024 * 1024;

/** Everything is of the same size and age, so that nothing but the content tells one from another. */
function makeTwins(): TestSession {
  const session = makeSession({
    'a.txt': 'aaaa\n',
    'b.txt': 'bbbb\n',
    'dir/a.txt': 'cccc\n',
    'dir/sub/b.txt': 'dddd\n',
    'dir2/a.txt': 'eeee\n',
    'dir2/sub/b.txt': 'ffff\n',
    'run.sh': '#!/x\n',
  });
  symlinkSync('a.txt', join(session.sandbox, 'link'));
  linkSync(join(session.sandbox, 'b.txt'), join(session.sandbox, 'hard'));
  for (const path of [
    'a.txt',
    'b.txt',
    'dir/a.txt',
    'dir/sub/b.txt',
    'dir2/a.txt',
    'dir2/sub/b.txt',
    'run.sh',
  ])
    utimesSync(join(session.sandbox, path), OLD, OLD);
  autocommit(session);
  return session;
}

describe('every kind of change', () => {
  const CHANGES: [what: string, change: string][] = [
    ['a file moved over another', 'mv a.txt b.txt'],
    ['a file moved into a directory', 'mv a.txt dir/'],
    ['two files swapped', 'mv a.txt x && mv b.txt a.txt && mv x b.txt'],
    ['a directory moved', 'mv dir moved'],
    ['a directory moved into another', 'mv dir dir2/'],
    ['two directories swapped', 'mv dir x && mv dir2 dir && mv x dir2'],
    ['two directories swapped below', 'mv dir/sub x && mv dir2/sub dir/sub && mv x dir2/sub'],
    ['cp -p over a file', 'cp -p a.txt b.txt'],
    ['cp -a of a tree over another', 'cp -a dir/. dir2/'],
    ['tar -x of old files', 'tar -cf t.tar -C dir a.txt sub && tar -xf t.tar -C dir2'],
    ['touch -d into the past', 'printf "AAAA\\n" >a.txt && touch -d 1990-01-01 a.txt'],
    ['touch -d into the future', 'printf "AAAA\\n" >a.txt && touch -d 2099-01-01 a.txt'],
    ['touch -d to the same time', 'printf "AAAA\\n" >a.txt && touch -d 2001-02-03T04:05:06Z a.txt'],
    ['touch -r of another', 'printf "AAAA\\n" >a.txt && touch -r b.txt a.txt'],
    ['sed -i with the time kept', 'sed -i s/a/A/ a.txt && touch -d 2001-02-03T04:05:06Z a.txt'],
    ['chmod +x', 'chmod +x run.sh'],
    ['chmod that a tree does not show', 'chmod 600 run.sh'],
    ['a link to something else of the same length', 'ln -sfn b.txt link'],
    ['a link replaced by a file', 'rm link && printf a.txt >link'],
    ['a link replaced by a directory', 'rm link && mkdir link && echo x >link/x'],
    ['a file replaced by a link', 'ln -sf a.txt b.txt'],
    ['a file replaced by a directory', 'rm a.txt && mkdir a.txt && echo x >a.txt/x'],
    ['a directory replaced by a file', 'rm -r dir && echo x >dir'],
    ['a directory replaced by a link to one', 'rm -r dir && ln -s dir2 dir'],
    ['another case of a file', 'mv a.txt A.TXT'],
    ['another case of a directory', 'mv dir DIR'],
    ['both cases', 'cp -p a.txt A.txt && echo x >A.txt'],
    ['one name of two of a file written to', 'printf "BBBB\\n" >hard && touch -d 2001-02-03T04:05:06Z hard'],
    ['a hard link made', 'ln a.txt c.txt'],
    ['a hard link in the place of another file', 'ln -f a.txt b.txt'],
    ['one of two hard links replaced', 'cp hard x && echo y >>x && mv x hard'],
    [
      'a file with holes',
      'truncate -s 3M holes && printf x | dd of=holes bs=1 seek=1000000 conv=notrunc status=none',
    ],
    ['a hole punched', 'truncate -s 0 a.txt && truncate -s 5 a.txt && touch -d 2001-02-03T04:05:06Z a.txt'],
    ['removed and made again', 'cp -p a.txt x && rm a.txt && mv x a.txt && printf "AAAA\\n" >a.txt'],
  ];

  test.for(CHANGES)('%s', ([_what, change]) => {
    const session = makeTwins();
    shell(session.sandbox, change);
    autocommit(session);
    expectCaptured(session);
  });

  test('rsync -a of old files', ({ skip }) => {
    skip(spawnSync('rsync', ['--version']).status !== 0, 'there is no rsync(1)');
    const session = makeTwins();
    shell(session.sandbox, 'rsync -a --ignore-times dir/ dir2/');
    autocommit(session);
    expectCaptured(session);
  });

  test('two changes of one file between two captures, and one that is taken back', () => {
    const session = makeTwins();
    const path = join(session.sandbox, 'a.txt');
    writeFileSync(path, 'AAAA\n');
    writeFileSync(path, 'aaaa\n');
    utimesSync(path, OLD, OLD);
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', changes: [] });
    expectCaptured(session);
  });
});

describe('clocks', () => {
  const manifestPath = (session: TestSession) => join(session.repository, '.git/agt/scan/s1');

  function rewrite(session: TestSession, change: (manifest: StatCache) => StatCache): void {
    const manifest = readStatCache(manifestPath(session));
    if (manifest === undefined) throw new Error('no manifest');
    writeStatCache(manifestPath(session), change(manifest));
  }

  /** As if the last scan had seen the file just as it is now, but for its content. */
  function pretendSeen(session: TestSession, path: string, clock: (ctimeMs: number) => number): void {
    const stat = lstatSync(join(session.folder, path));
    rewrite(session, (manifest) => {
      const data = Float64Array.from(manifest.files.columns.data);
      const row = manifest.files.find(path);
      for (const [i, column] of COLUMNS.entries()) data[row * COLUMNS.length + i] = stat[column];
      const files = new CachedFiles({ ...manifest.files.columns, data });
      return { ...manifest, clock: clock(stat.ctimeMs), files };
    });
  }

  test('an edit within the clock tick of the last scan is seen; what is older is trusted', () => {
    const session = makeTwins();
    const path = join(session.sandbox, 'a.txt');
    writeFileSync(path, 'AAAA\n');
    // The control: were the tick not looked at, this is what would be missed.
    pretendSeen(session, 'sandbox/a.txt', (ctime) => ctime + 1);
    expect(autocommit(session).outcome).toBe('unchanged');
    pretendSeen(session, 'sandbox/a.txt', (ctime) => ctime);
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/a.txt', kind: 'changed' }]);
    expectCaptured(session);
  });

  test('the tick of the last scan also counts for what --siblings did not look at', () => {
    const session = makeTwins();
    writeFileSync(join(session.sandbox, 'a.txt'), 'AAAA\n');
    pretendSeen(session, 'sandbox/a.txt', (ctime) => ctime);
    write(join(session.folder, 'xdg/log'), 'x');
    autocommit(session, '--siblings', 'xdg');
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/a.txt', kind: 'changed' }]);
    expectCaptured(session);
  });

  test('a clock set back: the last scan lies in the future', () => {
    const session = makeTwins();
    rewrite(session, (manifest) => ({ ...manifest, clock: FUTURE.getTime() }));
    writeFileSync(join(session.sandbox, 'a.txt'), 'AAAA\n');
    utimesSync(join(session.sandbox, 'a.txt'), OLD, OLD);
    unlinkSync(join(session.sandbox, 'b.txt'));
    autocommit(session);
    expectCaptured(session);
    expect(readStatCache(manifestPath(session))?.clock).toBeLessThan(FUTURE.getTime());
  });

  test('a clock set back: files are from the future, and change there', () => {
    const session = makeTwins();
    const path = join(session.sandbox, 'a.txt');
    for (const content of ['AAAA\n', 'AaAa\n', 'aAaA\n']) {
      writeFileSync(path, content);
      utimesSync(path, FUTURE, FUTURE);
      autocommit(session);
      expectCaptured(session);
    }
  });

  test('a lost scan manifest loses no deletion that happens before it is whole again', () => {
    const session = makeTwins();
    write(join(session.folder, 'xdg/log'), 'x');
    autocommit(session);
    rmSync(manifestPath(session));
    expect(autocommit(session, '--siblings', 'sandbox').outcome).toBe('unchanged');
    unlinkSync(join(session.folder, 'xdg/log'));
    expect(autocommit(session).changes).toContainEqual({ path: 'xdg/log', kind: 'deleted' });
    expectCaptured(session);
  });

  test('whoever was killed while it asked for the time is tidied up after', () => {
    const session = makeTwins();
    writeFileSync(join(session.folder, '.agt-clock-4000000'), '');
    expect(autocommit(session).outcome).toBe('unchanged');
    expect(readdirSync(session.folder).sort()).toEqual(['config', 'sandbox', 'xdg']);
  });

  test('a lost or damaged timestamp costs nothing', () => {
    const session = makeTwins();
    const timestamp = join(session.repository, '.git/agt/timestamps/s1');
    for (const content of ['', 'yesterday\n', '\x00\xff']) {
      writeFileSync(timestamp, content);
      expect(agtOk(session.repository, 'status')).toContain('s1');
      expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', warnings: [] });
    }
    rmSync(timestamp);
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', warnings: [] });
  });
});

describe('while it is read', { timeout: 120_000 }, () => {
  test('a file that grows and shrinks all the time: whole or not at all, and then it says so', async () => {
    const session = makeSession();
    const path = join(session.sandbox, 'busy');
    const sizes = [10, 5_000_000, 100_000];
    const content = sizes.map((size, i) => Buffer.alloc(size, 48 + i));
    let last: string | undefined;
    for (let attempt = 0; attempt < 5; attempt++) {
      const code = await during(session, (round) => {
        writeFileSync(path, content[round % 3] as Buffer);
        if (round % 2 === 0) truncateSync(path, 7);
      });
      expect(code === 0 || code === 1).toBe(true);
      const now = snapshotTree(session, 'agtsessions/s1').get('sandbox/busy');
      // What could not be captured stays as it last was.
      if (code === 1) expect(now).toBe(last);
      last = now;
    }
    expect(git(session.repository, 'fsck', '--strict', '--no-dangling')).toBe('');
    autocommit(session);
    expectCaptured(session);
  });

  test('files and directories that come and go', async () => {
    const session = makeSession();
    for (let i = 0; i < 300; i++) write(join(session.sandbox, `d${i % 30}/f${i}`), `${i}\n`);
    const code = await during(session, (round) => {
      const dir = join(session.sandbox, `d${round % 30}`);
      rmSync(dir, { recursive: true, force: true });
      if (round % 3 === 0) mkdirSync(dir);
      else if (round % 3 === 1) writeFileSync(dir, 'a file now');
      else symlinkSync('nowhere', dir);
    });
    expect(code === 0 || code === 1).toBe(true);
    autocommit(session);
    expectCaptured(session);
    expect(git(session.repository, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  test('a log that is written to all the time, renamed and begun anew', async () => {
    const session = makeSession();
    const log = join(session.folder, 'xdg/log');
    writeFileSync(log, '');
    await during(session, (round) => {
      appendFileSync(log, `${round}\n`);
      if (round % 50 === 0) renameSync(log, `${log}.1`);
    });
    autocommit(session);
    expectCaptured(session);
  });
});

describe('size', () => {
  test('a sparse file of 300 MB is captured whole, in less memory than that', { timeout: 120_000 }, async ({
    skip,
  }) => {
    skip(process.platform !== 'linux', 'memory is read from /proc');
    const session = makeSession();
    const path = join(session.sandbox, 'sparse');
    writeFileSync(path, 'begin');
    truncateSync(path, 300 * MIB);
    appendFileSync(path, 'end');
    let most = 0;
    const code = await during(session, (_, pid) => {
      const status = readIfThere(`/proc/${pid}/status`);
      most = Math.max(most, Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1] ?? 0) * 1024);
    });
    expect(code).toBe(0);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(200 * MIB);
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1:sandbox/sparse')).toBe(
      git(session.sandbox, 'hash-object', '--no-filters', 'sparse'),
    );
  });

  test('a path of 4,000 bytes', () => {
    const session = makeSession();
    const parts = Array.from({ length: 20 }, (_, i) => String(i % 10).repeat(180));
    // Longer than a path may be for one call: made step by step.
    shell(session.sandbox, `for d in ${parts.join(' ')}; do mkdir $d && cd $d; done; echo deep >file`);
    chmodSync(session.sandbox, 0o755);
    autocommit(session);
    const captured = snapshotTree(session, 'agtsessions/s1').get(`sandbox/${parts.join('/')}/file`);
    expect(captured).toBe('100644 deep\n');
    expect(readFileSync(join(session.sandbox, 'README.md'), 'utf8')).toBe('hello\n');
  });
});
