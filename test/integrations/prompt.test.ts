/** Prompts that are commands of agt. */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, makeTempDir, write } from '../harness/world.ts';
import { failures, say, silent, toolOf } from './hooks.ts';

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
  expect(answer('agt undo')).toMatch(/^s1: restored 1 path, verified\nnow at "prompt: first"/);
  expect(existsSync(join(sandbox, 'b'))).toBe(false);
  expect(answer('  /agt redo ')).toMatch(/^s1: restored 1 path/);
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
  for (const other of [
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
