/** `agt snapshot` and `agt undo` in a folder without a session, killed between their steps: the same command does its work. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtOk, git, makeRepository, makeTempDir, REAL_GIT, write } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');
const MOST = process.env['AGT_TEST_STEPS'] ?? '4';

/** Runs agt with a state directory of its own; returns the signal that ended it. */
function killable(cwd: string, state: string, command: readonly string[], env: Record<string, string>) {
  const own = { ...process.env, AGT_GIT_PATH: REAL_GIT, XDG_STATE_HOME: state, ...env };
  return spawnSync(process.execPath, [KILLABLE, ...command], { cwd, env: own }).signal;
}

function pointsOf(cwd: string, state: string, command: readonly string[], step?: string): string[] {
  const list = join(makeTempDir('points'), 'list');
  expect(killable(cwd, state, command, { AGT_TEST_LIST_POINTS: list })).toBe(null);
  const all = readFileSync(list, 'utf8').trim().split('\n');
  const wanted = MOST === 'all' ? all.length : Math.min(Number(MOST), all.length);
  const some = Array.from({ length: wanted }, (_, n) => all[Math.floor((n * all.length) / wanted)] as string);
  if (step === undefined) return some;
  expect(all.join()).toContain(step);
  return [...new Set([...some, ...all.filter((point) => point.startsWith(`${step}#`))])];
}

function run(cwd: string, state: string, ...command: string[]): string {
  process.env['XDG_STATE_HOME'] = state;
  try {
    return agtOk(cwd, ...command);
  } finally {
    delete process.env['XDG_STATE_HOME'];
  }
}

function storeIn(state: string): string {
  const folders = join(state, 'agt/folders');
  const [name = ''] = readdirSync(folders).filter((one) => one.endsWith('.git') && !one.startsWith('.'));
  return join(folders, name);
}

function gitAnswer(cwd: string, words: readonly string[]): string {
  return spawnSync(REAL_GIT, words, { cwd, encoding: 'utf8' }).stdout;
}

function isWhole(store: string): void {
  const report = git(store, 'fsck', '--strict', '--no-dangling');
  expect(report.replace(/^notice: .*$/gm, '').trim()).toBe('');
}

test('a first snapshot that was killed: none, or the whole one', { timeout: 120_000 }, () => {
  const project = makeRepository({ a: 'a\n', b: 'b\n' });
  write(join(project, 'untracked'), 'u\n');
  const points = pointsOf(project, makeTempDir('state'), ['snapshot']);
  expect(points.length).toBeGreaterThan(3);
  for (const point of points) {
    const state = makeTempDir('state');
    expect(killable(project, state, ['snapshot'], { AGT_TEST_KILL_AT: point }), point).toBe('SIGKILL');
    run(project, state, 'snapshot');
    expect(run(project, state, 'session', 'cat', '@:untracked'), point).toBe('u');
    isWhole(storeIn(state));
    expect(git(project, 'status', '--short')).toBe('?? untracked');
  }
});

test('an undo that was killed: the same command finishes it, and nothing is lost', {
  timeout: 120_000,
}, () => {
  const folder = makeTempDir('notes');
  const state = makeTempDir('state');
  for (const round of ['one', 'two']) {
    for (const name of ['a', 'b', 'sub/c']) write(join(folder, name), `${round} ${name}\n`);
    if (round === 'two') write(join(folder, 'late'), 'late\n');
    run(folder, state, 'snapshot');
  }
  write(join(folder, 'a'), 'uncaptured\n');
  run(folder, state, 'snapshot', '--label', 'three');
  write(join(folder, 'newest'), 'newest\n');
  const saved = makeTempDir('saved');
  const copy = (from: string, to: string) =>
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  for (const [i, directory] of [folder, state].entries()) copy(directory, join(saved, `${i}`));
  const prepare = () => {
    for (const [i, directory] of [folder, state].entries()) {
      rmSync(directory, { recursive: true });
      copy(join(saved, `${i}`), directory);
    }
  };
  const points = pointsOf(folder, state, ['undo']);
  expect(points.length).toBeGreaterThan(3);
  for (const [turn, point] of points.entries()) {
    prepare();
    expect(killable(folder, state, ['undo'], { AGT_TEST_KILL_AT: point }), point).toBe('SIGKILL');
    if (turn % 2 === 0) run(folder, state, 'undo');
    else expect(run(folder, state, 'doctor', '--fix'), point).toContain('nothing is wrong');
    const store = storeIn(state);
    isWhole(store);
    const kept = git(store, 'log', '--all', '--format=', '--name-only', '--diff-filter=A').split('\n');
    expect(existsSync(join(folder, 'newest')) || kept.includes('sandbox/newest'), point).toBe(true);
    expect(run(folder, state, 'snapshot', 'restore', 'three'), point).toMatch(/verified|nothing to restore/);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('uncaptured\n');
    expect(run(folder, state, 'snapshot', 'status', '--json')).toContain('"unfinished": null');
  }
});

test.each([
  ['rm -rf .git', 'rm -rf .git', 'git directory: all but HEAD is back'],
  [
    'git init after it',
    'rm -rf .git; git init -q; git add b; git commit -qm other',
    'restore: repository set aside',
  ],
])(
  'an undo of %s that was killed: the same command brings all back',
  { timeout: 120_000 },
  (_, loss, step) => {
    const project = makeRepository({ a: 'a\n' });
    git(project, 'branch', 'topic');
    write(join(project, 'a'), 'stashed\n');
    git(project, 'stash', '-q');
    write(join(project, 'b'), 'staged\n');
    git(project, 'add', 'b');
    const state = makeTempDir('state');
    run(project, state, 'snapshot');
    const tell = () =>
      [['for-each-ref'], ['status', '-sb'], ['stash', 'list']].map((words) => gitAnswer(project, words));
    const before = tell();
    const saved = makeTempDir('saved');
    const copy = (from: string, to: string) =>
      cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    spawnSync('sh', ['-c', loss], { cwd: project });
    rmSync(join(project, 'a'));
    for (const [i, directory] of [project, state].entries()) copy(directory, join(saved, `${i}`));
    const prepare = () => {
      for (const [i, directory] of [project, state].entries()) {
        // The folder itself stays: another one at its path would not be it.
        for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
        copy(join(saved, `${i}`), directory);
      }
    };
    const points = pointsOf(project, state, ['undo'], step);
    for (const point of points) {
      prepare();
      expect(killable(project, state, ['undo'], { AGT_TEST_KILL_AT: point }), point).toBe('SIGKILL');
      // Near its end, nothing is left to be done.
      if (tell().join() !== before.join() || !existsSync(join(project, 'a'))) run(project, state, 'undo');
      expect(tell(), point).toEqual(before);
      expect(readFileSync(join(project, 'a'), 'utf8')).toBe('a\n');
      expect(readdirSync(project).sort()).toEqual(['.git', 'a', 'b']);
      isWhole(storeIn(state));
    }
  },
);

test('a forget that was killed: all snapshots or none, and nothing stays on the disk', {
  timeout: 120_000,
}, () => {
  const folder = makeTempDir('notes');
  write(join(folder, 'a'), 'one\n');
  const command = ['snapshot', 'forget', '--force'];
  const first = makeTempDir('state');
  run(folder, first, 'snapshot');
  for (const point of pointsOf(folder, first, command)) {
    const state = makeTempDir('state');
    run(folder, state, 'snapshot');
    expect(killable(folder, state, command, { AGT_TEST_KILL_AT: point }), point).toBe('SIGKILL');
    const { store, snapshots } = JSON.parse(run(folder, state, 'snapshot', 'status', '--json'));
    expect([0, 1], point).toContain(snapshots);
    if (snapshots === 1) {
      isWhole(store);
      run(folder, state, ...command);
    }
    const folders = join(state, 'agt/folders');
    const left = readdirSync(folders).filter((name) => name.startsWith('.new-'));
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const name of left) utimesSync(join(folders, name), old, old);
    run(folder, state, 'snapshot');
    expect(
      readdirSync(folders).filter((name) => name.startsWith('.new-')),
      point,
    ).toEqual([]);
  }
});
