/** Prompts that are commands of agt. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { write } from '../harness/world.ts';
import { say, silent, toolOf } from './hooks.ts';

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
