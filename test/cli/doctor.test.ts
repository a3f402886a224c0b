import { closeSync, existsSync, openSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/disk/lock.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

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
  const script = suggestion.replaceAll(/\bagt /g, `${join(import.meta.dirname, '../../dist/agt')} `);
  const outcome = run('/bin/sh', ['-ec', script], { cwd });
  if (outcome.exitCode !== 0) throw new Error(`${suggestion}: ${outcome.stderr}`);
}

function withSession(): { repository: string; sandbox: string } {
  const repository = makeRepository();
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json'));
  return { repository, sandbox };
}

describe('agt doctor', () => {
  test('finds nothing wrong in a new session and names the real git', () => {
    const { repository } = withSession();
    const report = examine(repository);
    expect(report.findings).toEqual([]);
    expect(report.exitCode).toBe(0);
    expect(report.git.path).toBe(REAL_GIT);
    expect(`git version ${report.git.version}`).toBe(
      git(repository, '--version').split(' ').slice(0, 3).join(' '),
    );
  });

  test('works outside a repository', () => {
    const outcome = agt(makeTempDir(), 'doctor');
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stdout).toContain('repository  none here');
  });

  const DAMAGES: [string, (session: { repository: string; sandbox: string }) => void, RegExp][] = [
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
    const session = withSession();
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
    const { repository } = withSession();
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
});

describe('agt doctor --fix', () => {
  test('fixes and reports what needs no decision, and still lists the rest', () => {
    const { repository, sandbox } = withSession();
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
    const { repository, sandbox } = withSession();
    const record = join(repository, '.git/agt/sessions/s1.json');
    const halfMade = () => write(record, readFileSync(record, 'utf8').replace('"active"', '"creating"'));
    halfMade();
    write(join(sandbox, 'work'), 'mine\n');
    agtOk(repository, 'doctor', '--fix');
    expect(git(repository, 'show', 'agtsessions/s1:sandbox/work')).toBe('mine');
    expect(agtOk(repository, 'session', 'list', '--all')).toMatch(/s1 +removed/);

    agtOk(repository, 'session', 'remove', 's1', '--delete-branch', '--force');
    agtOk(repository, 'session', 'new', '--id', 's1');
    halfMade();
    agtOk(repository, 'doctor', '--fix');
    expect(agtOk(repository, 'session', 'list', '--all')).toBe('');
    expect(git(repository, 'for-each-ref', 'refs/agt', 'refs/heads/agt*')).toBe('');
  });
});

test('agt doctor --fix removes stale locks before it finishes an interrupted restore', () => {
  const { repository, sandbox } = withSession();
  write(join(sandbox, 'kept'), 'one\n');
  agtOk(repository, 'autocommit', '--session-id', 's1');
  const snapshot = git(repository, 'rev-parse', 'agtsessions/s1');
  write(join(sandbox, 'kept'), 'two\n');
  const record = join(repository, '.git/agt/sessions/s1.json');
  write(record, JSON.stringify({ ...JSON.parse(readFileSync(record, 'utf8')), restoring: snapshot }));
  const lock = join(repository, '.git/refs/heads/agtsessions/s1.lock');
  write(lock, '');
  utimesSync(lock, 1000, 1000);
  const fixed = agt(repository, 'doctor', '--fix');
  expect([fixed.exitCode, fixed.stdout.match(/^fixed: /gm)?.length]).toEqual([0, 2]);
  expect(readFileSync(join(sandbox, 'kept'), 'utf8')).toBe('one\n');
  expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
});

describe('a worktree that a killed git registered only in part', () => {
  function halfRegistered(): { repository: string; sandbox: string; registration: string } {
    const session = withSession();
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

describe('agt doctor --fix does not touch', () => {
  function halfMade(state: string): { repository: string; sandbox: string } {
    const session = withSession();
    agtOk(session.repository, 'autocommit', '--session-id', 's1');
    const path = join(session.repository, '.git/agt/sessions/s1.json');
    write(path, readFileSync(path, 'utf8').replace('"active"', JSON.stringify(state)));
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
    for (const state of ['creating', 'removing']) {
      const { repository, sandbox } = halfMade(state);
      write(join(repository, '.git/agt/locks/s1'), JSON.stringify(identify(process.pid)));
      expect(agtOk(repository, 'doctor', '--fix')).toContain('nothing is wrong');
      expect(existsSync(sandbox)).toBe(true);
    }
  });

  test('temporary files of git that may be in use, until they are old', () => {
    const { repository } = withSession();
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

describe('agt status', () => {
  test('shows each session, its changes since the last autocommit, the settings and the problems', () => {
    const { repository, sandbox } = withSession();
    agtOk(repository, 'autocommit', '--session-id', 's1');
    write(join(sandbox, 'new.txt'), 'x\n');
    git(repository, 'update-ref', '-d', 'refs/heads/agtsessions/s1');
    const text = agtOk(repository, 'status');
    expect(text).toContain('1 session\n');
    expect(text).toMatch(/s1 {2}active {2}agt\/s1 .*1 path changed since/);
    expect(text).toContain('1 problem\n  error: s1: agtsessions/s1 is missing\n');
    const report = JSON.parse(agtOk(repository, 'status', '--json'));
    expect(report.sessions[0]).toMatchObject({ session_id: 's1', changed_since: 1 });
    expect(report.findings).toHaveLength(1);
  });
});
