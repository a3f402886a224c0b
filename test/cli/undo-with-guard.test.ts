/** Undo where agt's git has taken snapshots of its own, before a command that could destroy work. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Front } from '../harness/front.ts';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, GIT_MODE, git, makeRepository, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { afterStep } from './after-step.ts';

const guarded = (cwd: string, ...words: string[]) =>
  expect(run(GIT_MODE, words, { cwd })).toMatchObject({ exitCode: 0 });

function callWithGit() {
  const folder = makeRepository({ a: 'start\n' });
  write(join(folder, 'a'), 'second\n');
  git(folder, 'commit', '-qam', 'second');
  git(folder, 'branch', 'topic');
  write(join(folder, 'note'), 'note\n');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('Clean up');
  agent.begins('1');
  guarded(folder, 'clean', '-fdq');
  guarded(folder, 'reset', '-q', '--hard', 'HEAD~1');
  guarded(folder, 'branch', '-qD', 'topic');
  return { folder, agent };
}

test('a call with several git commands is one step, and its turn lists each of its snapshots', () => {
  const { folder, agent } = callWithGit();
  agent.ends('1');
  agent.stops();
  const listed = agtOk(folder, 'log', '--turn', '1', '--stat');
  expect(listed).toMatch(
    /before git branch -qD topic\n {4}M .* a\n.*before git reset -q --hard HEAD~1\n {4}D .* note\n/,
  );
  expect(agtOk(folder, 'undo')).toMatch(
    /\n {2}M a\n {2}A note\n.*branch main: now at .*\n.*branch topic: now at \w+\nundone: \(Bash: do 1\)\nnow at "prompt: Clean up", .*, step 1 of 2\n/,
  );
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('second\n');
  expect(agtOk(folder, 'redo')).toContain('redone: (Bash: do 1)\n');
  expect(git(folder, 'status', '--porcelain')).toBe('');
  expect(git(folder, 'branch', '--list', 'topic')).toBe('');
});

test('in the middle of such a call, an undo goes to before its last git command', () => {
  const { folder } = callWithGit();
  expect(agtOk(folder, 'undo')).toContain('now at "before git branch -qD topic"');
  expect(git(folder, 'branch', '--list', 'topic')).toContain('topic');
});

test.each(['session', 'folder'])('a call that ends with a git command is a step of its own (%s)', (kind) => {
  const cwd = kind === 'session' ? makeSession({ a: 'start\n' }).sandbox : makeRepository({ a: 'start\n' });
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('Two calls');
  agent.begins('1');
  write(join(cwd, 'a'), 'of call 1\n');
  git(cwd, 'commit', '-qam', 'of call 1');
  for (const _ of [1, 2]) guarded(cwd, 'clean', '-fdq');
  expect(new Front().startsForTool(cwd)).toBe(true);
  agent.ends('1');
  agent.begins('2');
  write(join(cwd, 'a'), 'of call 2\n');
  agent.ends('2');
  agent.begins('3');
  guarded(cwd, 'clean', '-fdq');
  agent.ends('3');
  expect(JSON.parse(agtOk(cwd, 'session', 'log', '--turns', '--json'))).toMatchObject([{ calls: 2 }]);
  expect(agtOk(cwd, 'undo')).toContain('undone: (Bash: do 2)\n');
  expect(git(cwd, 'show', '-s', '--format=%s')).toBe('of call 1');
  expect(agtOk(cwd, 'undo')).toContain('undone: (Bash: do 1)\n');
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('start\n');
});

test('a look at an old commit changes nothing about what an undo takes back', () => {
  const folder = afterStep('a');
  git(folder, 'commit', '-qam', 'of a person');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'another');
  guarded(folder, 'checkout', '-q', 'HEAD~2');
  guarded(folder, 'checkout', '-q', 'main');
  const { stdout, stderr } = agt(folder, 'undo');
  expect(stderr).not.toContain('your own changes');
  expect(stdout).toContain('\n  M a\nundone: (Bash: do 1)\n');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('start\n');
});

test('a redo finds a file that the undo has left, because git ignored it again', () => {
  const folder = makeRepository({ a: 'start\n', '.gitignore': 'build/\n' });
  mkdirSync(join(folder, 'build'));
  write(join(folder, 'build/out'), 'out\n');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('Take all');
  agent.begins('1');
  git(folder, 'rm', '-q', '.gitignore');
  agent.ends('1');
  agent.stops();
  agtOk(folder, 'undo');
  expect(agtOk(folder, 'redo')).toMatch(/restored 1 path, verified\n {2}D \.gitignore\n/);
  expect(agtOk(folder, 'snapshot', 'list').trimEnd().split('\n')).toHaveLength(1 + 4);
  expect(agt(folder, 'undo').stderr).not.toContain('your own changes');
  write(join(folder, 'build/out'), 'newer\n');
  const { stdout, stderr } = agt(folder, 'redo');
  expect(stdout).toContain('restored 2 paths');
  const [, snapshot = ''] = /such as build\/out: snapshot (\w+) has them/.exec(stderr) ?? [];
  agtOk(folder, 'restore', snapshot, '--', 'build/out');
  expect(readFileSync(join(folder, 'build/out'), 'utf8')).toBe('newer\n');
});
