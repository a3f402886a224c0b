/** A clone that was killed is finished, or made again, by the same command. */
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const withPoints = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

function killedAt(point: string) {
  const remote = makeRepository({ 'README.md': 'hello\n', 'src/x': 'x\n' });
  const parent = makeTempDir('clone');
  run(process.execPath, [withPoints, 'clone', remote], {
    cwd: parent,
    env: { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT },
  });
  const bare = join(parent, 'project.git');
  return { parent, bare, primary: join(parent, 'project/main'), clone: () => agt(parent, 'clone', remote) };
}

function expectWhole({ parent, bare, primary }: ReturnType<typeof killedAt>): void {
  expect(readdirSync(parent).sort()).toEqual(['project', 'project.git']);
  expect(readdirSync(join(parent, 'project')).sort()).toEqual(['.agt', 'main', 'sessions']);
  expect(git(primary, 'status', '--porcelain')).toBe('');
  expect(readFileSync(join(primary, 'src/x'), 'utf8')).toBe('x\n');
  expect(git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  expect(agt(primary, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
  agtOk(primary, 'session', 'new');
}

test.each(['state file: written#1', 'state file: written#2', 'clone: git cloned#1', 'clone: area made#1'])(
  'killed at "%s"',
  (point) => {
    const killed = killedAt(point);
    expect(readdirSync(killed.parent)).not.toEqual(['project', 'project.git']);
    expect(killed.clone().stderr).not.toContain('error');
    expectWhole(killed);
  },
);

test('killed at its last step: what somebody did there since stays', () => {
  const killed = killedAt('clone: checked out#1');
  appendFileSync(join(killed.primary, 'README.md'), 'mine\n');
  const doctor = agt(killed.primary, 'doctor');
  expect(doctor.stdout).toMatch(/agt did not finish cloning it\n +fix: agt clone \S+project --path \S+\n/);
  expect(doctor.exitCode).toBe(1);
  expect(killed.clone().exitCode).toBe(0);
  expect(readFileSync(join(killed.primary, 'README.md'), 'utf8')).toBe('hello\nmine\n');
  git(killed.primary, 'checkout', 'README.md');
  expectWhole(killed);
});

test('killed while git checked out: the checkout is made again', () => {
  const killed = killedAt('clone: checked out#1');
  // git writes this before it checks out, and deletes it afterwards.
  write(join(killed.bare, 'worktrees/main/locked'), 'initializing');
  rmSync(join(killed.primary, 'src'), { recursive: true });
  rmSync(join(killed.bare, 'worktrees/main/index'));
  expect(killed.clone().exitCode).toBe(0);
  expectWhole(killed);
});

test('killed while git cloned: what somebody has put there since stays', () => {
  const killed = killedAt('state file: written#2');
  for (const path of [killed.bare, join(killed.parent, 'project')]) rmSync(path, { recursive: true });
  git(killed.parent, 'clone', '-q', '--bare', makeRepository({ mine: 'mine\n' }), killed.bare);
  const again = killed.clone();
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toMatch(/project\.git" already exists/);
  expect(git(killed.bare, 'show', 'HEAD:mine')).toBe('mine');
});

test('a complete clone is not replaced', () => {
  const killed = killedAt('nowhere');
  expectWhole(killed);
  expect(killed.clone().stderr).toContain('already exists and is not an empty directory');
  expect(existsSync(killed.primary)).toBe(true);
});
