/** A person has made the repository of a folder anew since the step of an agent. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git } from '../harness/world.ts';
import { afterStep } from './after-step.ts';

test('undo and redo leave the new repository; a restore by name brings the earlier one', () => {
  const folder = afterStep('b');
  const before = git(folder, 'rev-parse', 'main');
  rmSync(join(folder, '.git'), { recursive: true });
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'add', 'a');
  git(folder, 'commit', '-qm', 'anew');
  const anew = git(folder, 'rev-parse', 'main');
  const stays = `warning: another repository is in ${folder}, and stays as it is\n`;
  for (const [hasFile, ...words] of [
    [true, 'undo', '-n'],
    [false, 'undo'],
    [true, 'redo'],
  ] as const) {
    const { exitCode, stderr } = agt(folder, ...words);
    expect([words, exitCode, stderr]).toEqual([words, 0, words[0] === 'undo' ? stays : '']);
    expect(existsSync(join(folder, 'b'))).toBe(hasFile);
    expect(git(folder, 'rev-parse', 'main')).toBe(anew);
  }
  agtOk(folder, 'restore', 'Write it');
  expect(git(folder, 'rev-parse', 'main')).toBe(before);
  agtOk(folder, 'undo');
  expect(git(folder, 'rev-parse', 'main')).toBe(anew);
});

test('the new repository stays also if a snapshot was taken between the two', () => {
  const folder = afterStep('b');
  rmSync(join(folder, '.git'), { recursive: true });
  agtOk(folder, 'snapshot');
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'add', 'a');
  git(folder, 'commit', '-qm', 'anew');
  const anew = git(folder, 'rev-parse', 'main');
  expect(agt(folder, 'undo').exitCode).toBe(0);
  expect(git(folder, 'rev-parse', 'main')).toBe(anew);
});

test('a commit in the repository that a restore brought back: undo and redo go there and back', () => {
  const folder = afterStep('a');
  rmSync(join(folder, '.git'), { recursive: true });
  git(folder, 'init', '-q', '-b', 'other');
  git(folder, 'add', 'a');
  git(folder, 'commit', '-qm', 'other');
  agtOk(folder, 'snapshot');
  agtOk(folder, 'restore', '@{1}');
  git(folder, 'commit', '-qam', 'mine');
  const subjects = () => git(folder, 'log', '--all', '--format=%s');
  const { exitCode, stderr } = agt(folder, 'undo');
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('takes the place of another one')]);
  expect(subjects()).toBe('other');
  agtOk(folder, 'redo');
  expect(subjects()).toBe('mine\nfirst');
  expect(git(folder, 'status', '--porcelain')).toBe('');
});
