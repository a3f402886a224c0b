/** After an undo the next prompt tells the model which files are not as it left them. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { failures, hook, say, silent, toolOf } from './hooks.ts';

const edit = (folder: string, files: Record<string, string>) => {
  toolOf(folder, 'Write', {}, 'PreToolUse');
  for (const [path, content] of Object.entries(files)) write(join(folder, path), content);
  expect(toolOf(folder, 'Write', { file_path: 'x' })).toEqual(silent);
};

function contextOf({
  stdout,
  exitCode,
  stderr,
}: {
  stdout: string;
  exitCode: number | null;
  stderr: string;
}) {
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const { hookSpecificOutput: output } = JSON.parse(stdout);
  expect(Object.keys(output)).toEqual(['hookEventName', 'additionalContext']);
  return output.additionalContext as string;
}

test.each([
  ['a session', () => makeSession({ a: 'a\n' }).sandbox],
  ['a checkout', () => makeRepository({ a: 'a\n' })],
  ['a folder without git', () => makeTempDir('notes')],
])('in %s: once, by name, and not if all is as it was', (_, make) => {
  const folder = make();
  expect(say(folder, 'do it')).toEqual(silent);
  edit(folder, { a: '1\n', 'd/with "quotes"\n': '1\n' });
  edit(folder, { b: '2\n' });
  agtOk(folder, 'undo');
  agtOk(folder, 'undo');
  writeFileSync(join(folder, 'mine'), 'by the user\n');
  const heard = contextOf(say(folder, 'and now?'));
  expect(heard).toMatch(
    /^The user has taken these files back with agt, to how they were in snapshot [0-9a-f]{10} /,
  );
  expect(heard).toContain('(before the prompt "do it"): ');
  expect(heard).toMatch(/: (a|b|"d\/with \\"quotes\\"\\n"), /);
  for (const name of ['a', 'b', 'd/with']) expect(heard).toContain(name);
  expect(heard).not.toContain('mine');
  expect(say(folder, 'again')).toEqual(silent);

  edit(folder, { c: '3\n' });
  agtOk(folder, 'undo');
  agtOk(folder, 'redo');
  expect(say(folder, 'nothing is gone')).toEqual(silent);
  expect(failures()).toEqual([]);
});

test('it names no file that a sync has made as it was', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  say(sandbox, 'do it');
  edit(sandbox, { b: '1\n' });
  write(join(repository, 'a'), 'of the user\n');
  git(repository, 'commit', '-qam', 'of the user');
  for (const words of [['sync'], ['undo'], ['sync']]) agtOk(sandbox, ...words);
  expect(say(sandbox, 'go on')).toEqual(silent);
});

test('it names no snapshot in which a file is otherwise, and says why hunks were rejected', () => {
  const { sandbox } = makeSession({ a: 'a\n', c: 'c\n' });
  say(sandbox, 'first');
  edit(sandbox, { a: '1\n' });
  say(sandbox, 'second');
  edit(sandbox, { b: '2\n' });
  const [{ commit = '' } = {}] = JSON.parse(agtOk(sandbox, 'session', 'log', '--json'));
  edit(sandbox, { b: '3\n', c: 'gone\n' });
  agtOk(sandbox, 'undo', '--turn', '2');
  agtOk(sandbox, 'restore', commit, '--', 'c');
  expect(contextOf(say(sandbox, 'and now?'))).toMatch(
    /^The user has taken these files back with agt: b, c\. /,
  );
  edit(sandbox, { a: 'again\n' });
  agtOk(sandbox, 'review', '--reject', 'a', '-m', 'keep the old name', '--now');
  expect(contextOf(say(sandbox, 'and now?'))).toMatch(
    /^The user has taken these files back with agt \(rejected: keep the old name\): a\. /,
  );
  edit(sandbox, { a: 'once more\n' });
  agtOk(sandbox, 'review', '--reject', 'a', '-m', 'the same', '--now');
  write(join(sandbox, 'mine'), 'of the user\n');
  for (const command of ['undo', 'redo']) agtOk(sandbox, command);
  expect(contextOf(say(sandbox, 'and now?'))).toMatch(
    /^The user has taken these files back with agt \(rejected: the same\): a\. /,
  );
});

test('it names no file of a sync, and why hunks were rejected with the files of these alone', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n', c: 'c\n' });
  say(sandbox, 'first');
  edit(sandbox, { a: '1\n', b: '2\n' });
  const [{ commit = '' } = {}] = JSON.parse(agtOk(sandbox, 'session', 'log', '--json'));
  edit(sandbox, { b: '3\n' });
  write(join(repository, 'c'), 'of the user\n');
  git(repository, 'commit', '-qam', 'of the user');
  agtOk(sandbox, 'restore', commit);
  agtOk(sandbox, 'sync');
  agtOk(sandbox, 'review', '--reject', 'a', '-m', 'too high', '--now');
  expect(contextOf(say(sandbox, 'and now?'))).toMatch(
    /^The user has taken these files back with agt: a \(rejected: too high\), b\. /,
  );
});

test('a restore of what the user has deleted is no news, and hides no reason', () => {
  const { sandbox } = makeSession({ a: 'a\n', 'd/x': 'x\n' });
  say(sandbox, 'first');
  edit(sandbox, { a: '1\n' });
  hook(sandbox, 'Stop');
  rmSync(join(sandbox, 'd'), { recursive: true });
  agtOk(sandbox, 'restore', '@', '--', 'd');
  agtOk(sandbox, 'review', '--reject', 'a', '-m', 'keep the old name', '--now');
  expect(contextOf(say(sandbox, 'and now?'))).toMatch(
    /^The user has taken these files back with agt \(rejected: keep the old name\): a\. /,
  );
});

test('it compares with the files that the user has changed since, before any snapshot has them', () => {
  const folder = makeRepository({ a: 'a\n', b: 'b\n' });
  say(folder, 'first');
  toolOf(folder, 'Bash', {}, 'PreToolUse');
  rmSync(join(folder, 'a'));
  write(join(folder, 'b'), 'agent\n');
  toolOf(folder, 'Bash', {});
  agtOk(folder, 'undo');
  rmSync(join(folder, 'a'));
  write(join(folder, 'b'), 'mine\n');
  expect(contextOf(say(folder, 'second'))).toMatch(/^The user has taken these files back with agt: b\. /);
});

test('no more than twenty paths; a person at work is no news; other agents', () => {
  const folder = makeRepository({ a: 'a\n' });
  say(folder, 'do it');
  edit(folder, Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`file${i}`, 'x'])));
  rmSync(join(folder, 'file1'));
  agtOk(folder, 'snapshot');
  expect(say(folder, 'go on')).toEqual(silent);
  agtOk(folder, 'undo', '--turn');
  const events = {
    codex: { hook_event_name: 'UserPromptSubmit', prompt: 'go on' },
    gemini: { hook_event_name: 'BeforeAgent', prompt: 'go on' },
    qwen: { hook_event_name: 'UserPromptSubmit', prompt: 'go on' },
  };
  for (const [agent, event] of Object.entries(events)) {
    const input = JSON.stringify({ cwd: folder, session_id: 'c1', ...event });
    const heard = contextOf(run(AGT, ['hook', agent], { cwd: '/', input }));
    expect(heard).toMatch(/file\d+, and \d+ more\. They are not/);
    expect(heard.match(/\bfile\d+/g)).toHaveLength(20);
    edit(folder, Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`file${i}`, agent])));
    agtOk(folder, 'undo');
  }
});

test('two conversations in one folder: each hears it, and a new one does not', () => {
  const folder = makeRepository({ a: 'a\n' });
  const prompt = (conversation: string) =>
    hook(folder, 'UserPromptSubmit', { prompt: `by ${conversation}`, session_id: conversation });
  for (const conversation of ['c1', 'c2']) {
    expect(prompt(conversation)).toEqual(silent);
    write(join(folder, 'odd\nname'), conversation);
    hook(folder, 'PostToolUse', { tool_name: 'Write', session_id: conversation });
  }
  agtOk(folder, 'undo');
  agtOk(folder, 'undo');
  expect(prompt('c3')).toEqual(silent);
  for (const conversation of ['c1', 'c2']) {
    expect(contextOf(prompt(conversation))).toContain(': "odd\\nname". They are not');
    expect(prompt(conversation)).toEqual(silent);
  }
});

test('an undo that a redo has taken back is not told, also after a person has switched the branch', () => {
  const folder = makeRepository({ a: 'a\n' });
  say(folder, 'do it');
  edit(folder, { a: '1\n' });
  for (const words of ['undo', 'redo']) agtOk(folder, words);
  git(folder, 'commit', '-qam', 'of a person');
  git(folder, 'switch', '-qc', 'other', 'HEAD~1');
  expect(say(folder, 'go on')).toEqual(silent);
});
