/** Ctrl-C: a creation is undone, and a restore or a removal says how to go on. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { hearingAlone, onSignals } from '../../src/process/interrupts.ts';
import { autocommit, makeSession, type TestSession, tryAutocommit } from '../harness/session.ts';
import {
  AGT,
  agt,
  agtOk,
  git,
  makeTempDir,
  type Outcome,
  REAL_GIT,
  runsAsGit,
  write,
} from '../harness/world.ts';

/** Interrupts agt when it runs git with these words. That git waits for it; it ends first if `isGitFirst`. */
async function interruptAt(
  words: string,
  { repository }: TestSession,
  args: readonly string[],
  isGitFirst = false,
): Promise<Outcome> {
  const dir = makeTempDir('slow-git');
  const slowGit = join(dir, 'git');
  const isReached = join(dir, 'reached');
  write(
    slowGit,
    `#!/bin/sh\ncase "$*" in *'${words}'*) echo $$ >${isReached}; exec sleep 60 ;; esac\nexec ${REAL_GIT} "$@"\n`,
    0o755,
  );
  const child = spawn(AGT, args, {
    cwd: repository,
    detached: true,
    env: { ...process.env, ...runsAsGit(slowGit) },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => (stdout += data));
  child.stderr.on('data', (data) => (stderr += data));
  const ended = new Promise<Outcome>((resolve) =>
    child.on('exit', (code, signal) =>
      resolve({ exitCode: signal === 'SIGINT' ? 130 : code, stdout, stderr }),
    ),
  );
  while (!existsSync(isReached) || readFileSync(isReached, 'utf8') === '') await sleep(10);
  if (isGitFirst) {
    process.kill(Number(readFileSync(isReached, 'utf8')), 'SIGINT');
    await sleep(100);
  }
  // As a terminal does: to all processes in the foreground.
  process.kill(-(child.pid as number), 'SIGINT');
  return ended;
}

function makeWork(): TestSession {
  const session = makeSession();
  for (const content of ['first', 'second']) {
    write(join(session.sandbox, 'work'), content);
    expect(tryAutocommit(session, '--label', content).exitCode).toBe(0);
  }
  return session;
}

const workIn = ({ sandbox }: TestSession) => readFileSync(join(sandbox, 'work'), 'utf8');

test.each([
  ['fork', ['session', 'fork', 's1', '--id', 's2'], 'ls-tree -r -z'],
  ['new', ['session', 'new', 's2'], 'worktree add'],
])('%s leaves nothing', async (_, command, words) => {
  const session = makeWork();
  const before = git(session.repository, 'for-each-ref', '--format=%(refname)');
  const outcome = await interruptAt(words, session, command);
  expect(outcome).toEqual({
    exitCode: 130,
    stdout: '',
    stderr: 'error: interrupted; session "s2" was not created\n',
  });
  expect(git(session.repository, 'for-each-ref', '--format=%(refname)')).toBe(before);
  expect(agt(session.repository, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
  agtOk(session.repository, ...command);
});

test('an undo is finished by an undo; a redo before that is refused, and records nothing', async () => {
  const session = makeWork();
  git(session.sandbox, 'checkout', '-q', '--detach');
  autocommit(session);
  const tip = () => git(session.repository, 'rev-parse', '--short=10', 'agtsessions/s1').trim();
  const [content, before] = [workIn(session), tip()];
  const undo = ['session', 'undo', 's1'];
  expect((await interruptAt('worktree list', session, undo)).stderr).toBe(
    'error: interrupted; session "s1" is only partly restored\n' +
      'hint: go on: agt undo s1\n' +
      `hint: or go back: agt restore s1 ${before}\n`,
  );
  for (const more of [[], ['-n']])
    expect(agt(session.repository, 'session', 'redo', 's1', ...more)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('an undo of "s1" is not finished\nhint: finish it: agt undo s1\n'),
    });
  expect(tip()).toBe(before);
  agtOk(session.repository, ...undo);
  agtOk(session.repository, 'session', 'redo', 's1');
  expect(workIn(session)).toBe(content);
});

test('restore names the ways on and back, and both work', async () => {
  const session = makeWork();
  // So that agt asks git whether it may put HEAD back, when the files are there.
  git(session.sandbox, 'checkout', '-q', '--detach');
  write(join(session.sandbox, 'work'), 'third');
  const outcome = await interruptAt('worktree list', session, ['session', 'restore', 's1', '--to', 'first']);
  const commit = git(session.repository, 'rev-parse', '--short=10', 'agtsessions/s1~2');
  expect(outcome).toEqual({
    exitCode: 130,
    stdout: '',
    stderr:
      'error: interrupted; session "s1" is only partly restored\n' +
      `hint: go on: agt restore s1 ${commit}\n` +
      'hint: or go back: agt undo s1\n',
  });
  agtOk(session.repository, 'session', 'restore', 's1', '--to', commit);
  expect(workIn(session)).toBe('first');
  write(join(session.sandbox, 'work'), 'fourth');
  git(session.sandbox, 'checkout', '-q', '--detach');
  await interruptAt('worktree list', session, ['session', 'restore', 's1', '--to', commit]);
  agtOk(session.repository, 'session', 'undo', 's1');
  expect(workIn(session)).toBe('fourth');
});

test.each([
  ['agt sees the signal at once', false],
  ['agt sees the end of git first', true],
])('remove says how to go on: %s', async (_, isGitFirst) => {
  const session = makeWork();
  write(join(session.sandbox, 'work'), 'third');
  const outcome = await interruptAt('fast-import', session, ['session', 'remove', 's1'], isGitFirst);
  expect(outcome.stderr).toMatch(
    /^error: interrupted; session "s1" (has not changed|is only partly removed)\n/,
  );
  agtOk(session.repository, 'session', 'remove', 's1');
  expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/work')).toBe('third');
});

test.each([
  [
    'accept',
    'merge-tree',
    ['accept', 's1', '--untracked=all'],
    /^error: interrupted; session "s1" has not changed\n$/,
  ],
  ['gc', 'rev-list', ['gc'], /^$/],
])('an interrupted %s says one thing, whether git or agt ends first', async (_, words, args, said) => {
  const session = makeWork();
  for (const isGitFirst of [false, true]) {
    const { exitCode, stderr } = await interruptAt(words, session, args, isGitFirst);
    expect([exitCode, stderr]).toEqual([130, expect.stringMatching(said)]);
  }
});

test('a signal that comes as the last one stops to listen is not lost', () => {
  const script = `
    import { onSignals } from ${JSON.stringify(resolve('src/process/interrupts.ts'))};
    const release = onSignals((signal) => { console.log(signal); process.exit(); });
    process.kill(process.pid, 'SIGTERM');
    release();
    setTimeout(() => console.log('lost'), 1_000);`;
  const outcome = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  expect(outcome.stdout).toBe('SIGTERM\n');
});

test('who is released while another hears alone stays away', async () => {
  const before = process.listenerCount('SIGHUP');
  const release = onSignals(() => undefined);
  await hearingAlone(
    ['SIGHUP'],
    () => undefined,
    async () => {
      release();
      for (let n = 0; n < 3; n++) await new Promise(setImmediate);
    },
  );
  expect(process.listenerCount('SIGHUP')).toBe(before);
});
