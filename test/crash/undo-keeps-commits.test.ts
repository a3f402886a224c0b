/** An undo that leaves the files that a person has committed, killed between its steps: they stay, and it is finished. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWithCommits } from '../cli/after-step.ts';
import { agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

function undo(cwd: string, env: Record<string, string>) {
  const own = { ...process.env, AGT_GIT_PATH: REAL_GIT, ...env };
  return spawnSync(process.execPath, [KILLABLE, 'undo'], { cwd, env: own }).signal;
}

/** The committed file has an edit on top, which goes. */
function edited(): string {
  const folder = folderWithCommits();
  write(join(folder, 'mine'), 'an edit\n');
  return folder;
}

/** HEAD comes back to main, which has the committed file, and no snapshot has that. */
function onOther(): string {
  const folder = makeRepository({ a: 'start\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('Make a topic');
  agent.begins('1');
  git(folder, 'switch', '-qc', 'topic');
  agent.ends('1');
  agent.stops();
  git(folder, 'switch', '-q', 'main');
  write(join(folder, 'mine'), 'mine\n');
  git(folder, 'add', 'mine');
  git(folder, 'commit', '-qm', 'mine');
  git(folder, 'switch', '-q', 'topic');
  return folder;
}

test('an undo that brings HEAD back to a branch that has gone on', { timeout: 120_000 }, () => {
  const points = pointsOf(onOther).filter((point, i) => /^restore: (refs|index)/.test(point) || i % 5 === 0);
  expect(points).toContain('restore: refs moved#1');
  for (const point of points) {
    const folder = onOther();
    expect(undo(folder, { AGT_TEST_KILL_AT: point }), point).toBe('SIGKILL');
    // Killed at its last steps, it has nothing to finish.
    expect(agt(folder, 'undo').stderr, point).toMatch(
      /^(warning: .*\n|note: left as your branch has it, .*\n)*(error: nothing to undo: .*\nhint: .*\n)?$/,
    );
    const branch = git(folder, 'branch', '--show-current');
    expect([point, branch]).toEqual([point, 'main']);
    expect([point, git(folder, 'status', '--porcelain')]).toEqual([point, '']);
    expect([point, existsSync(join(folder, 'mine'))]).toEqual([point, branch === 'main']);
  }
});

function pointsOf(prepare: () => string): string[] {
  const list = join(makeTempDir('points'), 'list');
  expect(undo(prepare(), { AGT_TEST_LIST_POINTS: list })).toBe(null);
  return readFileSync(list, 'utf8').trim().split('\n');
}

test.each([
  ['of the step of the agent', folderWithCommits, false],
  ['of an edit of a committed file', edited, true],
])('an undo %s', { timeout: 120_000 }, (_, prepare, hasB) => {
  const points = pointsOf(prepare);
  const some = points.filter((_, i) => i % Math.ceil(points.length / 8) === 0);
  expect(some.length).toBeGreaterThan(3);
  for (const [i, point] of some.entries()) {
    const folder = prepare();
    const main = git(folder, 'rev-parse', 'HEAD');
    expect(undo(folder, { AGT_TEST_KILL_AT: point }), point).toBe('SIGKILL');
    agtOk(folder, ...(i % 2 === 0 ? ['undo'] : ['doctor', '--fix']));
    // Killed before it knew its target, an undo has nothing to finish.
    const isBegun = i % 2 === 0 || !readFileSync(join(folder, 'mine'), 'utf8').startsWith('an edit');
    expect([point, git(folder, 'rev-parse', 'HEAD'), existsSync(join(folder, 'mine'))]).toEqual([
      point,
      main,
      true,
    ]);
    if (isBegun) expect([point, readFileSync(join(folder, 'mine'), 'utf8')]).toEqual([point, 'mine\n']);
    if (i % 2 === 0) expect([point, existsSync(join(folder, 'b'))]).toEqual([point, hasB]);
  }
});
