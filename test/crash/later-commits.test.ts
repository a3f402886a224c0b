/** A session whose sandbox is gone comes back with the commits that no snapshot had, also after agt was killed. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

/** In the last snapshot `untracked` is younger than its commit, and `edited` has no commit. */
function committedSince() {
  const session = makeSession({ kept: '1\n', edited: '1\n', deleted: '1\n' });
  const { sandbox } = session;
  write(join(sandbox, 'edited'), '2\n');
  write(join(sandbox, 'untracked'), 'old\n');
  agtOk(sandbox, 'autocommit');
  write(join(sandbox, 'untracked'), 'new\n');
  git(sandbox, 'add', 'untracked');
  git(sandbox, 'commit', '-qm', 'one');
  write(join(sandbox, 'a\nb "c"'), 'odd\n');
  git(sandbox, 'add', '-A', '--', 'a*');
  git(sandbox, 'rm', '-q', 'deleted');
  git(sandbox, 'commit', '-qm', 'two');
  const tip = git(sandbox, 'rev-parse', 'HEAD');
  write(join(session.folder, 'config/settings'), 'of the agent\n');
  rmSync(sandbox, { recursive: true });
  const check = () => {
    expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(tip);
    expect(git(sandbox, 'status', '--porcelain')).toBe(' M edited');
    expect(readFileSync(join(sandbox, 'untracked'), 'utf8')).toBe('new\n');
    expect(existsSync(join(sandbox, 'deleted'))).toBe(false);
    expect(readFileSync(join(sandbox, 'a\nb "c"'), 'utf8')).toBe('odd\n');
  };
  return { ...session, tip, check };
}

test('a restore, and an undo of the removal, bring the commits back; an undo takes them away again', () => {
  const { repository, sandbox, tip, check } = committedSince();
  const words = `branch agt/s1 with 2 commits made after that snapshot, to ${tip.slice(0, 10)}`;
  expect(agtOk(repository, 'restore', 's1', '@', '-n')).toContain(words);
  const { stdout, stderr } = agt(repository, 'restore', 's1', '@');
  expect(stdout).toContain(words);
  expect(stdout).not.toContain(': now at');
  expect(stderr).toBe(`warning: untracked is as in ${tip.slice(0, 10)}; the snapshot has it otherwise\n`);
  check();
  agtOk(repository, 'undo', 's1');
  expect(git(sandbox, 'status', '--porcelain')).toBe(' M edited\n?? untracked');
  agtOk(repository, 'redo', 's1');
  check();
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'three');
  rmSync(sandbox, { recursive: true });
  agtOk(repository, 'remove', 's1');
  agtOk(repository, 'undo', 's1');
  expect(git(sandbox, 'log', '-1', '--format=%s')).toBe('three');
});

test.each(['restore: brought back#1', 'restore: compared#1', 'restore: later commits#1'])(
  'killed at "%s", the same again brings them back',
  (point) => {
    const { repository, check } = committedSince();
    const env = { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT };
    const killed = run(process.execPath, [KILLABLE, 'session', 'undo', 's1'], { cwd: repository, env });
    expect(killed.exitCode).toBe(null);
    agt(repository, 'undo', 's1');
    check();
  },
);
