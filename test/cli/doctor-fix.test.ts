/** agt doctor --fix: the problems that it fixes, and the files that it does not touch. */
import { existsSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/disk/lock-owner.ts';
import { makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

function change(repository: string, changes: object): void {
  const record = join(repository, '.git/agt/sessions/s1.json');
  write(record, JSON.stringify({ ...JSON.parse(readFileSync(record, 'utf8')), ...changes }));
}

function interrupt(repository: string, state: 'creating' | 'removing'): void {
  change(repository, { state, intent: { operation: state === 'creating' ? 'create' : 'remove' } });
}

describe('agt doctor --fix', () => {
  test('fixes and reports what needs no decision, and still lists the rest', () => {
    const { repository, sandbox } = makeSession();
    agtOk(repository, 'autocommit', '--session-id', 's1');
    const moved = git(repository, 'commit-tree', '-m', 'x', 'main^{tree}');
    git(repository, 'update-ref', 'refs/heads/agtsessions/s1', moved);
    write(join(repository, '.git/agt/locks/s1'), 'cut short by a power cut');
    write(join(repository, '.git/agt/scan/s9.tmp'), 'half');
    git(repository, 'branch', 'agt/mine');
    const preview = agt(repository, 'doctor', '--fix', '--dry-run');
    expect(preview.stdout.match(/agt doctor --fix would fix this/g)).toHaveLength(3);
    expect(git(repository, 'rev-parse', 'agtsessions/s1')).toBe(moved);

    const fixed = agt(repository, 'doctor', '--fix');
    expect(fixed.exitCode).toBe(0);
    expect(fixed.stdout.match(/^fixed: /gm)).toHaveLength(3);
    expect(fixed.stdout).toContain('note: agt/mine');
    git(repository, 'merge-base', '--is-ancestor', moved, 'agtsessions/s1');
    expect(git(repository, 'rev-parse', 'refs/agt/tip/s1')).toBe(
      git(repository, 'rev-parse', 'agtsessions/s1'),
    );
    expect(git(sandbox, 'status', '--porcelain')).toBe('');
  });

  test('removes a session whose creation was interrupted, but keeps snapshots of work done in it', () => {
    const { repository, sandbox } = makeSession();
    interrupt(repository, 'creating');
    write(join(sandbox, 'work'), 'mine\n');
    agtOk(repository, 'doctor', '--fix');
    expect(git(repository, 'show', 'agtsessions/s1:sandbox/work')).toBe('mine');
    expect(agtOk(repository, 'session', 'list', '--all')).toMatch(/s1 +removed/);

    agtOk(repository, 'session', 'remove', 's1', '--delete-branch', '--force');
    agtOk(repository, 'session', 'new', '--id', 's1');
    interrupt(repository, 'creating');
    agtOk(repository, 'doctor', '--fix');
    expect(agtOk(repository, 'session', 'list', '--all')).toBe('');
    expect(git(repository, 'for-each-ref', 'refs/agt', 'refs/heads/agt*')).toBe('');
  });
});

test('agt doctor --fix removes stale locks before it finishes an interrupted restore', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'kept'), 'one\n');
  agtOk(repository, 'autocommit', '--session-id', 's1');
  const snapshot = git(repository, 'rev-parse', 'agtsessions/s1');
  write(join(sandbox, 'kept'), 'two\n');
  change(repository, { intent: { operation: 'restore', snapshot, scope: ['sandbox'], by: 'restore' } });
  const lock = join(repository, '.git/refs/heads/agtsessions/s1.lock');
  write(lock, '');
  utimesSync(lock, 1000, 1000);
  const fixed = agt(repository, 'doctor', '--fix');
  expect([fixed.exitCode, fixed.stdout.match(/^fixed: /gm)?.length]).toEqual([0, 2]);
  expect(readFileSync(join(sandbox, 'kept'), 'utf8')).toBe('one\n');
  expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
});

describe('agt doctor --fix does not touch', () => {
  function halfMade(state: 'creating' | 'removing'): TestSession {
    const session = makeSession();
    agtOk(session.repository, 'autocommit', '--session-id', 's1');
    interrupt(session.repository, state);
    return session;
  }

  test('a half-removed session folder that has new work in it', () => {
    const { repository, sandbox } = halfMade('removing');
    write(join(sandbox, 'precious'), 'x\n');
    const outcome = agt(repository, 'doctor', '--fix');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stdout).toContain('not captured: sandbox/precious');
    expect(readFileSync(join(sandbox, 'precious'), 'utf8')).toBe('x\n');
    rmSync(join(sandbox, 'precious'));
    expect(agt(repository, 'doctor', '--fix').exitCode).toBe(0);
    expect(existsSync(sandbox)).toBe(false);
  });

  test('a session that another process is creating or removing', () => {
    for (const state of ['creating', 'removing'] as const) {
      const { repository, sandbox } = halfMade(state);
      write(join(repository, '.git/agt/locks/s1'), JSON.stringify(identify(process.pid)));
      expect(agtOk(repository, 'doctor', '--fix')).toContain('nothing is wrong');
      expect(existsSync(sandbox)).toBe(true);
    }
  });

  test('temporary files of git that may be in use, until they are old', () => {
    const { repository } = makeSession();
    const names = ['objects/pack/tmp_pack_abcdef', 'objects/tmp_objdir-x/a', 'refs/agt/tip/s1.lock'];
    const files = [...names, 'packed-refs.lock'].map((name) => join(repository, '.git', name));
    for (const path of files) write(path, '');
    const keep = (name: string) =>
      join(repository, '.git/objects/pack', `pack-${'0'.repeat(39)}${name}.keep`);
    write(keep('1'), 'fast-import');
    write(keep('2'), 'kept by a person\n');
    agtOk(repository, 'doctor', '--fix');
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
    for (const path of [...files, join(repository, '.git/objects/tmp_objdir-x'), keep('1'), keep('2')])
      utimesSync(path, 1000, 1000);
    agtOk(repository, 'doctor', '--fix');
    expect(files.filter((path) => existsSync(path))).toEqual([]);
    expect([existsSync(keep('1')), existsSync(keep('2'))]).toEqual([false, true]);
  });
});

test.each(['folder', 'sandbox'] as const)(
  'a session without snapshots, its %s gone: --fix brings it back',
  (lost) => {
    const session = makeSession({ a: 'a\n' });
    const { repository, sandbox } = session;
    write(join(sandbox, 'b'), 'b\n');
    git(sandbox, 'add', 'b');
    git(sandbox, 'commit', '-q', '-m', 'b');
    rmSync(session[lost], { recursive: true });
    expect(agt(repository, 'doctor').stdout).toContain(
      `its sandbox is gone: ${sandbox}\n    fix: agt doctor --fix\n`,
    );
    agtOk(repository, 'doctor', '--fix');
    expect(git(sandbox, 'status', '--porcelain', '--branch')).toBe('## agt/s1');
    expect(readFileSync(join(sandbox, 'b'), 'utf8')).toBe('b\n');
    expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(2);
    expect(agtOk(repository, 'list')).toMatch(/^s1 +active /m);
  },
);
