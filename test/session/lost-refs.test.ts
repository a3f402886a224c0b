/** A session whose history was rewritten or lost, or whose refs were deleted, is captured and restored all the same. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, type TestSession, tryAutocommit } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

/** Gives every commit of every ref another name, and deletes the old ones. */
function rewriteHistory({ repository }: TestSession): void {
  const filter = 'GIT_AUTHOR_NAME="Somebody else"';
  const rewritten = run(REAL_GIT, ['filter-branch', '-f', '--env-filter', filter, '--', '--all'], {
    cwd: repository,
    env: { FILTER_BRANCH_SQUELCH_WARNING: '1' },
  });
  expect(rewritten.exitCode).toBe(0);
  for (const ref of git(repository, 'for-each-ref', '--format=%(refname)', 'refs/original').split('\n'))
    git(repository, 'update-ref', '-d', ref);
  git(repository, 'reflog', 'expire', '--expire=now', '--all');
  git(repository, 'gc', '--quiet', '--prune=now');
}

/** A session with a commit of the agent's and two snapshots; @{0} has `work` as `second`. */
function makeWork(): TestSession & { firstHead: string } {
  const session = makeSession();
  write(join(session.sandbox, 'work'), 'first');
  git(session.sandbox, 'add', 'work');
  git(session.sandbox, 'commit', '-q', '-m', 'agent');
  expect(tryAutocommit(session).exitCode).toBe(0);
  write(join(session.sandbox, 'work'), 'second');
  expect(tryAutocommit(session, '--label', 'second').exitCode).toBe(0);
  return { ...session, firstHead: git(session.sandbox, 'rev-parse', 'HEAD') };
}

const workIn = ({ sandbox }: TestSession) => readFileSync(join(sandbox, 'work'), 'utf8');

describe('after the history was rewritten', () => {
  test('an active session is captured, restored and listed', () => {
    const session = makeWork();
    rewriteHistory(session);
    const { repository } = session;
    expect(git(repository, 'cat-file', '--batch-check', '--batch-all-objects')).not.toContain(
      session.firstHead,
    );
    write(join(session.sandbox, 'work'), 'third');
    expect(tryAutocommit(session).exitCode).toBe(0);
    const dry = agt(repository, 'session', 'restore', 's1', '--to', 'second', '-n');
    const restore = agt(repository, 'session', 'restore', 's1', '--to', 'second');
    expect(dry.stderr).toContain(
      `HEAD was not restored: its commit ${session.firstHead.slice(0, 10)} is gone from the repository`,
    );
    expect(restore.stderr).toContain(dry.stderr);
    expect(restore.exitCode).toBe(1);
    expect(workIn(session)).toBe('second');
    expect(git(session.sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s1');
    git(session.sandbox, 'status');
    const [listed] = JSON.parse(agtOk(repository, 'session', 'list', '--json'));
    expect(listed.autocommits).toBeGreaterThan(2);
    for (const command of ['du', 'gc --thin', 'doctor', 'session show s1', 'session diff s1 second'])
      expect(agt(repository, ...command.split(' '))).toMatchObject({ stderr: '' });
  });

  test('a removed session comes back', () => {
    const session = makeWork();
    agtOk(session.repository, 'session', 'remove', 's1');
    rewriteHistory(session);
    expect(existsSync(session.folder)).toBe(false);
    const restore = agt(session.repository, 'session', 'restore', 's1', '--to', '@');
    expect(restore.stderr).toContain('HEAD was not restored');
    expect(workIn(session)).toBe('second');
    expect(git(session.sandbox, 'log', '-1', '--format=%s')).toBe('agent');
    expect(agt(session.repository, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
    expect(agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2')).toContain('s2');
  });
});

describe("after somebody deleted the shadow branch and agt's own ref", () => {
  const deleteRefs = ({ repository }: TestSession) => {
    for (const ref of ['refs/agt/tip/s1', 'refs/heads/agtsessions/s1'])
      git(repository, 'update-ref', '-d', ref);
  };

  test('the next autocommit finds the last snapshot again', () => {
    const session = makeWork();
    const last = git(session.repository, 'rev-parse', 'agtsessions/s1');
    deleteRefs(session);
    write(join(session.sandbox, 'work'), 'third');
    const autocommit = tryAutocommit(session);
    expect(autocommit.exitCode).toBe(0);
    expect(autocommit.stderr).toBe(
      `warning: s1: refs/agt/tip/s1 was missing; agt made it again from the last snapshot, ${last.slice(0, 10)}\n`,
    );
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1^')).toBe(last);
    agtOk(session.repository, 'session', 'undo', 's1');
    expect(workIn(session)).toBe('second');
  });

  test('a new history begins if that is gone too', () => {
    const session = makeWork();
    deleteRefs(session);
    git(session.repository, 'gc', '--quiet', '--prune=now');
    rmSync(join(session.repository, '.git/agt/scan/s1'));
    expect(tryAutocommit(session)).toMatchObject({
      exitCode: 0,
      stderr:
        'warning: s1: refs/agt/tip/s1 was missing, and agt found no snapshot of the session; a new history begins\n',
    });
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/work')).toBe('second');
  });

  test.each([
    ['doctor', '--fix'],
    ['session', 'remove', 's1'],
  ])('agt %s %s mends that', (...command) => {
    const session = makeWork();
    deleteRefs(session);
    expect(agt(session.repository, ...command).exitCode).toBe(0);
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/work')).toBe('second');
  });
});

describe('after the snapshots were lost', () => {
  /** agt writes them as packs, and git the other objects as single files. */
  function loseSnapshots({ repository }: TestSession): string {
    const tip = git(repository, 'rev-parse', 'refs/agt/tip/s1');
    rmSync(join(repository, '.git/objects/pack'), { recursive: true });
    return `refs/agt/tip/s1 leads to ${tip.slice(0, 10)}, which is missing`;
  }

  test('the next capture of a change begins a new history', () => {
    const session = makeWork();
    loseSnapshots(session);
    write(join(session.sandbox, 'work'), 'third');
    const { exitCode, stderr } = tryAutocommit(session);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('a new history begins')]);
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/work')).toBe('third');
    git(session.repository, 'fsck', '--no-reflogs', '--connectivity-only');
  });

  test.each(['session log s1', 'session log s1 --json', 'undo s1', 'session restore s1 --to @'])(
    'agt %s does not take them for none',
    (command) => {
      const session = makeWork();
      const problem = loseSnapshots(session);
      const stderr = `error: cannot read the snapshots of "s1": ${problem}\nhint: see: agt doctor\n`;
      const failed = agt(session.repository, ...command.split(' '));
      expect(failed).toMatchObject({ exitCode: 1, stderr });
      expect(failed.stdout).toBe(
        command.endsWith('--json')
          ? `${JSON.stringify({ error: `cannot read the snapshots of "s1": ${problem}`, hints: ['see: agt doctor'] }, null, 2)}\n`
          : '',
      );
      expect(workIn(session)).toBe('second');
    },
  );

  test('agt doctor says so, and --fix captures what is there', () => {
    const session = makeWork();
    const { repository } = session;
    const problem = loseSnapshots(session);
    const { findings } = JSON.parse(agt(repository, 'doctor', '--json').stdout);
    expect(findings).toMatchObject([
      { level: 'error', about: 's1', problem: `${problem}: snapshots are lost` },
    ]);
    agtOk(repository, 'doctor', '--fix');
    expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
    expect(git(repository, 'show', 'agtsessions/s1:sandbox/work')).toBe('second');
  });
});
