/** The stores of folders: forks, disk space, retention, several agts at once, damaged stores. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/config/settings.ts';
import { ownerText } from '../../src/disk/lock-owner.ts';
import { openGit } from '../../src/git/run/git.ts';
import { captureFolder } from '../../src/triggers/autocommit.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const STATE = join(process.env['HOME'] ?? '', '.local/state/agt/folders');
const DAY_MS = 86_400_000;

/** Snapshots a folder without git, with the clock so many days ago. */
async function snapshotDaysAgo(folder: string, days: number, marks: { label?: string; agent?: string } = {}) {
  const access = {
    git: openGit(REAL_GIT, folder, process.env),
    env: process.env,
    readSettings: (local: string | undefined) => readSettings({ global: undefined, local }, process.env),
  };
  const now = new Date(Date.now() - days * DAY_MS);
  return captureFolder(access, { folder: realpathSync(folder), user: undefined }, { now, ...marks });
}

function storeOf(folder: string): string {
  return (JSON.parse(agtOk(folder, 'snapshot', 'status', '--json')) as { store: string }).store;
}

const count = (store: string) => Number(git(store, 'rev-list', '--count', '--grep=Agt-Session', '--all'));

describe('agt gc --folders and agt du --folders', () => {
  const folder = makeTempDir('notes');
  const other = makeTempDir('other');

  beforeAll(async () => {
    for (const [days, content, marks] of [
      [20, 'first', {}],
      [15, 'mine', { label: 'before the clean-up' }],
      [12, 'prompt', { label: 'fix it', agent: 'pi' }],
      [9, 'old', {}],
      [1, 'young', {}],
      [0, 'newest', {}],
    ] as const) {
      write(join(folder, 'a'), `${content}\n`.repeat(2000));
      write(join(folder, 'large'), Buffer.alloc(200_000, content + Math.random()));
      await snapshotDaysAgo(folder, days, marks);
    }
    write(join(other, 'x'), 'x\n');
    await snapshotDaysAgo(other, 30);
  });

  it('shows each folder with its snapshots and its size', () => {
    const { folders, total } = JSON.parse(agtOk(folder, 'du', '--folders', '--json'));
    const mine = folders.find((one: { folder: string }) => one.folder === realpathSync(folder));
    expect(mine).toMatchObject({ snapshots: 6, exists: true });
    expect(total).toBeGreaterThanOrEqual(mine.bytes);
    expect(agtOk('/', 'du', '--folders')).toContain('6 snapshots');
    expect(agtOk(folder, 'du')).toContain('6 snapshots');
  });

  it('deletes what is older than agt.snapshotRetention, but no label of a person and not the newest', () => {
    const store = storeOf(folder);
    const before = (JSON.parse(agtOk(folder, 'snapshot', 'list', '--json')) as { tree: string }[]).map(
      ({ tree }) => tree,
    );
    expect(agtOk('/', 'gc', '--folders', '-n')).toContain('would delete 3 of 6 snapshots');
    expect(count(store)).toBe(6);
    const { folders } = JSON.parse(agtOk('/', 'gc', '--folders', '--prune=now', '--json'));
    const mine = folders.find((one: { store: string }) => one.store === store);
    expect(mine).toMatchObject({ going: 3, error: null });
    expect(mine.bytes).toBeGreaterThan(0);
    expect(count(store)).toBe(3);
    expect(count(storeOf(other))).toBe(1);
    expect(git(store, 'fsck', '--strict')).not.toContain('missing');
    // Trees keep their names, so that an entry in a conversation still leads to its snapshot.
    expect(agtOk(folder, 'snapshot', 'restore', before[1] ?? '')).toContain('verified');
    expect(readFileSync(join(folder, 'a'), 'utf8')).toContain('young');
    const gone = agt(folder, 'snapshot', 'restore', before.at(-1) ?? '');
    expect(gone).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no snapshot') });
    expect(agtOk(folder, 'snapshot', 'restore', 'before the clean-up')).toContain('verified');
    expect(agtOk('/', 'gc', '--folders', '-n')).toBe('nothing to delete');
  });

  it('deletes the copies of repositories inside that no snapshot has any more, and du counted them', async () => {
    const outer = makeTempDir('outer');
    for (const name of ['gone', 'stays']) {
      git(outer, 'init', '-q', name);
      write(join(outer, name, 'a'), randomBytes(1 << 20));
      git(join(outer, name), 'add', 'a');
      git(join(outer, name), 'commit', '-qm', name);
    }
    await snapshotDaysAgo(outer, 30);
    rmSync(join(outer, 'gone'), { recursive: true });
    await snapshotDaysAgo(outer, 20);
    write(join(outer, 'later'), 'x');
    await snapshotDaysAgo(outer, 1);
    const kept = join(storeOf(outer), 'agt/kept-nested');
    expect(readdirSync(kept)).toHaveLength(2);
    const sizes = () =>
      JSON.parse(agtOk('/', 'du', '--folders', '--json')).folders as { folder: string; bytes: number }[];
    const bytes = () => sizes().find((one) => one.folder === realpathSync(outer))?.bytes ?? 0;
    const before = bytes();
    expect(before).toBeGreaterThan(3 << 20);
    agtOk('/', 'gc', '--folders', '-n');
    expect(readdirSync(kept)).toHaveLength(2);
    const { folders } = JSON.parse(agtOk('/', 'gc', '--folders', '--prune=now', '--json'));
    const mine = folders.find((one: { store: string }) => one.store === storeOf(outer));
    expect(mine.bytes).toBeGreaterThan(2 << 20);
    expect(readdirSync(kept)).toHaveLength(1);
    expect(before - bytes()).toBeGreaterThan(2 << 20);
    rmSync(join(outer, 'stays/.git'), { recursive: true });
    expect(agt(outer, 'restore', '@').stderr).toContain('is back');
    expect(git(join(outer, 'stays'), 'log', '--format=%s')).toBe('stays');
  });

  it('does so once a day with --daily, and goes on after a store that it cannot read', () => {
    rmSync(join(STATE, '.tidied'), { force: true });
    const broken = join(STATE, 'broken-000000000000.git');
    mkdirSync(join(broken, 'agt/sessions'), { recursive: true });
    writeFileSync(
      join(broken, 'agt/sessions/broken.json'),
      '{"session_id":"broken","sandbox":"/x","state":"active",' +
        '"branch":"refs/heads/agtsessions/broken","work_branch":"refs/heads/agt/broken","from_commit":"0","working_copy":"attached"}',
    );
    const first = agt('/', 'gc', '--folders', '--daily', '--json');
    expect(first.exitCode).not.toBe(0);
    expect(JSON.parse(first.stdout).folders.length).toBeGreaterThan(2);
    expect(JSON.parse(agtOk('/', 'gc', '--folders', '--daily', '--json')).folders).toEqual([]);
    rmSync(broken, { recursive: true });
  });
});

describe('a fork of a folder with snapshots', () => {
  const project = makeRepository({ '.gitignore': '*.log\n', a: 'one\n' });

  it('is a session of its repository, with the files of the snapshot and the rest as uncommitted changes', () => {
    write(join(project, 'a'), 'two\n');
    write(join(project, 'new'), 'new\n');
    agtOk(project, 'snapshot', '--label', 'half done');
    rmSync(join(project, 'new'));
    const { sandbox } = JSON.parse(agtOk(project, 'fork', '--id', 'try', '--at', 'half done', '--json'));
    expect(git(sandbox, 'status', '--short').split('\n')).toEqual([' M a', '?? new']);
    expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(git(project, 'rev-parse', 'HEAD'));
    const now = JSON.parse(agtOk(project, 'fork', '--json')) as { sandbox: string };
    expect(existsSync(join(now.sandbox, 'new'))).toBe(false);
    expect(agtOk(sandbox, 'session', 'log')).toContain('@{0}');
    expect(git(project, 'fsck', '--strict')).not.toContain('missing');
    const plain = makeTempDir();
    agtOk(plain, 'snapshot');
    expect(agt(plain, 'fork')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('in no git repository'),
    });
  });
});

describe('agt snapshot forget', () => {
  const session = makeRepository({ a: 'one\n' });

  it('deletes all snapshots of one folder, and no file', () => {
    const parent = makeTempDir('forget');
    const [folder, below] = [join(parent, 'notes'), join(parent, 'notes/deep')];
    write(join(below, 'a'), 'one\n');
    agtOk(folder, 'snapshot');
    write(join(below, 'a'), 'two\n');
    agtOk(folder, 'snapshot');
    const store = storeOf(folder);
    const refused = agt(below, 'snapshot', 'forget');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(`error: 2 snapshots of ${realpathSync(folder)} would go`);
    expect(agtOk(folder, 'snapshot', 'forget', '-n')).toBe(
      `would delete 2 snapshots of ${realpathSync(folder)}`,
    );
    // A folder without a store of its own, and the folder above it is not meant.
    expect(agt(parent, 'snapshot', 'forget', 'notes/deep', '--force').stderr).toContain('no snapshots of');
    expect(count(store)).toBe(2);
    const forgotten = JSON.parse(agtOk(below, 'snapshot', 'forget', '--force', '--json'));
    expect(forgotten).toEqual({ folder: realpathSync(folder), store, snapshots: 2, deleted: true });
    expect(existsSync(store)).toBe(false);
    expect(readdirSync(STATE).filter((name) => name.startsWith('.new-'))).toEqual([]);
    expect(readFileSync(join(below, 'a'), 'utf8')).toBe('two\n');
    expect(agtOk(folder, 'snapshot')).toContain('first snapshot');
  });

  it('not those of a folder that was moved to its path', () => {
    const parent = makeTempDir('swapped');
    const [one = '', other = '', aside = ''] = ['one', 'other', 'aside'].map((name) => join(parent, name));
    // agt does not tell a folder from others until it is older than its first file.
    for (const name of ['a', 'b'])
      for (const folder of [one, other]) {
        write(join(folder, name), 'a\n');
        agtOk(folder, 'snapshot');
      }
    renameSync(one, aside);
    renameSync(other, one);
    renameSync(aside, other);
    expect(agtOk(parent, 'snapshot', 'forget', other, '--force')).toContain('deleted 2 snapshots');
    const again = agt(parent, 'snapshot', 'forget', other, '--force');
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there are no snapshots of'),
    });
    expect(agtOk(one, 'snapshot', 'list')).toContain('@{0}');
  });

  it('a folder that is gone, and one in which agt works', async () => {
    const folder = makeTempDir('gone');
    write(join(folder, 'a'), 'one\n');
    agtOk(folder, 'snapshot');
    const store = storeOf(folder);
    const path = realpathSync(folder);
    rmSync(folder, { recursive: true });
    const back = `mkdir -p ${path} && agt -C ${path} snapshot restore @`;
    const refused = agt('/', 'snapshot', 'forget', path).stderr;
    expect(refused).toContain(`\nhint: the folder is gone; to bring it back: ${back}\n`);
    const lock = join(store, 'agt/locks', readdirSync(join(store, 'agt/sessions'))[0]?.slice(0, -5) ?? '');
    mkdirSync(join(store, 'agt/locks'), { recursive: true });
    writeFileSync(lock, ownerText());
    const forgetting = promisify(execFile)(AGT, ['snapshot', 'forget', path, '--force'], { cwd: '/' });
    await sleep(1_000);
    expect(existsSync(store)).toBe(true);
    rmSync(lock);
    expect((await forgetting).stdout).toBe(`deleted 1 snapshot of ${path}\n`);
    expect(existsSync(store)).toBe(false);
  });

  it('no session', () => {
    const { sandbox } = JSON.parse(agtOk(session, 'session', 'new', '--id', 's1', '--json'));
    expect(agt(sandbox, 'snapshot', 'forget', '--force').stderr).toBe(
      'error: you are in the session "s1", which agt snapshot forget does not delete\n' +
        'hint: agt session remove s1\n',
    );
    expect(existsSync(join(sandbox, 'a'))).toBe(true);
  });
});

describe('several agts in one new folder', () => {
  it('make one store, and each captures or says that another one does', async () => {
    const folder = makeTempDir('race');
    for (let i = 0; i < 50; i++) write(join(folder, `f${i}`), `${i}\n`);
    const start = () =>
      new Promise<number | null>((resolve) => {
        spawn(AGT, ['snapshot', '--wait', '60', '-q'], { cwd: folder, stdio: 'ignore' }).on('close', resolve);
      });
    expect(await Promise.all(Array.from({ length: 4 }, start))).toEqual([0, 0, 0, 0]);
    const store = storeOf(folder);
    expect(count(store)).toBe(1);
    expect(
      git(
        store,
        'ls-tree',
        '-r',
        '--name-only',
        `refs/agt/tip/${readdirSync(join(store, 'refs/agt/tip'))[0]}`,
      ).split('\n').length,
    ).toBe(51);
    expect(readdirSync(STATE).filter((name) => name.startsWith('.new-'))).toEqual([]);
  });
});

it('agt doctor names a command that mends the store of a folder', () => {
  const folder = makeTempDir('folder');
  write(join(folder, 'a'), 'one\n');
  agtOk(folder, 'snapshot');
  const store = storeOf(folder);
  const [shadow = ''] = git(store, 'for-each-ref', '--format=%(refname)', 'refs/heads').split('\n');
  git(store, 'update-ref', '-d', shadow);
  const { stdout, exitCode } = agt(folder, 'doctor', '--json');
  const [finding] = JSON.parse(stdout).findings;
  expect([exitCode, finding.problem]).toEqual([1, expect.stringContaining('is missing')]);
  expect(run('sh', ['-c', finding.mend], { cwd: makeTempDir() })).toMatchObject({ exitCode: 0, stderr: '' });
  expect(agtOk(folder, 'doctor')).toContain('nothing is wrong');
});

it('takes the folder that has snapshots already, if a part of it is named', () => {
  for (const folder of [makeTempDir('notes'), makeRepository({ 'deep/a': 'one\n' })]) {
    write(join(folder, 'deep/a'), 'two\n');
    const [whole, part] = [realpathSync(folder), join(realpathSync(folder), 'deep')];
    agtOk(folder, 'snapshot');
    write(join(folder, 'deep/a'), 'three\n');
    const { stdout, stderr } = agt(part, 'snapshot', '.');
    expect(stdout).toContain('captured 1 path');
    expect(stderr).toBe(`note: ${part} is in ${whole}, which agt records as a whole\n`);
  }
});
