/** Lines that an agent of a session wrote into the user's checkout, or another sandbox: blame and why name that session. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { agtOk, run } from '../harness/world.ts';
import { hook, say, toolOf } from './hooks.ts';

const PROMPT = 'Put a note in the checkout';

/** As an agent in the sandbox does. */
function shell(cwd: string, command: string): void {
  toolOf(cwd, 'Bash', { command }, 'PreToolUse', 't1');
  run('sh', ['-c', command], { cwd });
  toolOf(cwd, 'Bash', { command }, 'PostToolUse', 't1');
}

const blamed = (cwd: string, file: string) => {
  const lines: { content: string; origin: Record<string, unknown> | null }[] = JSON.parse(
    agtOk(cwd, 'blame', '--json', file),
  );
  return new Map(lines.map(({ content, origin }) => [content, origin]));
};

test('in the checkout: blame and why name the session and its prompt, as log --turns does', () => {
  const { repository, sandbox } = makeSession({ a: 'first\n' });
  hook(repository, 'UserPromptSubmit', { session_id: 'c2', prompt: 'Make it longer' });
  const own = {
    session_id: 'c2',
    tool_name: 'Bash',
    tool_input: { command: 'echo own >>a' },
    tool_use_id: 't2',
  };
  hook(repository, 'PreToolUse', own);
  run('sh', ['-c', own.tool_input.command], { cwd: repository });
  hook(repository, 'PostToolUse', own);
  hook(repository, 'Stop', { session_id: 'c2' });
  say(sandbox, 'Another thing');
  say(sandbox, PROMPT);
  shell(sandbox, `echo hacked >>${repository}/a`);
  run('sleep', ['1.1'], { cwd: '/' }); // snapshots know the second
  say(sandbox, 'A later thing');
  writeFileSync(join(repository, 'a'), 'first\nown\nhacked\nof a person\n');
  shell(sandbox, `touch ${repository}/b`);
  const turns = JSON.parse(agtOk(repository, 'log', '--turns', '--json'));
  expect(turns.map((turn: { by_session: unknown }) => turn.by_session)).toEqual(['s1', null]);
  const check = () => {
    const found = blamed(repository, 'a');
    const by = (by_session: string | null, prompt: string, call: string) =>
      expect.objectContaining({
        session: 'project',
        by_session,
        agent: 'claude',
        tool: 'Bash',
        prompt,
        call,
      });
    expect(found.get('hacked')).toEqual(by('s1', PROMPT, 't1'));
    expect(found.get('own')).toEqual(by(null, 'Make it longer', 't2'));
    expect(found.get('of a person')?.['by_session'] ?? null).toBe(null);
    const text = agtOk(repository, 'blame', 'a');
    expect(text).toMatch(/ \(claude project turn 2 Bash \(by session s1\) .* 3\) hacked$/m);
    expect(text).toMatch(/ \(claude project turn 1 Bash +\d.* 2\) own$/m);
    expect(agtOk(repository, 'why', 'a:3')).toMatch(
      /^ {2}by {6}claude project turn 2 Bash \(by session s1\)\n {2}prompt {2}Put a note in the checkout\n/m,
    );
    const porcelain = agtOk(repository, 'blame', '--porcelain', 'a');
    expect(porcelain).toMatch(/^agt-folder project\nagt-by agent\nagt-by-session s1\n/m);
  };
  check();
  expect(agtOk(repository, 'search', '--prompt', 'note in the')).toContain(PROMPT);
  const env = { GIT_COMMITTER_DATE: new Date().toISOString() };
  run('git', ['commit', '-qam', 'All of it'], { cwd: repository, env });
  check();
});

test('in another sandbox, also after an acceptance', () => {
  const { repository, sandbox } = makeSession({ a: 'first\n' });
  const other = sessionIn(repository, 'other');
  say(sandbox, PROMPT);
  shell(sandbox, `echo hacked >>${other.sandbox}/a`);
  const by = { session: 'other', by_session: 's1', agent: 'claude' };
  expect(blamed(other.sandbox, 'a').get('hacked')).toMatchObject({ ...by, prompt: PROMPT });
  agtOk(repository, 'accept', 'other');
  expect(blamed(repository, 'a').get('hacked')).toMatchObject(by);
});

test('calls of two sessions at once: blame names none', () => {
  const { repository, sandbox } = makeSession({ a: 'first\n' });
  const two = sessionIn(repository, 'two').sandbox;
  const command = `echo either >>${repository}/a`;
  const event = (cwd: string, name: string, session_id: string) =>
    hook(cwd, name, { session_id, tool_name: 'Bash', tool_input: { command }, tool_use_id: session_id });
  event(sandbox, 'PreToolUse', 'c-1');
  event(two, 'PreToolUse', 'c-2');
  run('sh', ['-c', command], { cwd: sandbox });
  event(sandbox, 'PostToolUse', 'c-1');
  event(two, 'PostToolUse', 'c-2');
  expect(blamed(repository, 'a').get('either')).toMatchObject({ by: 'unknown', by_session: null });
});
