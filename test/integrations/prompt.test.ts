/** Prompts that are commands of agt. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownerText } from '../../src/disk/lock-owner.ts';
import { readIfThere } from '../../src/disk/read-file.ts';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { catches, failures, hook, log, metadata, SIGHUP, say, silent, toolOf, until } from './hooks.ts';

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
  expect(answer('agt undo.')).toBe(
    's1: restored 1 path, verified\n  D b\nundone: turn "first", and all since\nto take this back: agt redo',
  );
  expect(existsSync(join(sandbox, 'b'))).toBe(false);
  expect(answer('  /agt redo ')).toMatch(/^s1: restored 1 path.*\n {2}A b\n.*\nto take this back: agt undo$/);
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
  for (const mistaken of [
    'agt redo --dry-run',
    'agt list 2',
    'agt restore',
    'agt restore @{0} --path a',
    'agt undo turn 2',
    'agt list s1 --json',
  ])
    expect(answer(mistaken)).toMatch(`error: a prompt cannot be "${mistaken}"\nhint: for example agt undo 2`);
  for (const help of ['agt help', '/agt help undo']) expect(answer(help)).toMatch(/^agt undo \[N\] .*turn/);
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
    'agt status of the build',
    'agt redo. Then go on',
    'agt undo the last edit please',
    'agt undo 2 steps please',
    'agt help me',
    'agt undo is broken',
    'agt',
    'please agt undo',
    'agt accept it',
  ])
    expect(say(sandbox, other)).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining('block') });
});

test('agt undo as a prompt takes a turn back, agt undo step a call of a tool; in a shell --turn does', () => {
  const session = makeSession({ a: '0' });
  const { sandbox, repository } = session;
  const answer = (prompt: string) => (JSON.parse(say(sandbox, prompt).stdout) as { reason: string }).reason;
  const edit = (name: string, text: string) => {
    write(join(sandbox, name), text);
    toolOf(sandbox, 'Write', { file_path: name });
  };
  const texts = () => ['a', 'b'].map((name) => readIfThere(join(sandbox, name))).join('');
  agtOk(repository, 'autocommit', 's1');
  edit('a', '1');
  // Nobody has ever prompted: a step.
  expect(answer('agt undo')).toMatch(
    /^s1: restored 1 path, verified\n {2}M a\nundone: \(Write: a\)\nnow at /,
  );
  expect(agtOk(repository, 'redo', 's1', '--turn')).toMatch(
    /^s1: restored 1 path, verified\n {2}M a\nredone: \(Write: a\)\nnow /,
  );
  say(sandbox, 'make it 3\nand quickly');
  edit('a', '2');
  edit('a', '3');
  say(sandbox, 'b, please');
  edit('b', 'x');
  write(join(sandbox, 'b'), 'y'); // no event tells of it
  say(sandbox, 'what did you do?'); // and nothing happens
  expect(texts()).toBe('3y');
  const steps = () => JSON.parse(agtOk(repository, 'undo', 's1', '--turn', '--dry-run', '--json'));
  expect(steps().changes).toMatchObject([{ path: 'b', status: 'deleted' }]);
  expect(answer('agt undo')).toContain('\nundone: turn "b, please", and all since\n');
  expect(texts()).toBe('3');
  expect(answer('agt undo step')).toMatch(
    /^s1: restored 1 path, verified\n {2}M a\nundone: \(Write: a\)\nnow at (.|\n)*\nto take this back: agt redo step$/,
  );
  expect(texts()).toBe('2');
  expect(answer('agt redo')).toContain('\nredone: turn "make it 3"\n');
  expect(texts()).toBe('3');
  const { position } = JSON.parse(agtOk(repository, 'undo', 's1', '--turn', '--json'));
  expect([position.turns, texts()]).toEqual([['make it 3'], '1']);
  expect(answer('agt undo')).toMatch(
    /^error: nothing to undo: "s1" has no turn left to take back by time\n.*\nhint: to go by time, one step back: agt undo step$/,
  );
  expect(answer('agt redo')).toContain('redone: turn "make it 3"');
  expect(answer('agt redo turn')).toContain('redone: turn "b, please"');
  expect(texts()).toBe('3y');
  // An undo takes back a restore alone, although that is no turn.
  expect(answer('agt restore "prompt: make it 3"')).toContain('to take this back: agt undo');
  expect(texts()).toBe('1');
  expect(answer('agt undo')).not.toContain('turn');
  expect(texts()).toBe('3y');
  // Another agent in the same session: its turn is the last one.
  hook(sandbox, 'UserPromptSubmit', { prompt: 'the other agent', session_id: 'c2' });
  edit('a', '4');
  write(join(sandbox, 'a'), '5');
  expect(answer('agt undo')).toContain('undone: turn "the other agent"');
  expect(texts()).toBe('3y');
});

test('killed in the middle, the same undo of a turn goes on', () => {
  const { repository, sandbox } = makeSession({ a: '0', b: '0' });
  const both = (text: string) => {
    for (const name of ['a', 'b']) write(join(sandbox, name), text);
    toolOf(sandbox, 'Write', { file_path: 'a' });
  };
  const texts = () => ['a', 'b'].map((name) => readFileSync(join(sandbox, name), 'utf8')).join('');
  say(sandbox, 'first');
  both('1');
  say(sandbox, 'second');
  both('2');
  both('3');
  const killable = join(import.meta.dirname, '../../dist/failure-points/main.cjs');
  const env = { AGT_TEST_KILL_AT: 'checkout: file written#2', AGT_GIT_PATH: REAL_GIT };
  run(process.execPath, [killable, 'undo', 's1', '--turn'], { cwd: repository, env });
  expect(texts()).toBe('13');
  expect(JSON.parse(say(sandbox, 'agt undo').stdout).reason).toContain('undone: turn "second"');
  expect(texts()).toBe('11');
  expect(agtOk(repository, 'redo', 's1', '--turn')).toContain('redone: turn "second"');
  expect(texts()).toBe('33');
});

test('agt accept and agt reject as prompts show their plan, and yes carries it out', () => {
  const session = makeSession({ a: 'a\n' });
  const { repository, sandbox, folder } = session;
  for (const name of ['name', 'email']) git(repository, 'config', `user.${name}`, 'Ada');
  const answer = (prompt: string) => (JSON.parse(say(sandbox, prompt).stdout) as { reason: string }).reason;
  // The agent itself runs in the session.
  hook(sandbox, 'SessionStart', { source: 'startup' }, { CLAUDE_PID: String(process.pid) });
  expect(metadata(session).owner).toMatchObject({ pid: process.pid });
  write(join(sandbox, 'b'), 'b\n');
  expect(answer('agt list')).toMatch(/^ID .*\ns1 /);
  expect(answer('agt status')).toMatch(/^Repository .*\n1 session\n/);
  expect(answer('agt accept')).toMatch(/^would accept s1: 1 file(.|\n)*\nto do that: agt accept yes$/);
  expect(existsSync(join(repository, 'b'))).toBe(false);
  expect(answer('agt accept yes')).toMatch(/^accepted s1: 1 file(.|\n)*goes on\n/);
  expect(readFileSync(join(repository, 'b'), 'utf8')).toBe('b\n');
  expect(answer('agt accept yes')).toMatch(/^error: /);
  expect(answer('agt reject')).toMatch(
    /^would reject s1\n(.|\n)* take it off: agt undo s1, then agt unaccept s1\nto do that: agt reject yes$/,
  );
  expect(existsSync(folder)).toBe(true);
  expect(agt(repository, 'reject', 's1').stderr).toContain(' runs in session "s1"');
  expect(answer('agt reject yes')).toMatch(/^rejected s1\n/);
  expect(existsSync(folder)).toBe(false);
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
  expect(answer(folder, 'agt restore nothing')).toMatch(/^error: no snapshot "nothing" of the folder "/);
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
    expect(answer(cwd)).toMatch(
      /^s1: restored \d+ paths, verified\n {2}A a\n(.*\n)*now at .* 2 of 2\ns1 is back in .*$/,
    );
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
