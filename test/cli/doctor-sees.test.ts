/** "nothing is wrong" means that agt has looked: what agt doctor names, and whether --fix mends it. */
import { chmodSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agtWithPermissions, permissionsProblem } from '../harness/privileges.ts';
import { makeSession, type TestSession, tryAutocommit } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { withoutKey } from '../travel/two.ts';

interface Finding {
  level: string;
  about: string;
  problem: string;
  mend: string;
}

const findingsIn = (stdout: string) => (JSON.parse(stdout) as { findings: Finding[] }).findings;

/** The only finding; agt doctor exits with 1 for it. */
function onlyFinding({ repository }: TestSession, doctor = agt(repository, 'doctor', '--json')): Finding {
  const findings = findingsIn(doctor.stdout);
  expect(findings).toHaveLength(1);
  expect(doctor.exitCode).toBe(1);
  return findings[0] as Finding;
}

function expectMended({ repository }: TestSession): void {
  const fixed = agt(repository, 'doctor', '--fix');
  expect(fixed.stdout).toContain('fixed');
  expect(agt(repository, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
}

function makeCaptured(): TestSession {
  const session = makeSession();
  write(join(session.sandbox, 'work'), 'mine\n');
  expect(tryAutocommit(session).exitCode).toBe(0);
  return session;
}

describe('a session', () => {
  const gitDir = ({ repository }: TestSession) => join(repository, '.git/worktrees/sandbox');

  test.each([
    ['an index that is garbage', 'index', 'not an index'],
    ['an empty HEAD', 'HEAD', ''],
  ])('with %s', (_, file, content) => {
    const session = makeCaptured();
    write(join(gitDir(session), file), content);
    const { about, problem, mend } = onlyFinding(session);
    expect(about).toBe('s1');
    expect(problem).toMatch(/index|HEAD/);
    const script = mend.replaceAll(/\bagt /g, `${AGT} `);
    const mended = run('/bin/sh', ['-ec', script], { cwd: session.repository });
    expect(mended.stderr).not.toContain('error');
    expect(agt(session.repository, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
    git(session.sandbox, 'status');
  });

  test('with a file that cannot be read', ({ skip }) => {
    const problem = permissionsProblem();
    skip(problem !== undefined, problem);
    const session = makeCaptured();
    write(join(session.sandbox, 'secret'), 'x');
    chmodSync(join(session.sandbox, 'secret'), 0);
    const doctor = agtWithPermissions(session.repository, 'doctor', '--json');
    expect(onlyFinding(session, doctor).problem).toContain('sandbox/secret cannot be');
  });

  test('whose work branch leads to a missing commit', () => {
    const session = makeCaptured();
    const commit = git(session.sandbox, 'commit-tree', '-p', 'HEAD', '-m', 'agent', 'HEAD^{tree}');
    git(session.sandbox, 'reset', '-q', '--soft', commit);
    expect(tryAutocommit(session).exitCode).toBe(0);
    write(join(session.repository, '.git/refs/heads/agt/s1'), `${'0123456789'.repeat(4)}\n`);
    const doctor = agt(session.repository, 'doctor', '--json');
    expect(doctor.exitCode).toBe(1);
    expect(findingsIn(doctor.stdout)[0]).toMatchObject({
      about: 's1',
      problem: 'agt/s1 leads to a commit that is gone; git fetch and git gc fail because of it',
      mend: `agt git update-ref refs/heads/agt/s1 ${commit}`,
    });
    expectMended(session);
    expect(git(session.repository, 'rev-parse', 'agt/s1')).toBe(commit);
    git(session.repository, 'gc', '--quiet');
  });

  test('with a lock on its index that a killed git left', () => {
    const session = makeCaptured();
    const lock = join(gitDir(session), 'index.lock');
    write(lock, '');
    expect(findingsIn(agt(session.repository, 'doctor', '--json').stdout)).toEqual([]);
    utimesSync(lock, 1000, 1000);
    const doctor = agt(session.repository, 'doctor', '--json');
    expect(findingsIn(doctor.stdout)).toMatchObject([{ about: lock, level: 'note' }]);
    expectMended(session);
  });
});

describe('a repository', () => {
  test('whose snapshots take more than the budget', () => {
    const session = makeCaptured();
    agtOk(session.repository, 'config', 'set', 'agt.budget', '1');
    expect(onlyFinding(session)).toMatchObject({ about: 'agt.budget' });
    agtOk(session.repository, 'config', 'unset', 'agt.budget');
    expect(agt(session.repository, 'doctor').exitCode).toBe(0);
  });

  test('with a directory of agt that another user owns', ({ skip }) => {
    const problem = permissionsProblem();
    skip(problem !== undefined, problem);
    const session = makeCaptured();
    const locks = join(session.repository, '.git/agt/locks');
    chmodSync(locks, 0o555);
    const doctor = agtWithPermissions(session.repository, 'doctor', '--json');
    chmodSync(locks, 0o755);
    expect(onlyFinding(session, doctor)).toMatchObject({
      about: locks,
      problem: 'agt cannot write there: permission denied',
    });
  });

  test('on a read-only file system', ({ skip }) => {
    const session = makeCaptured();
    const readOnly = (...args: string[]) => {
      const script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 77; shift; exec "$@"';
      const words = ['-m', 'sh', '-c', script, 'sh', join(session.repository, '.git'), AGT, ...args];
      return run('unshare', words, { cwd: session.repository });
    };
    const doctor = readOnly('doctor', '--json');
    skip(doctor.exitCode === 77 || /unshare/.test(doctor.stderr), 'no mounts can be made here');
    const findings = findingsIn(doctor.stdout);
    expect(findings[0]?.problem).toBe('agt cannot write there: read-only file system');
    expect(doctor.exitCode).toBe(1);
    const diff = readOnly('session', 'diff', 's1');
    expect(diff.stderr).toBe(
      `error: cannot create the directory "${session.repository}/.git/agt/scratch": read-only file system\n`,
    );
  });
});

test('files that are left of a removed session', () => {
  const session = makeCaptured();
  agtOk(session.repository, 'session', 'remove', 's1');
  write(join(session.sandbox, 'late'), 'mine\n');
  expect(onlyFinding(session)).toMatchObject({
    about: 's1',
    problem: `the session is removed, and yet there is ${session.folder}`,
  });
});

test('agt session remove names what .agtignore leaves out of the snapshots', () => {
  const session = makeCaptured();
  write(join(session.folder, '.agtignore'), 'sandbox/cache/\n*.log\n');
  write(join(session.sandbox, 'cache/big'), 'x');
  write(join(session.sandbox, 'a.log'), 'x');
  expect(agtOk(session.repository, 'session', 'remove', 's1')).toContain(
    '\ndeleted with it, in no snapshot because of .agtignore: sandbox/a.log, sandbox/cache',
  );
});

test('a file system of the kernel that is mounted in a sandbox is named, not captured', ({ skip }) => {
  const session = makeCaptured();
  write(join(session.sandbox, 'proc/keep'), '');
  rmSync(join(session.sandbox, 'proc/keep'));
  const script = 'mount -t proc proc "$1" || exit 77; shift; exec "$@"';
  const words = ['-m', '-p', '-f', 'sh', '-c', script, 'sh', join(session.sandbox, 'proc')];
  const captured = run('unshare', [...words, AGT, 'autocommit', 's1'], { cwd: session.repository });
  skip(captured.exitCode === 77 || /unshare/.test(captured.stderr), 'no mounts can be made here');
  expect(captured.stderr).toBe(
    'warning: s1: not captured: sandbox/proc: is a file system of the kernel, such as /proc\n',
  );
  expect(git(session.repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s1')).not.toContain(
    'sandbox/proc',
  );
});

test('a key that others can read, which --fix closes, and one that is damaged', () => {
  const session = makeSession();
  const { repository } = session;
  withoutKey(() => {
    agtOk(repository, 'key', 'new');
    const { file } = JSON.parse(agtOk(repository, 'key', 'show', '--json')) as { file: string };
    chmodSync(file, 0o644);
    expect(onlyFinding(session)).toMatchObject({ level: 'error', about: file, mend: `chmod 600 ${file}` });
    expectMended(session);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    write(file, 'no key\n');
    expect(onlyFinding(session)).toMatchObject({ about: file, problem: `${file} has no key of age` });
  });
});

test.each(['gitdir: \n', 'no git file\n', ''])(
  'the sandbox of a session whose .git file is %j',
  (content) => {
    const session = makeCaptured();
    write(join(session.sandbox, '.git'), content);
    const problem = `its sandbox has lost its .git file: ${session.sandbox}`;
    const doctor = agt(session.sandbox, 'doctor', '--json');
    expect(onlyFinding(session, doctor)).toMatchObject({ about: 's1', problem });
    expectMended(session);
    git(session.sandbox, 'status');
  },
);

test('a .git file that leads nowhere, in a worktree and in a checkout, with a way that works', () => {
  const directory = makeTempDir('lost');
  const [main, moved, worktree, checkout] = ['main', 'moved', 'worktree', 'checkout'].map((name) =>
    join(directory, name),
  ) as [string, string, string, string];
  run('mv', [makeRepository(), main], { cwd: directory });
  git(main, 'worktree', 'add', '-q', worktree);
  git(directory, 'clone', '-q', '--separate-git-dir', join(directory, 'apart'), main, checkout);
  const found = (cwd: string) => findingsIn(agt(cwd, 'doctor', '--json').stdout);
  renameSync(main, moved);
  const leads = (to: string) => `this file leads to ${join(directory, to)}, which is no repository`;
  const [lost] = found(worktree);
  expect(lost).toMatchObject({
    about: join(worktree, '.git'),
    problem: leads('main/.git/worktrees/worktree'),
    mend: `if the repository has moved, call there: git worktree repair ${worktree}`,
  });
  git(moved, 'worktree', 'repair', worktree);
  expect(found(worktree)).toEqual([]);
  rmSync(join(moved, '.git/worktrees'), { recursive: true });
  write(join(worktree, 'deep/file'), '');
  expect(found(join(worktree, 'deep'))[0]?.mend).toContain(`git -C ${moved}/.git worktree add PATH BRANCH`);
  renameSync(join(directory, 'apart'), join(directory, 'apart-2'));
  const [apart] = found(checkout);
  expect(apart?.problem).toBe(leads('apart'));
  const command = apart?.mend.replace(/^.*now: /, '').replace('PATH', '../apart-2') ?? 'false';
  expect(run('sh', ['-c', command], { cwd: directory }).exitCode).toBe(0);
  expect(found(checkout)).toEqual([]);
  write(join(checkout, '.git'), 'no git file\n');
  expect(found(checkout).map(({ problem }) => problem)).toEqual(['this file names no git directory']);
});
