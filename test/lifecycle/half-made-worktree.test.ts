/** agt and `git worktree add` are killed together: the same command again, or agt doctor --fix, does its work. */
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { ofToday } from '../harness/today.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');
const ZEROS = `${'0'.repeat(40)}\n`;

interface Half {
  /** The registration in the repository. */
  readonly gitDir: string;
  readonly sandbox: string;
}

/** The states of git, from its last step backwards. */
const HALVES: readonly [name: string, make: (half: Half) => void][] = [
  ['HEAD is locked', ({ gitDir }) => writeFileSync(join(gitDir, 'HEAD.lock'), 'ref: refs/heads/agt/s2\n')],
  ['HEAD names no commit yet', ({ gitDir }) => writeFileSync(join(gitDir, 'HEAD'), ZEROS)],
  ['commondir is empty', ({ gitDir }) => writeFileSync(join(gitDir, 'commondir'), '')],
  ['commondir is missing', ({ gitDir }) => rmSync(join(gitDir, 'commondir'))],
  ['HEAD is empty', ({ gitDir }) => writeFileSync(join(gitDir, 'HEAD'), '')],
  ['HEAD is missing', ({ gitDir }) => rmSync(join(gitDir, 'HEAD'))],
  ['.git is empty', ({ sandbox }) => writeFileSync(join(sandbox, '.git'), '')],
  ['.git is missing', ({ sandbox }) => rmSync(join(sandbox, '.git'))],
  ['the sandbox is missing', ({ sandbox }) => rmSync(sandbox, { recursive: true })],
  ['gitdir is empty', ({ gitDir }) => writeFileSync(join(gitDir, 'gitdir'), '')],
  ['gitdir is missing', ({ gitDir }) => rmSync(join(gitDir, 'gitdir'))],
  ['the registration is missing', ({ gitDir }) => rmSync(gitDir, { recursive: true })],
];

const COMMANDS = [
  ['session', 'new', '--id', 's2'],
  ['session', 'fork', '--from', 's1', '--id', 's2'],
];
const WAYS = ['again', 'by doctor', 'by session remove'] as const;
const CASES = HALVES.flatMap(([name], index) =>
  WAYS.map((how, way) => ({ name, index, how, command: COMMANDS[(index + way) % 2] as string[] })),
).map((each) => ({ ...each, verb: each.command[1] }));

/** agt leaves a registration alone that git may still be making: for a second. */
function nothingIsWrong(repository: string): void {
  const worktrees = join(repository, '.git/worktrees');
  const longAgo = Date.now() / 1000 - 60;
  for (const name of existsSync(worktrees) ? readdirSync(worktrees) : [])
    utimesSync(join(worktrees, name), longAgo, longAgo);
  agt(repository, 'doctor', '--fix');
  expect(agtOk(repository, 'doctor')).toMatch(/(^|\n)nothing is wrong$/);
}

function kill(repository: string, point: string, command: readonly string[]): void {
  const env = { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT };
  expect(run(process.execPath, [KILLABLE, ...command], { cwd: repository, env }).exitCode).toBe(null);
}

test.each(ofToday(CASES))('session $verb, where $name: $how', ({ index, command, how }) => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'kept'), 'kept\n');
  kill(repository, 'create: worktree added#1', command);
  const second = join(sandbox, '../../s2/sandbox');
  const gitDir = readFileSync(join(second, '.git'), 'utf8').replace('gitdir: ', '').trim();
  writeFileSync(join(gitDir, 'locked'), 'initializing\n');
  rmSync(join(gitDir, 'index'), { force: true });
  for (const [, make] of HALVES.slice(0, index + 1)) make({ gitDir, sandbox: second });

  for (const asked of [['session', 'list'], ['status'], ['doctor'], ['autocommit', '--all']]) {
    const { exitCode, stderr } = agt(repository, ...asked);
    // Neither git lists worktrees then.
    if (exitCode === 128)
      expect(stderr).toContain('hint: if a git that was killed has left it: agt doctor --fix');
    else expect([0, 1], asked.join(' ')).toContain(exitCode);
  }
  if (how === 'by doctor') {
    nothingIsWrong(repository);
    expect(existsSync(join(second, '..'))).toBe(false);
  }
  if (how === 'by session remove') {
    agtOk(repository, 'session', 'remove', 's2', '--dry-run');
    agtOk(repository, 'session', 'remove', 's2');
    expect(existsSync(join(second, '..'))).toBe(false);
  }
  agtOk(repository, ...command);
  expect(existsSync(join(second, 'kept'))).toBe(command.includes('fork'));
  nothingIsWrong(repository);
  agtOk(repository, 'session', 'remove', 's2', '--delete-branch', '--force');
});

test.each(ofToday(HALVES.map(([name], index) => ({ name, index }))))(
  'restore of a removed session, where $name',
  ({ index }) => {
    const { repository, sandbox } = makeSession();
    write(join(sandbox, 'kept'), 'kept\n');
    agtOk(repository, 'session', 'remove', 's1');
    const command = ['session', 'restore', 's1', '--to', '@'];
    kill(repository, 'worktree: added beside#1', command);
    const beside = join(sandbox, '../.agt-worktree/sandbox');
    const gitDir = readFileSync(join(beside, '.git'), 'utf8').replace('gitdir: ', '').trim();
    for (const [, make] of HALVES.slice(0, index + 1)) make({ gitDir, sandbox: beside });

    agtOk(repository, ...command);
    expect(readFileSync(join(sandbox, 'kept'), 'utf8')).toBe('kept\n');
    expect(git(sandbox, 'status', '--porcelain')).toBe('?? kept');
    expect(git(repository, 'worktree', 'list')).toContain(sandbox);
    expect(existsSync(join(beside, '..'))).toBe(false);
  },
);

test('a file in a session that agt did not finish creating survives its removal', () => {
  const { repository, sandbox } = makeSession();
  kill(repository, 'create: filled#1', ['session', 'new', '--id', 's2']);
  const file = join(sandbox, '../../s2/sandbox/work');
  write(file, 'work\n');
  const refused = agt(repository, 'session', 'remove', 's2', '--delete-branch');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain(
    'has files that only its snapshots have (work); --delete-branch would lose',
  );
  expect(existsSync(file)).toBe(false);
  agtOk(repository, 'undo', 's2');
  expect(readFileSync(file, 'utf8')).toBe('work\n');
  agtOk(repository, 'session', 'remove', 's2', '--delete-branch', '--force');
  expect(agt(repository, 'session', 'show', 's2').exitCode).not.toBe(0);
});

test.each(ofToday(HALVES.map(([name], index) => ({ name, index }))))(
  'a file in a session that agt did not finish creating comes back after doctor --fix, where $name',
  ({ index }) => {
    const { repository, sandbox } = makeSession();
    kill(repository, 'create: worktree added#1', ['session', 'new', '--id', 's2']);
    const second = join(sandbox, '../../s2/sandbox');
    const gitDir = readFileSync(join(second, '.git'), 'utf8').replace('gitdir: ', '').trim();
    for (const [, make] of HALVES.slice(0, index + 1)) make({ gitDir, sandbox: second });
    write(join(second, 'work'), 'work\n');
    const refused = agt(repository, 'session', 'path', 's2');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toContain(
      'did not finish creating session "s2"\nhint: finish or undo that: agt doctor --fix\n',
    );
    expect(agt(repository, 'doctor').stdout).toContain('error: s2: agt did not finish creating it');
    agt(repository, 'doctor', '--fix');
    agtOk(repository, 'undo', 's2');
    expect(readFileSync(join(second, 'work'), 'utf8')).toBe('work\n');
    expect(git(second, 'status', '--short', '--branch')).toMatch(/^## agt\/s2\n(.*\n)*\?\? work$/);
    expect(agt(repository, 'doctor').stdout).not.toContain('error: ');
  },
);

test('a restore deletes no file of somebody else beside the sandbox', () => {
  const { repository, sandbox } = makeSession();
  const notes = join(sandbox, '../.agt-worktree/notes');
  write(join(sandbox, 'kept'), 'kept\n');
  agtOk(repository, 'autocommit', '--session-id', 's1');
  write(notes, 'mine\n');
  agtOk(repository, 'session', 'restore', 's1', '--to', '@');
  expect(readFileSync(notes, 'utf8')).toBe('mine\n');
});
