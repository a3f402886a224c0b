import { existsSync, linkSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

let repository: string;
let sandbox: string;

beforeEach(() => {
  repository = makeRepository();
  sandbox = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json')).sandbox;
});

function branches(): string[] {
  return git(repository, 'for-each-ref', '--format=%(refname)').split('\n');
}

const ALL = ['refs/agt/tip/s1', 'refs/heads/agt/s1', 'refs/heads/agtsessions/s1', 'refs/heads/main'];

describe('agt session remove', () => {
  test('autocommits, deletes the folder and keeps the branches', () => {
    write(join(sandbox, 'work.txt'), 'unsaved\n');
    write(join(sandbox, '../config/token'), 'secret\n', 0o600);
    agtOk(repository, 'session', 'remove', '--id', 's1');
    expect(existsSync(`${repository}.agt`)).toBe(false);
    expect(branches()).toEqual(ALL);
    expect(git(repository, 'show', 'agtsessions/s1:sandbox/work.txt')).toBe('unsaved');
    expect(git(repository, 'show', 'agtsessions/s1:config/token')).toBe('secret');
    expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(1);
    const back = agtOk(repository, 'undo', 's1');
    expect(back).toMatch(/\ns1 is back in .*\nto take this back: agt session remove s1$/);
    agtOk(repository, 'session', 'remove', 's1');
    expect(JSON.parse(agtOk(repository, 'session', 'list', '--all', '--json'))[0].state).toBe('removed');
    expect(agtOk(repository, 'session', 'list')).toBe('');
    expect(agtOk(repository, 'session', 'remove', 's1')).toMatch(/^s1: removed before; .* --delete-branch$/);
    expect(agt(repository, 'session', 'new', '--id', 's1').stderr).toContain(
      'was removed, and its snapshots are kept',
    );
  });

  test('deletes files with several names', () => {
    for (const name of ['one', 'two']) write(join(sandbox, name), `${name}\n`);
    linkSync(join(sandbox, 'one'), join(sandbox, 'more'));
    linkSync(join(sandbox, 'one'), join(sandbox, '../config/outside'));
    linkSync(join(sandbox, 'two'), join(repository, 'elsewhere'));
    agtOk(repository, 'session', 'remove', '--id', 's1');
    expect(existsSync(`${repository}.agt`)).toBe(false);
    expect(readFileSync(join(repository, 'elsewhere'), 'utf8')).toBe('two\n');
    for (const path of ['sandbox/one', 'sandbox/more', 'config/outside'])
      expect(git(repository, 'show', `agtsessions/s1:${path}`)).toBe('one');
  });

  test('--dry-run shows what would be deleted and deletes nothing', () => {
    const output = agtOk(repository, 'session', 'remove', 's1', '--delete-branch', '--dry-run');
    expect(output).toMatch(/^would remove .*\/sessions\/s1\nwould delete branch agt\/s1 \(was /);
    expect(branches()).toEqual(ALL);
    expect(existsSync(sandbox)).toBe(true);
  });

  test('--delete-branch needs no --force if no work would be lost', () => {
    const output = agtOk(repository, 'session', 'remove', '--id', 's1', '--delete-branch');
    expect(output).toMatch(/deleted branch agt\/s1 \(was [0-9a-f]{10}\)\ndeleted branch agtsessions\/s1/);
    expect(branches()).toEqual(['refs/heads/main']);
    expect(agtOk(repository, 'session', 'list', '--all')).toBe('');
    agtOk(repository, 'session', 'new', '--id', 's1');
  });

  /** Those of a session are named after it. */
  function filesAbout(id: string): string[] {
    const names = readdirSync(join(repository, '.git/agt'), { recursive: true, encoding: 'utf8' });
    return names.filter((name) => name.includes(id));
  }

  test('--delete-branch leaves no file about the session', () => {
    for (const content of ['one', 'two']) {
      write(join(sandbox, 'work.txt'), content);
      agtOk(repository, 'autocommit', '--session-id', 's1');
    }
    expect(filesAbout('s1')).toContain('scan/s1');
    agtOk(repository, 'session', 'remove', 's1', '--delete-branch', '--force');
    expect(filesAbout('s1')).toEqual([]);
  });

  test('a creation that agt undoes leaves no file about the session', () => {
    const withPoints = join(import.meta.dirname, '../../dist/failure-points/main.cjs');
    const args = ['session', 'new', 'half-made', '--working-copy', 'in-place'];
    const env = { AGT_TEST_KILL_AT: 'in place: switched#1', AGT_GIT_PATH: REAL_GIT };
    run(process.execPath, [withPoints, ...args], { cwd: repository, env });
    expect(filesAbout('half-made')).toContain('scan/half-made');
    agtOk(repository, 'doctor', '--fix');
    expect(filesAbout('half-made')).toEqual([]);
  });

  const UNSAVED: [string, () => void, RegExp][] = [
    [
      'a commit',
      () => git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'x'),
      /has 1 commit on its HEAD neither exported/,
    ],
    [
      'files',
      () => {
        for (const path of ['x', 'd/x', 'd/y']) write(join(sandbox, path), 'x\n');
      },
      /has 3 uncommitted files; --delete-branch would lose this work/,
    ],
    [
      'a commit on the work branch while HEAD is elsewhere',
      () => {
        git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'x');
        git(sandbox, 'checkout', '-q', '--detach', 'main');
      },
      /has 1 commit on its work branch neither exported nor merged/,
    ],
  ];

  test.each(UNSAVED)(
    'without a terminal, --delete-branch refuses to lose %s unless --force is given',
    (_what, arrange, message) => {
      arrange();
      const refused = agt(repository, 'session', 'remove', '--id', 's1', '--delete-branch');
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toMatch(message);
      expect(branches()).toEqual(ALL);
      expect(existsSync(sandbox)).toBe(true);
      agtOk(repository, 'session', 'remove', '--id', 's1', '--delete-branch', '--force');
      expect(branches()).toEqual(['refs/heads/main']);
    },
  );

  test('--delete-branch counts no labelled snapshot that a fork has', () => {
    agtOk(repository, 'autocommit', 's1', '--label', 'x');
    agtOk(repository, 'fork', 's1', '--id', 's2');
    agtOk(repository, 'session', 'remove', '--id', 's1', '--delete-branch');
    expect(agt(repository, 'session', 'remove', '--id', 's2', '--delete-branch').stderr).toContain(
      'has 1 labelled snapshot;',
    );
  });

  test('--delete-branch does not count a merged commit as lost', () => {
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'x');
    git(repository, 'merge', '-q', 'agt/s1');
    agtOk(repository, 'session', 'remove', '--id', 's1', '--delete-branch');
  });

  test('refuses to delete files that cannot be captured, and names them', () => {
    git(sandbox, 'init', '-q', 'nested');
    write(join(sandbox, 'nested/file'), 'x\n');
    const refused = agt(repository, 'session', 'remove', '--id', 's1');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(
      /^error: cannot capture 1 file of session "s1"\nhint: sandbox\/nested\/\.git: /,
    );
    expect(existsSync(join(sandbox, 'nested/.git'))).toBe(true);
    agtOk(repository, 'session', 'remove', '--id', 's1', '--force');
    expect(git(repository, 'show', 'agtsessions/s1:sandbox/nested/file')).toBe('x');
  });

  test('finishes an interrupted removal without another autocommit', () => {
    write(join(sandbox, 'work.txt'), 'unsaved\n');
    agtOk(repository, 'autocommit', '--session-id', 's1');
    const tip = git(repository, 'rev-parse', 'agtsessions/s1');
    const record = join(repository, '.git/agt/sessions/s1.json');
    write(
      record,
      JSON.stringify({
        ...JSON.parse(readFileSync(record, 'utf8')),
        state: 'removing',
        intent: { operation: 'remove' },
      }),
    );
    rmSync(join(sandbox, 'work.txt'));
    expect(agt(repository, 'doctor').stdout).toContain('agt did not finish removing it');
    agtOk(repository, 'session', 'remove', '--id', 's1');
    expect(git(repository, 'rev-parse', 'agtsessions/s1')).toBe(tip);
    expect(existsSync(sandbox)).toBe(false);
  });

  test('does not delete files beside a missing sandbox that are in no snapshot', () => {
    write(join(sandbox, '../config/token'), 'secret\n');
    rmSync(sandbox, { recursive: true });
    const refused = agt(repository, 'session', 'remove', '--id', 's1');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      'error: cannot capture session "s1": its sandbox is no longer a worktree',
    );
    expect(existsSync(join(sandbox, '../config/token'))).toBe(true);
    agtOk(repository, 'session', 'remove', '--id', 's1', '--force');
    expect(existsSync(join(sandbox, '..'))).toBe(false);
  });

  test('removes a session whose sandbox is gone, and keeps its snapshots', () => {
    agtOk(repository, 'autocommit', '--session-id', 's1');
    rmSync(`${repository}.agt`, { recursive: true });
    expect(agt(repository, 'doctor').stdout).toContain('its sandbox is gone');
    expect(agt(repository, 'autocommit', '--session-id', 's1').stderr).toContain(
      'the sandbox of "s1" is gone',
    );
    agtOk(repository, 'session', 'remove', '--id', 's1');
    expect(branches()).toEqual(ALL);
    expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(1);
  });
});

test('a name that has ended: how it ended, and the way back', () => {
  const { repository } = makeSession();
  agtOk(repository, 'reject', 's1');
  expect(agt(repository, 'new', 's1').stderr).toMatch(/^error: session "s1" was rejected, and its snapshots/);
  for (const words of [['autocommit'], ['accept'], ['review']])
    expect(agt(repository, ...words, 's1').stderr).toMatch(
      /is rejected.*\nhint: bring it back: agt undo s1\n(hint: to see what it did: agt session diff s1\n)?$/,
    );
});

test('inside the session: it removes the session of the current directory', () => {
  const session = makeSession();
  write(join(session.sandbox, 'x'), 'x');
  expect(agt(session.sandbox, 'session', 'remove')).toMatchObject({
    exitCode: 0,
    stderr: `hint: the directory that you are in is gone now: cd ${session.repository}\n`,
  });
  expect(existsSync(session.folder)).toBe(false);
  expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/x')).toBe('x');
});

test('--delete-branch of a removed session needs --force if only its snapshots have its work', () => {
  const session = makeSession();
  write(join(session.sandbox, 'x'), 'x');
  agtOk(session.repository, 'session', 'remove', 's1');
  const refused = agt(session.repository, 'session', 'remove', 's1', '--delete-branch');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('error: session "s1" has files that only its snapshots have');
  expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/x')).toBe('x');
  agtOk(session.repository, 'session', 'remove', 's1', '--delete-branch', '--force');
});

test('deletes no folder that metadata name by mistake, also with --force', () => {
  const session = makeSession();
  const other = join(makeTempDir('other'), 'project');
  write(join(other, 'sandbox/precious'), 'mine\n');
  const record = join(session.repository, '.git/agt/sessions/s1.json');
  write(record, readFileSync(record, 'utf8').replace(session.sandbox, join(other, 'sandbox')));
  const refused = agt(session.repository, 'session', 'remove', 's1', '--force');
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`error: agt does not delete ${other}: `),
  });
  expect(readFileSync(join(other, 'sandbox/precious'), 'utf8')).toBe('mine\n');
});

test('promises no way back to a session without a snapshot', () => {
  const session = makeSession();
  rmSync(session.folder, { recursive: true });
  expect(agtOk(session.repository, 'session', 'remove', 's1')).toBe('removed s1, which had no snapshots');
});

describe('several sessions', () => {
  beforeEach(() => {
    agtOk(repository, 'session', 'new', '--id', 's2', '-q');
  });

  test('one that is not there stops no other, and decides on the exit code', () => {
    const { exitCode, stdout, stderr } = agt(repository, 'remove', 's1', 'none', 's2', 's2');
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('no session "none"')]);
    expect(stdout.match(/^removed /gm)).toHaveLength(2);
    expect(existsSync(`${repository}.agt`)).toBe(false);
  });

  test('accept, reject and sync take several, and JSON is a list', () => {
    write(join(sandbox, 'work.txt'), 'work\n');
    const accepted = agt(repository, 'accept', 's1', 's2', '--json');
    expect(accepted.exitCode).toBe(1);
    const again = agt(repository, 'accept', 's1', 's2').stderr;
    expect(again).toMatch(/^warning: "s1" is accepted already, .*\nnote: done for s1; not for s2\n/);
    const [one, two] = JSON.parse(accepted.stdout);
    expect([one.session_id, two]).toEqual([
      's1',
      expect.objectContaining({ session_id: 's2', outcome: 'failed' }),
    ]);
    agtOk(repository, 'session', 'new', '--id', 's3', '-q');
    expect(agt(repository, 'sync', 's2', 's3').exitCode).toBe(0);
    expect(agtOk(repository, 'reject', 's2', 's3').match(/^rejected /gm)).toHaveLength(2);
  });

  test('a session of --session beside them is refused', () => {
    const { exitCode, stderr } = agt(repository, 'remove', 's1', 's2', '--session', 's1');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('leave out --session')]);
    expect(existsSync(sandbox)).toBe(true);
  });
});
