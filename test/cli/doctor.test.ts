/** agt doctor: the problems that it finds, and the commands that it suggests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

interface Report {
  git: { path: string; version: string; pcre: boolean };
  findings: { level: string; about: string; problem: string; mend: string }[];
}

function examine(cwd: string): Report & { exitCode: number | null } {
  const outcome = agt(cwd, 'doctor', '--json');
  return { ...(JSON.parse(outcome.stdout) as Report), exitCode: outcome.exitCode };
}

/** Runs the command that doctor suggests, as a person would. */
function runSuggested(cwd: string, suggestion: string): void {
  const script = suggestion.replaceAll(/(?<!\/)\bagt /g, `${join(import.meta.dirname, '../../dist/agt')} `);
  const outcome = run('/bin/sh', ['-ec', script], { cwd });
  if (outcome.exitCode !== 0) throw new Error(`${suggestion}: ${outcome.stderr}`);
}

describe('agt doctor', () => {
  test('finds nothing wrong in a new session and names the real git', () => {
    const { repository } = makeSession();
    const report = examine(repository);
    expect(report.findings).toEqual([]);
    expect(report.exitCode).toBe(0);
    expect(report.git.path).toBe(REAL_GIT);
    expect(`git version ${report.git.version}`).toBe(
      git(repository, '--version').split(' ').slice(0, 3).join(' '),
    );
  });

  test('a new remote is no problem; an export hides what git notes of it, and a fetch of such a branch is named', () => {
    const { repository, sandbox } = makeSession();
    const bare = makeTempDir();
    git(bare, 'init', '-q', '--bare');
    for (const name of ['other', 'third']) git(repository, 'remote', 'add', name, bare);
    expect(examine(repository).findings).toEqual([]);
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
    agtOk(repository, 'session', 'export', 's1', '--remote', 'other');
    expect(git(repository, 'for-each-ref', '--format=%(refname)', 'refs/remotes')).toBe(
      'refs/remotes/other/agt/s1',
    );
    expect(examine(repository).findings).toEqual([]);
    git(repository, 'config', '--unset', 'uploadpack.hideRefs', '^refs/remotes/other/agt$');
    expect(examine(repository).findings).toMatchObject([
      { problem: 'a fetch from this repository would receive refs/remotes/other/agt', fixable: true },
    ]);
  });

  test('works outside a repository', () => {
    const outcome = agt(makeTempDir(), 'doctor');
    expect(outcome).toEqual({ exitCode: 0, stdout: 'nothing is wrong\n', stderr: '' });
    const details = agtOk(makeTempDir(), 'doctor', '-v');
    expect(details).toContain('repository  none here');
    expect(details).toMatch(/^nothing is wrong\n\ngit /);
  });

  test('problems stand alone, with -v before the settings', () => {
    const { repository } = makeSession();
    git(repository, 'update-ref', '-d', 'refs/agt/tip/s1');
    const { stdout } = agt(repository, 'doctor');
    expect(stdout).toMatch(/^1 problem\n {2}error: .*\n {4}fix: .*\n$/);
    expect(agt(repository, 'doctor', '-v').stdout).toMatch(/^1 problem\n.*\n.*\n\ngit (.*\n)*settings\n/);
  });

  const DAMAGES: [string, (session: TestSession) => void, RegExp][] = [
    [
      'a deleted shadow branch',
      ({ repository }) => git(repository, 'update-ref', '-d', 'refs/heads/agtsessions/s1'),
      /agtsessions\/s1 is missing/,
    ],
    [
      'a deleted tip',
      ({ repository }) => git(repository, 'update-ref', '-d', 'refs/agt/tip/s1'),
      /refs\/agt\/tip\/s1 is missing/,
    ],
    [
      'a shadow branch that another program moved',
      ({ repository }) => {
        git(repository, 'commit', '-q', '--allow-empty', '-m', 'second');
        git(repository, 'update-ref', 'refs/heads/agtsessions/s1', 'main');
      },
      /another program moved agtsessions\/s1/,
    ],
    [
      'a worktree whose registration is gone',
      ({ repository }) => write(join(repository, '.git/worktrees/sandbox/gitdir'), '/elsewhere/.git\n'),
      /its sandbox is not a worktree of this repository/,
    ],
    [
      'a namespace that is not hidden from fetches',
      ({ repository }) => git(repository, 'config', '--unset', 'uploadpack.hideRefs', '^refs/agt$'),
      /a fetch from this repository would receive refs\/agt$/,
    ],
    [
      'a sandbox that is gone',
      ({ repository }) => rmSync(`${repository}.agt`, { recursive: true }),
      /its sandbox is gone/,
    ],
  ];

  test.each(DAMAGES)('finds %s, and the suggested command fixes it', (_what, damage, problem) => {
    const session = makeSession();
    damage(session);
    const report = examine(session.repository);
    expect(report.exitCode).toBe(1);
    const finding = report.findings.find((found) => problem.test(found.problem));
    expect(finding).toBeDefined();
    runSuggested(session.repository, (finding?.mend ?? '').replace(/ \(its states are kept\).*/, ''));
    const after = examine(session.repository);
    expect(after.findings.filter(({ level }) => level !== 'note')).toEqual([]);
    expect(after.exitCode).toBe(0);
  });

  test('notes refs that belong to no session, but does not call them a problem', () => {
    const { repository } = makeSession();
    git(repository, 'branch', 'agt/mine');
    const report = examine(repository);
    expect(report.findings).toEqual([
      {
        level: 'note',
        about: 'agt/mine',
        problem: 'a ref in a namespace of agt that belongs to no session here',
        mend: 'keep it, or delete it: agt git update-ref -d refs/heads/agt/mine',
        fixable: false,
      },
    ]);
    expect(report.exitCode).toBe(0);
  });
});

test('agt doctor notes a shim that is older than agt, with the command that installs it again', () => {
  const dir = makeTempDir('shim');
  const env = { PATH: `${dir}:${process.env['PATH']}` };
  const shimmed = (...args: string[]) => run(AGT, args, { cwd: dir, env });
  expect(shimmed('shim', 'install', '--dir', dir).exitCode).toBe(0);
  expect(shimmed('doctor').stdout).not.toContain('older than');
  utimesSync(join(dir, 'git'), 1_700_000_000, 1_700_000_000);
  const outcome = shimmed('doctor');
  expect(outcome.exitCode).toBe(0);
  expect(outcome.stdout).toContain(`fix: agt shim install --dir ${dir}`);
  expect(shimmed('shim', 'install', '--dir', dir).exitCode).toBe(0);
  expect(shimmed('doctor').stdout).not.toContain('older than');
});

describe('a worktree that a killed git registered only in part', () => {
  function halfRegistered(): TestSession & { registration: string } {
    const session = makeSession();
    const registration = join(session.repository, '.git/worktrees/half way');
    write(join(registration, 'gitdir'), '/nowhere/.git\n');
    write(join(registration, 'locked'), 'initializing\n');
    write(join(registration, 'commondir'), '');
    utimesSync(registration, 1000, 1000);
    expect(run(REAL_GIT, ['branch'], { cwd: session.repository }).exitCode).toBe(128);
    return { ...session, registration };
  }

  test('is the only finding, and --fix removes it', () => {
    const { repository, sandbox, registration } = halfRegistered();
    expect(examine(repository).findings).toMatchObject([{ level: 'error', about: registration }]);
    agtOk(repository, 'doctor', '--fix');
    expect(git(repository, 'branch')).toContain('agt/s1');
    expect([existsSync(registration), existsSync(sandbox)]).toEqual([false, true]);
    expect(examine(repository).findings).toEqual([]);
  });

  test('is removed by the suggested command, and nothing else is', () => {
    const { repository, sandbox, registration } = halfRegistered();
    runSuggested(repository, examine(repository).findings[0]?.mend ?? '');
    expect([existsSync(registration), existsSync(sandbox)]).toEqual([false, true]);
    expect(examine(repository).findings).toEqual([]);
  });

  test.each([
    ['killed before git wrote HEAD', undefined],
    ['killed while HEAD was zeros', `${'0'.repeat(40)}\n`],
  ])('%s: --fix removes it, unless it has an index', (_, head) => {
    const { repository, registration } = halfRegistered();
    write(join(registration, 'commondir'), '../..\n');
    if (head !== undefined) write(join(registration, 'HEAD'), head);
    write(join(registration, 'index'), '');
    utimesSync(registration, 1000, 1000);
    agtOk(repository, 'doctor');
    expect(existsSync(registration)).toBe(true);
    rmSync(join(registration, 'index'));
    utimesSync(registration, 1000, 1000);
    expect(run(REAL_GIT, ['fsck', '--strict'], { cwd: repository }).exitCode).not.toBe(0);
    expect(examine(repository).findings).toMatchObject([{ level: 'error', about: registration }]);
    agtOk(repository, 'doctor', '--fix');
    git(repository, 'fsck', '--strict');
  });

  test.each([
    [['mine'], ['session', 'new', 's2']],
    [
      ['sandbox', 'mine'],
      ['session', 'restore', 's1', '--to', '@'],
    ],
    [['sandbox'], ['autocommit', 's1']],
    [
      ['sandbox', 'mine'],
      ['doctor', '--fix'],
    ],
  ])('a power cut has emptied the commondir of %s: agt %s keeps the index', (names, command) => {
    const { repository, sandbox } = makeSession();
    const linked = join(makeTempDir('linked'), 'mine');
    agtOk(repository, 'autocommit', 's1');
    git(repository, 'worktree', 'add', '-q', linked);
    for (const worktree of [sandbox, linked]) {
      write(join(worktree, 'staged'), 'staged\n');
      git(worktree, 'add', 'staged');
    }
    for (const name of names) {
      const registration = join(repository, '.git/worktrees', name);
      write(join(registration, 'commondir'), '');
      utimesSync(registration, 1000, 1000);
    }
    expect(run(REAL_GIT, ['branch'], { cwd: repository }).exitCode).toBe(128);
    agtOk(repository, ...command);
    expect(git(linked, 'status', '--porcelain')).toBe('A  staged');
    if (command[1] !== 'restore') expect(git(sandbox, 'status', '--porcelain')).toBe('A  staged');
    else expect(git(repository, 'show', 'agtsessions/s1~1:_/staged/staged')).toBe('staged');
  });

  test('a git worktree add that stands still keeps its registration', async () => {
    const { repository, registration } = halfRegistered();
    const adding = spawn('sh', ['-c', 'sleep 60', 'worktree', 'add'], { cwd: repository });
    await once(adding, 'spawn');
    try {
      expect(agt(repository, 'session', 'new', 's2').exitCode).not.toBe(0);
      agt(repository, 'doctor', '--fix');
      expect(existsSync(registration)).toBe(true);
    } finally {
      adding.kill('SIGKILL');
    }
  });

  test('does not block the creation of the next session', () => {
    const { repository } = halfRegistered();
    agtOk(repository, 'session', 'new', '--id', 's2');
    expect(examine(repository).findings).toEqual([]);
  });

  test('stays while a git process has the file open or may still write it', () => {
    const { repository, registration } = halfRegistered();
    const path = join(registration, 'commondir');
    const writer = openSync(path, 'a');
    expect(agt(repository, 'doctor', '--fix').exitCode).toBe(128);
    closeSync(writer);
    utimesSync(registration, new Date(), new Date());
    expect(agt(repository, 'doctor', '--fix').stderr).toContain('failed to read');
    expect(existsSync(path)).toBe(true);
  });
});
