/** Prompts that are commands of agt. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownerText } from '../../src/disk/lock-owner.ts';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { catches, failures, log, metadata, SIGHUP, say, silent, toolOf, until } from './hooks.ts';

test('agt undo, redo, restore and snapshots as prompts are answered without the model', () => {
  const session = makeSession({ a: 'a\n' });
  const { sandbox } = session;
  const answer = (prompt: string) => {
    const { stdout, exitCode } = say(sandbox, prompt);
    expect(exitCode).toBe(0);
    const { decision, reason } = JSON.parse(stdout) as { decision: string; reason: string };
    expect(decision).toBe('block');
    return reason;
  };
  expect(answer('agt redo')).toMatch(/^error: nothing to redo/);
  say(sandbox, 'first');
  write(join(sandbox, 'b'), 'b\n');
  toolOf(sandbox, 'Write', { file_path: 'b' });
  expect(answer('agt undo.')).toMatch(
    /^s1: restored 1 path, verified\nnow at "prompt: first".*\nto undo: agt redo$/,
  );
  expect(existsSync(join(sandbox, 'b'))).toBe(false);
  expect(answer('  /agt redo ')).toMatch(/^s1: restored 1 path.*\n.*\nto undo: agt undo$/);
  expect(answer('agt redo!')).toMatch(
    /^error: nothing to redo.*\nhint: to go to any snapshot: agt restore SNAP/,
  );
  expect(existsSync(join(sandbox, 'b'))).toBe(true);
  expect(answer('agt restore "prompt: first"')).toMatch(/^s1: restored 1 path/);
  expect(existsSync(join(sandbox, 'b'))).toBe(false);
  expect(answer('agt restore nothing')).toMatch(/^error: no snapshot "nothing"/);
  expect(answer('agt snapshots')).toMatch(/^SNAPSHOT .*\n@\{0\}/);
  expect(answer('agt states').split('\n')).toHaveLength(7);
  expect(answer('AGT Snapshots')).toMatch(/^SNAPSHOT .*\n@\{0\}/);
  for (const mistaken of ['agt undo 2', 'agt redo --dry-run', 'agt restore', 'agt restore @{0} --path a'])
    expect(answer(mistaken)).toMatch(`error: a prompt cannot be "${mistaken}"\nhint: agt undo, agt redo`);
  expect(existsSync(join(sandbox, 'b'))).toBe(false);
  for (const [near, meant] of [
    ['agt redoo', 'agt redo'],
    ['agt udno.', 'agt undo'],
    ['agt undo?', 'agt undo'],
    ['/agt snapshot', 'agt snapshots'],
  ])
    expect(answer(near ?? '')).toContain(`hint: did you mean: ${meant}`);
  for (const other of [
    'agt.',
    'agt rocks!',
    'agt status',
    'agt redo. Then go on',
    'agt undo the last edit please',
    'agt undo 2 steps',
    'agt undo is broken',
    'agt',
    'please agt undo',
    'agt accept',
  ])
    expect(say(sandbox, other)).toEqual(silent);
});

test('a session that was moved is named, and the command that connects it again', () => {
  const parent = makeTempDir('parent');
  const session = makeSession({ a: 'a\n' });
  const [repository, folder] = [join(parent, 'moved'), join(parent, 'moved.agt/sessions/s1')];
  renameSync(session.repository, repository);
  renameSync(join(session.folder, '../..'), `${repository}.agt`);
  const sandbox = join(folder, 'sandbox');
  const moved = `error: session "s1" has moved here from ${session.folder}\nhint: connect it again: agt doctor --fix`;
  write(join(sandbox, 'b'), 'b\n');
  expect(toolOf(sandbox, 'Write', { file_path: 'b' })).toEqual(silent);
  expect(failures()).toMatchObject([{ reason: expect.stringContaining('session "s1" has moved here') }]);
  expect(JSON.parse(say(sandbox, 'agt undo').stdout)).toMatchObject({ decision: 'block', reason: moved });
  for (const command of [['undo'], ['autocommit'], ['session', 'show']])
    expect(agt(sandbox, ...command).stderr.trimEnd()).toBe(moved);
  agtOk(repository, 'doctor', '--fix');
  expect(say(sandbox, 'go on')).toEqual(silent);
  write(join(sandbox, 'c'), 'c\n');
  expect(toolOf(sandbox, 'Write', { file_path: 'c' })).toEqual(silent);
  expect(JSON.parse(say(sandbox, 'agt undo').stdout).reason).toMatch(/^s1: restored 1 path, verified/);
});

test('agt undo brings a folder back that its agent has deleted', () => {
  const folder = join(makeTempDir('plain'), 'in/deep');
  write(join(folder, 'sub/a'), 'a\n');
  agtOk(folder, 'snapshot');
  const answer = (cwd: string, prompt: string) =>
    (JSON.parse(say(cwd, prompt).stdout) as { reason: string }).reason;
  rmSync(join(folder, '..'), { recursive: true });
  expect(answer(folder, 'agt snapshots')).toMatch(/^SNAPSHOT .*\n@\{0\}/);
  expect(answer(folder, 'agt restore nothing')).toMatch(/^error: no snapshot "nothing"/);
  expect(existsSync(join(folder, '..'))).toBe(false);
  expect(answer(join(folder, 'sub'), 'agt undo')).toMatch(/^deep: restored 1 path, verified/);
  expect(readFileSync(join(folder, 'sub/a'), 'utf8')).toBe('a\n');
  rmSync(folder, { recursive: true });
  expect(say(folder, 'go on')).toEqual(silent);
  expect(existsSync(folder)).toBe(false);
});

test('agt undo brings a sandbox back that its agent has deleted, or says the next step', () => {
  const session = makeSession({ a: 'a\n' });
  const { repository, sandbox, folder } = session;
  const answer = (cwd: string) => (JSON.parse(say(cwd, 'agt undo').stdout) as { reason: string }).reason;
  for (const text of ['1', '2']) {
    write(join(sandbox, 'b'), text);
    agtOk(repository, 'autocommit', 's1');
  }
  for (const [gone, cwd] of [
    [sandbox, sandbox],
    [folder, join(sandbox, 'sub')],
  ] as const) {
    rmSync(gone, { recursive: true });
    expect(say(cwd, 'go on')).toEqual(silent);
    expect(answer(cwd)).toMatch(/^s1: restored \d+ paths, verified\nnow at .* 2 of 2$/);
    expect(readFileSync(join(sandbox, 'b'), 'utf8')).toBe('2');
  }
  agtOk(repository, 'remove', 's1');
  const back = `agt -C ${repository} undo s1`;
  expect(answer(sandbox)).toBe(
    `error: session "s1" is removed\nhint: to bring it back, in a terminal: ${back}`,
  );
  expect(existsSync(folder)).toBe(false);
  const nowhere = join(makeTempDir(), 'nowhere');
  expect(answer(nowhere)).toContain(`error: the folder ${nowhere} is gone, and agt has no snapshots of it\n`);
  expect(say(nowhere, 'go on')).toEqual(silent);
  failures();
});

test('an agent ends the hook of agt undo: it goes on in the background, and no step is undone twice', async () => {
  const session = makeSession();
  const { repository, sandbox } = session;
  const texts = () => ['a', 'b'].map((name) => readFileSync(join(sandbox, name), 'utf8'));
  const isDone = () =>
    metadata(session).intent === undefined && !existsSync(join(repository, '.git/agt/locks/s1'));
  for (const text of ['1', '2', '3']) {
    for (const name of ['a', 'b']) write(join(sandbox, name), text);
    agtOk(repository, 'autocommit', 's1');
  }
  const killable = join(import.meta.dirname, '../../dist/failure-points/main.cjs');
  const env = { AGT_TEST_KILL_AT: 'checkout: file written#2', AGT_GIT_PATH: REAL_GIT };
  run(process.execPath, [killable, 'session', 'undo', 's1'], { cwd: repository, env });
  expect(texts()).toEqual(['2', '3']);
  await interruptedHook(session, 'agt undo');
  await until(() => texts().join('') === '22' && isDone());
  expect(failures()).toMatchObject([{ reason: expect.stringMatching(/^the agent ended "agt undo" before/) }]);
  const [newest] = log(session);
  expect(agtOk(repository, 'session', 'redo', 's1')).toContain('restored 2 paths');
  expect(texts()).toEqual(['3', '3']);
  await interruptedHook(session, `agt restore ${newest?.['commit']}`);
  await until(() => texts().join('') === '22' && isDone());
  failures();
  const rest = { kind: 'prompt', name: 'UserPromptSubmit', cwd: sandbox, prompt: 'agt restore nothing' };
  run(AGT, ['hook', 'claude-code', '--background'], { cwd: '/', input: Buffer.from(JSON.stringify(rest)) });
  expect(failures()).toMatchObject([{ reason: expect.stringMatching(/^no snapshot "nothing"/) }]);
});

/** The hook waits for a lock when the agent ends it. */
async function interruptedHook({ repository, sandbox }: TestSession, prompt: string): Promise<void> {
  const lock = join(repository, '.git/agt/locks/s1');
  write(lock, ownerText());
  const child = spawn(AGT, ['hook', 'claude-code'], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.end(JSON.stringify({ hook_event_name: 'UserPromptSubmit', cwd: sandbox, prompt }));
  await until(() => catches(child.pid ?? 0, SIGHUP));
  const ended = new Promise((resolve) => child.on('exit', (_, signal) => resolve(signal)));
  child.kill('SIGTERM');
  expect(await ended).toBe('SIGTERM');
  rmSync(lock);
}
