/** A git that was killed while it brought the user's worktree along: some files are new, one in part, the index is old. */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

const FILES = {
  whole: 'old\n',
  part: 'old\n',
  missing: 'old\n',
  gone: 'old\n',
  mine: 'old\n',
  same: 'old\n',
};

test.each(['the same command', 'agt doctor --fix'])('%s brings the worktree back', (how) => {
  const { repository, sandbox } = makeSession(FILES);
  for (const name of ['whole', 'part', 'missing', 'mine', 'new/whole', 'new/part'])
    write(join(sandbox, name), `new ${name}\n`.repeat(100));
  rmSync(join(sandbox, 'gone'));
  write(join(repository, 'same'), 'uncommitted\n');
  write(join(repository, 'untracked'), 'untracked\n');
  const status = () => git(repository, 'status', '--porcelain');
  const before = status();
  const env = { AGT_TEST_KILL_AT: 'landing: branch locked#1', AGT_GIT_PATH: REAL_GIT };
  expect(run(process.execPath, [KILLABLE, 'accept', 's1'], { cwd: repository, env }).exitCode).toBe(null);
  expect(status()).toBe(before);

  // So git leaves a worktree if it is killed.
  for (const name of ['whole', 'new/whole']) write(join(repository, name), `new ${name}\n`.repeat(100));
  for (const name of ['part', 'new/part']) write(join(repository, name), `new ${name}\n`.repeat(7));
  for (const name of ['missing', 'gone']) rmSync(join(repository, name));
  write(join(repository, '.git/index.lock'), '');
  write(join(repository, '.git/refs/heads/main.lock'), '');
  // And the user has changed a file since.
  write(join(repository, 'mine'), 'by the user\n');

  if (how === 'the same command') {
    const refused = agt(repository, 'accept', 's1');
    expect(refused.stderr).toContain('hint: mine: not committed');
  } else {
    expect(agt(repository, 'doctor').stdout).toContain('agt did not finish accepting it');
    expect(agtOk(repository, 'doctor', '--fix')).toContain('nothing is wrong');
  }
  expect(status()).toBe(` M mine\n${before}`);
  expect(readFileSync(join(repository, 'mine'), 'utf8')).toBe('by the user\n');
  for (const name of ['whole', 'part', 'missing', 'gone'])
    expect(readFileSync(join(repository, name), 'utf8')).toBe('old\n');
  expect(existsSync(join(repository, 'new'))).toBe(false);

  git(repository, 'checkout', '-q', 'mine');
  agtOk(repository, 'accept', 's1');
  expect(status()).toBe(before);
  expect(statSync(join(repository, 'new/part')).size).toBe(`new new/part\n`.length * 100);
});

test('a directory that the user has replaced with a link since: nothing behind the link changes', () => {
  const { repository, sandbox } = makeSession({ 'dir/old': 'old\n', 'dir/other': 'old\n' });
  for (const name of ['dir/new', 'dir/old']) write(join(sandbox, name), `new ${name}\n`);
  const env = { AGT_TEST_KILL_AT: 'landing: branch locked#1', AGT_GIT_PATH: REAL_GIT };
  expect(run(process.execPath, [KILLABLE, 'accept', 's1'], { cwd: repository, env }).exitCode).toBe(null);
  const outside = makeTempDir('outside');
  for (const name of ['new', 'old', 'other']) write(join(outside, name), '');
  rmSync(join(repository, 'dir'), { recursive: true });
  symlinkSync(outside, join(repository, 'dir'));
  agt(repository, 'doctor', '--fix');
  for (const name of ['new', 'old', 'other']) expect(readFileSync(join(outside, name), 'utf8')).toBe('');
  expect(readlinkSync(join(repository, 'dir'))).toBe(outside);
});

test('a git that had put a link in the place of a directory: the directory comes back', () => {
  const { repository, sandbox } = makeSession({ 'dir/old': 'old\n' });
  rmSync(join(sandbox, 'dir'), { recursive: true });
  symlinkSync('/nowhere', join(sandbox, 'dir'));
  const env = { AGT_TEST_KILL_AT: 'landing: branch locked#1', AGT_GIT_PATH: REAL_GIT };
  expect(run(process.execPath, [KILLABLE, 'accept', 's1'], { cwd: repository, env }).exitCode).toBe(null);
  rmSync(join(repository, 'dir'), { recursive: true });
  symlinkSync('/nowhere', join(repository, 'dir'));
  agtOk(repository, 'doctor', '--fix');
  expect(readFileSync(join(repository, 'dir/old'), 'utf8')).toBe('old\n');
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('an unfinished acceptance is not overtaken by a removal', () => {
  const { repository, sandbox } = makeSession(FILES);
  write(join(sandbox, 'new'), 'new\n');
  const env = { AGT_TEST_KILL_AT: 'landing: worktree brought along#1', AGT_GIT_PATH: REAL_GIT };
  run(process.execPath, [KILLABLE, 'accept', 's1'], { cwd: repository, env });
  for (const command of ['remove', 'reject']) {
    const refused = agt(repository, command, 's1');
    expect(refused.stderr).toContain(
      'did not finish accepting session "s1"\nhint: finish or undo that: agt doctor --fix',
    );
  }
  agtOk(repository, 'doctor', '--fix');
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(existsSync(join(repository, 'new'))).toBe(false);
  agtOk(repository, 'reject', 's1');
});

test('a lock on the index that another program has open stays', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'new'), 'new\n');
  const lock = join(repository, '.git/index.lock');
  const held = openSync(lock, 'w');
  try {
    expect(agt(repository, 'accept', 's1').stderr).toContain(
      'if a git works there, try again when it is done',
    );
    expect(existsSync(lock)).toBe(true);
  } finally {
    closeSync(held);
  }
  rmSync(lock);
  agtOk(repository, 'accept', 's1');
});

test.each(['worktree: folder made', 'worktree: led to the sandbox', 'restore: brought back'])(
  'an unaccept killed at "%s" goes on to the end of it',
  (point) => {
    const { repository, sandbox } = makeSession();
    write(join(sandbox, 'new'), 'new\n');
    const before = git(repository, 'rev-parse', 'main');
    agtOk(repository, 'accept', 's1');
    const accepted = git(repository, 'rev-parse', 'main');
    const command = ['session', 'unaccept', 's1', '--json'];
    const env = { AGT_TEST_KILL_AT: `${point}#1`, AGT_GIT_PATH: REAL_GIT };
    expect(run(process.execPath, [KILLABLE, ...command], { cwd: repository, env }).exitCode).toBe(null);
    expect(git(repository, 'rev-parse', 'main')).toBe(before);
    expect(JSON.parse(agtOk(repository, ...command, '--dry-run'))).toMatchObject({ dry_run: true });
    const report = JSON.parse(agtOk(repository, ...command));
    expect(report).toMatchObject({ session_id: 's1', onto: 'main', undone: accepted, commit: before });
    expect(readFileSync(join(sandbox, 'new'), 'utf8')).toBe('new\n');
    expect(agtOk(repository, 'doctor')).toMatch(/(^|\n)nothing is wrong$/);
    expect(agt(repository, ...command).stderr).toContain('was taken back already');
  },
);
