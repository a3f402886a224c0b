/** A session is found again after its repository or folder was moved, and a copy never touches the original. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeSession, manifestOf, type TestSession, tryAutocommit } from '../harness/session.ts';
import { agt, agtOk, GIT_MODE, git, makeTempDir, run, write } from '../harness/world.ts';

let session: TestSession;
let place: string;

beforeEach(() => {
  session = makeSession({ 'a.txt': 'one\n' });
  write(join(session.sandbox, 'b.txt'), 'captured\n');
  agtOk(session.repository, 'autocommit', '--session-id', 's1');
  write(join(session.sandbox, 'c.txt'), 'not captured yet\n');
  git(session.sandbox, 'add', 'c.txt');
  place = join(makeTempDir('moved'), 'project');
});

interface Report {
  findings: { about: string; problem: string; mend: string }[];
}

function findings(repository: string): Report['findings'] {
  return (JSON.parse(agt(repository, 'doctor', '--json').stdout) as Report).findings;
}

/** Whether the work that was not captured yet is captured in `repository` now, and git agrees about the worktree. */
function expectWhole(repository: string, sandbox: string): void {
  agtOk(repository, 'autocommit', '--session-id', 's1');
  expect(git(repository, 'show', 'agtsessions/s1:sandbox/c.txt')).toBe('not captured yet');
  expect(git(sandbox, 'status', '--porcelain')).toBe('A  c.txt\n?? b.txt');
  expect(git(repository, 'worktree', 'list', '--porcelain')).toContain(`worktree ${sandbox}\n`);
  expect(findings(repository)).toEqual([]);
}

/** The files, what is staged and HEAD, although no `.git` file leads to the repository. */
function expectCaptured(): void {
  const head = git(session.repository, 'rev-parse', 'agt/s1');
  const outcome = tryAutocommit(session);
  expect(outcome.exitCode).toBe(0);
  expect(outcome.stderr).toContain('warning: s1: the sandbox has lost its .git file; see: agt doctor\n');
  for (const path of ['sandbox/c.txt', '_/staged/c.txt'])
    expect(git(session.repository, 'show', `agtsessions/s1:${path}`)).toBe('not captured yet');
  expect(manifestOf(session).head).toEqual({ ref: 'refs/heads/agt/s1', commit: head });
}

describe('doctor --fix connects a session again', () => {
  test('after its repository was moved away from it', () => {
    renameSync(session.repository, place);
    expect(findings(place)).toMatchObject([
      { about: 's1', problem: `its sandbox has a .git file that leads nowhere: ${session.sandbox}` },
    ]);
    agtOk(place, 'doctor', '--fix');
    expectWhole(place, session.sandbox);
  });

  test('after both were moved', () => {
    renameSync(session.repository, place);
    renameSync(`${session.repository}.agt`, `${place}.agt`);
    const sandbox = `${place}.agt/sessions/s1/sandbox`;
    expect(findings(place)).toMatchObject([{ about: 's1', problem: `its sandbox has moved to ${sandbox}` }]);
    expect(existsSync(`${session.repository}.agt`)).toBe(false);
    agtOk(place, 'doctor', '--fix');
    expectWhole(place, sandbox);
  });

  test('after its .git file was deleted, with what is staged', () => {
    rmSync(join(session.sandbox, '.git'));
    expectCaptured();
    expect(findings(session.repository)).toMatchObject([
      {
        about: 's1',
        problem: `its sandbox has lost its .git file: ${session.sandbox}`,
        mend: 'agt doctor --fix',
      },
    ]);
    agtOk(session.repository, 'doctor', '--fix');
    expectWhole(session.repository, session.sandbox);
  });

  test('after somebody made a repository there, which is kept', () => {
    rmSync(join(session.sandbox, '.git'));
    git(session.sandbox, 'init', '-q');
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'their own');
    const theirs = git(session.sandbox, 'rev-parse', 'HEAD');
    expectCaptured();
    write(join(session.sandbox, 'c.txt'), 'before a reset\n');
    expect(run(GIT_MODE, ['clean', '-fdxq'], { cwd: session.sandbox }).exitCode).toBe(0);
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/c.txt')).toBe('before a reset');
    const files = { 'a.txt': 'one\n', 'b.txt': 'captured\n', 'c.txt': 'not captured yet\n' };
    for (const [name, content] of Object.entries(files)) write(join(session.sandbox, name), content);
    const refused = agt(session.repository, 'session', 'restore', 's1', '--to', '@');
    expect(refused.stderr).toContain('has become a repository of its own');
    expect(readRecord(session.repository)).not.toHaveProperty('intent');
    agtOk(session.repository, 'doctor', '--fix');
    const [aside = ''] = run('sh', ['-c', 'echo replaced-git-*'], { cwd: session.folder }).stdout.split('\n');
    expect(git(join(session.folder, aside), 'rev-parse', 'HEAD')).toBe(theirs);
    renameSync(join(session.folder, aside), place);
    expectWhole(session.repository, session.sandbox);
  });

  test('not after git has lost its worktree: agt list says so as agt doctor does', () => {
    rmSync(join(session.repository, '.git/worktrees'), { recursive: true });
    expect(findings(session.repository)).toMatchObject([{ mend: 'agt restore s1 @' }]);
    const listed = agt(session.repository, 'list');
    expect([listed.stdout, listed.stderr]).toEqual([expect.stringMatching(/^s1 +sandbox broken /m), '']);
    agtOk(session.repository, 'restore', 's1', '@');
    expect(findings(session.repository)).toEqual([]);
  });

  test('after git worktree move, with the command that moves it back', () => {
    const elsewhere = join(makeTempDir('elsewhere'), 'sandbox');
    git(session.repository, 'worktree', 'move', session.sandbox, elsewhere);
    const [found] = findings(session.repository);
    expect(found?.problem).toBe(`its sandbox is gone: ${session.sandbox}`);
    expect(found?.mend).toBe(`agt git worktree move ${elsewhere} ${session.sandbox}`);
    mkdirSync(session.folder, { recursive: true });
    git(session.repository, 'worktree', 'move', elsewhere, session.sandbox);
    expectWhole(session.repository, session.sandbox);
  });
});

function readRecord(repository: string): object {
  return JSON.parse(readFileSync(join(repository, '.git/agt/sessions/s1.json'), 'utf8'));
}

describe('a copy of the repository', () => {
  const REFUSED = /^error: the sandbox of "s1" belongs to another repository: /;

  beforeEach(() => {
    cpSync(session.repository, place, { recursive: true, verbatimSymlinks: true });
  });

  test.each([
    ['autocommit', ['autocommit', '--session-id', 's1']],
    ['session remove', ['session', 'remove', 's1']],
    ['session remove --force', ['session', 'remove', 's1', '--force', '--delete-branch']],
    ['session restore', ['session', 'restore', 's1', '--to', '@']],
    ['session undo', ['session', 'undo', 's1']],
  ])('%s leaves the original alone', (_, args) => {
    const before = git(session.repository, 'for-each-ref');
    const outcome = agt(place, ...args);
    expect(outcome.stderr).toMatch(REFUSED);
    expect(outcome.exitCode).toBe(1);
    expect(git(session.repository, 'for-each-ref')).toBe(before);
    expectWhole(session.repository, session.sandbox);
  });

  test('gets a session folder of its own by doctor --fix and a restore', () => {
    expect(findings(place)).toMatchObject([{ about: 's1', mend: 'agt doctor --fix' }]);
    const { exitCode, stdout } = agt(place, 'doctor', '--fix');
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('    fix: agt restore s1 @\n')]);
    // An empty sandbox would be a session that has deleted every file.
    expect(agt(place, 'accept', 's1').stderr).toMatch(/^error: the sandbox of "s1" is gone: /);
    agtOk(place, 'session', 'restore', 's1', '--to', '@');
    expect(findings(place)).toEqual([]);
    expect(readFileSync(`${place}.agt/sessions/s1/sandbox/b.txt`, 'utf8')).toBe('captured\n');
    expectWhole(session.repository, session.sandbox);
  });

  test('gets it as well if agt was killed while it led git to the new place', () => {
    const lead = join(place, '.git/worktrees/sandbox/gitdir');
    write(lead, `${place}.agt/sessions/s1/sandbox/.git\n`);
    agt(place, 'doctor', '--fix');
    agtOk(place, 'restore', 's1', '@');
    expect(findings(place)).toEqual([]);
    expectWhole(session.repository, session.sandbox);
  });

  test('with its session folders works on those after doctor --fix', () => {
    cpSync(`${session.repository}.agt`, `${place}.agt`, { recursive: true, verbatimSymlinks: true });
    agtOk(place, 'doctor', '--fix');
    expectWhole(place, `${place}.agt/sessions/s1/sandbox`);
    expectWhole(session.repository, session.sandbox);
  });
});

describe('a link in the place of the sandbox', () => {
  beforeEach(() => {
    renameSync(session.sandbox, place);
    symlinkSync(place, session.sandbox);
  });

  test('is refused: agt captures no empty session', () => {
    const tip = git(session.repository, 'rev-parse', 'agtsessions/s1');
    const outcome = tryAutocommit(session);
    expect(outcome.stderr).toBe(
      `error: the sandbox of "s1" is no directory, but a link or a file: ${session.sandbox}\n` +
        'hint: agt captures only what is in the directory itself: move it back to its place\n',
    );
    expect(outcome.exitCode).toBe(1);
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(tip);
    expect(agt(session.repository, 'session', 'undo', 's1').stderr).toContain('is no directory');
    expect(readFileSync(join(place, 'c.txt'), 'utf8')).toBe('not captured yet\n');
  });

  test('doctor names it', () => {
    expect(findings(session.repository)).toMatchObject([
      { about: 's1', mend: `put the directory itself at ${session.sandbox}` },
    ]);
  });
});

test('a worktree that somebody added over a lost sandbox: git does not list it twice after doctor --fix', () => {
  renameSync(session.repository, place);
  rmSync(`${session.repository}.agt`, { recursive: true });
  const sandbox = `${place}.agt/sessions/s1/sandbox`;
  git(place, 'worktree', 'add', '-q', '-f', sandbox, 'agt/s1');
  agtOk(place, 'doctor', '--fix');
  const listed = () => git(place, 'worktree', 'list').split('\n').length;
  expect(listed()).toBe(2);
  const [name = ''] = readdirSync(join(place, '.git/worktrees'));
  cpSync(join(place, '.git/worktrees', name), join(place, '.git/worktrees/double'), { recursive: true });
  expect(findings(place)).toMatchObject([
    { problem: expect.stringContaining('twice'), mend: 'agt doctor --fix' },
  ]);
  agtOk(place, 'doctor', '--fix');
  expect([listed(), findings(place)]).toEqual([2, []]);
});
