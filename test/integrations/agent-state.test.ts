/** The state of an agent, by its hooks: in lists, and told to a person. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { agentIn } from './agent.ts';
import { frontOf, Home } from './home.ts';
import { failures, hook, say, silent, toolOf, until } from './hooks.ts';

function now({ repository }: TestSession) {
  const [session] = JSON.parse(agtOk(repository, 'list', '--json'));
  const { state, prompt } = session.agent_state ?? {};
  return [state, prompt];
}

const why = ({ repository }: TestSession) =>
  JSON.parse(agtOk(repository, 'list', '--json'))[0].agent_state.for;

const permission = { notification_type: 'permission_prompt', message: 'Claude needs your permission' };

test('an agent works from its prompt on, waits for a permission, is done, and has failed', () => {
  const session = makeSession();
  const { sandbox } = session;
  expect(now(session)).toEqual([undefined, undefined]);
  say(sandbox, 'fix the login');
  expect(now(session)).toEqual(['works', 'fix the login']);
  hook(sandbox, 'SubagentStop');
  expect(now(session)).toEqual(['works', 'fix the login']);
  expect(hook(sandbox, 'Notification', permission)).toEqual(silent);
  expect(now(session)).toEqual(['waits', 'fix the login']);
  expect(why(session)).toBe('Claude needs your permission');
  expect(agtOk(session.repository, 'list')).toMatch(/ NOW .*\n.* waits \d/);
  write(join(sandbox, 'new.txt'), 'a\nb\n');
  const shown = agtOk(session.repository, 'session', 'show', session.id);
  expect(shown).toMatch(
    /^now +waits \d+s Claude needs your permission\ncommits +\+0\ndirty +1\ndiff +\+2 -0$/m,
  );
  toolOf(sandbox, 'Bash', { command: 'ls' });
  expect(now(session)).toEqual(['works', 'fix the login']);
  expect(why(session)).toBe(null);
  hook(sandbox, 'Stop');
  hook(sandbox, 'Notification', { notification_type: 'idle_prompt' });
  expect(now(session)).toEqual(['done', 'fix the login']);
  hook(sandbox, 'StopFailure', { error: 'overloaded' });
  agtOk(session.repository, 'reject', session.id);
  agtOk(session.repository, 'undo', session.id);
  expect(agtOk(session.repository, 'list')).toMatch(/^s1 +failed .* a turn of claude failed: overloaded$/m);
  expect(now(session)).toEqual(['failed', 'fix the login']);
  expect(why(session)).toBe('overloaded');
  say(sandbox, 'again');
  hook(sandbox, 'PermissionRequest', { tool_name: 'Bash' });
  expect(why(session)).toBe('wants to use Bash');
  toolOf(sandbox, 'Bash', { command: 'ls' });
  hook(sandbox, 'PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'npm install cron' } });
  expect(why(session)).toBe('wants to use Bash: npm install cron');
  toolOf(sandbox, 'Bash', { command: 'ls' });
  const tool_input = { file_path: `${sandbox}/src/a.ts` };
  hook(sandbox, 'PermissionRequest', { tool_name: 'Edit', tool_input, cwd: sandbox });
  expect(why(session)).toBe('wants to use Edit: src/a.ts');
  const other = agentIn(sandbox, 'codex', 'c2');
  other.says('another');
  expect(now(session)).toEqual(['waits', 'again']);
  expect(agtOk(session.repository, 'list')).toMatch(/ waits \d+s +claude /);
  hook(sandbox, 'SessionEnd');
  expect(now(session)).toEqual(['works', 'another']);
  expect(agtOk(session.repository, 'list')).toMatch(/ works \d+s +codex /);
  other.stops();
  expect(now(session)).toEqual(['done', 'another']);
  expect(failures()).toEqual([]);
  agtOk(session.repository, 'reject', session.id);
  const [ended] = JSON.parse(agtOk(session.repository, 'list', '--all', '--json'));
  expect([ended.agent_state, ended.last_prompt]).toEqual([null, 'another']);
  agtOk(session.repository, 'remove', session.id, '--force', '--delete-branch');
  expect(existsSync(join(session.repository, '.git/agt/states', session.id))).toBe(false);
});

test('the first prompt in a folder without a session is known, though no snapshot was there when it came', () => {
  const folder = makeRepository();
  const { says, begins, ends, stops } = agentIn(folder, 'claude-code', 'c1');
  const shown = () => {
    const [{ agent_state: now, last_prompt }] = JSON.parse(agtOk(folder, 'list', '--folders', '--json'));
    return [now?.state, now?.prompt, last_prompt];
  };
  says('Fix the spelling');
  expect(shown()).toEqual(['works', 'Fix the spelling', 'Fix the spelling']);
  begins('1');
  write(join(folder, 'README.md'), 'spelling\n');
  ends('1');
  stops();
  expect(shown()).toEqual(['done', 'Fix the spelling', 'Fix the spelling']);
});

test('of two failures, the newer one is why: of a turn, or by agt session fail', () => {
  const session = makeSession();
  say(session.sandbox, 'fix the login');
  const failed = () => {
    const [{ agent_state: now, state_reason }] = JSON.parse(agtOk(session.repository, 'list', '--json'));
    return [now.state, now.prompt, now.for, state_reason];
  };
  const overloaded = 'a turn of claude failed: overloaded';
  hook(session.sandbox, 'StopFailure', { error: 'overloaded' });
  expect(failed()).toEqual(['failed', 'fix the login', 'overloaded', overloaded]);
  agtOk(session.repository, 'session', 'fail', session.id, '--reason', 'out of credits');
  expect(failed()).toEqual(['failed', 'fix the login', 'out of credits', 'out of credits']);
  say(session.sandbox, 'again');
  hook(session.sandbox, 'StopFailure', { error: 'overloaded' });
  expect(failed()).toEqual(['failed', 'again', 'overloaded', overloaded]);
});

test('of two agents at work, the one with the last prompt shows', () => {
  const session = makeSession();
  say(session.sandbox, 'fix the login');
  agentIn(session.sandbox, 'codex', 'c2').says('and the logout');
  expect(now(session)).toEqual(['works', 'and the logout']);
  expect(agtOk(session.repository, 'list')).toMatch(/ works \d+s +codex /);
});

test('a command of agt run that has ended in the middle of a turn is not at work; another agent is', () => {
  const session = makeSession();
  const { repository, sandbox } = session;
  const event = {
    session_id: 'c',
    cwd: sandbox,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'fix the login',
  };
  write(join(repository, 'event'), JSON.stringify(event));
  const agent = `${AGT} hook claude-code <${join(repository, 'event')}; exit 1`;
  expect(agt(repository, 'run', 's1', '--', 'sh', '-c', agent).exitCode).toBe(1);
  expect(now(session)).toEqual(['done', 'fix the login']);
  say(sandbox, 'by hand');
  agtOk(repository, 'run', 's1', '--', 'true');
  expect(now(session)).toEqual(['works', 'by hand']);
});

test('the end of a session says that its agent may go on, unless the agent was told so', () => {
  const { repository } = makeSession();
  const warned =
    /^warning: \w+: claude, which began \d+ seconds? ago, may still be at work in its sandbox; end claude$/m;
  const told = ['accept', 'reject', 'remove'].map((command) => {
    const { sandbox } = sessionIn(repository, command);
    say(sandbox, 'fix the login');
    write(join(sandbox, command), 'new\n');
    const kept = command === 'accept' ? agt(repository, 'accept', '--keep', command).stderr : '';
    write(join(sandbox, command), 'newer\n');
    return [warned.test(kept), warned.test(agt(repository, command, command).stderr)];
  });
  expect(told).toEqual([
    [false, true],
    [false, true],
    [false, true],
  ]);
  const { sandbox } = sessionIn(repository, 'typed');
  say(sandbox, 'fix the login');
  const { stdout } = say(sandbox, 'agt reject yes');
  expect([stdout.includes('rejected typed'), stdout.includes('began to work')]).toEqual([true, false]);
  expect(failures()).toEqual([]);
});

test('an agent without hooks shows after one with hooks that is done', () => {
  const session = makeSession();
  say(session.sandbox, 'fix the login');
  hook(session.sandbox, 'Stop');
  expect(agtOk(session.repository, 'list')).toMatch(/ done \d+s +claude /);
  const bin = makeTempDir('bin');
  write(join(bin, 'gemini'), '#!/bin/sh\n', 0o755);
  agtOk(session.repository, 'run', session.id, '--', join(bin, 'gemini'));
  expect(agtOk(session.repository, 'list')).toMatch(/^s1 +active +gemini /m);
  say(session.sandbox, 'go on');
  expect(agtOk(session.repository, 'list')).toMatch(/ works \d+s +claude /);
  hook(session.sandbox, 'Stop');
  expect(agtOk(session.repository, 'list')).toMatch(/ done \d+s +claude /);
});

test('a list by what the agents do: selected, and those that wait first', () => {
  const { repository, sandbox } = makeSession({}, 'idle');
  const [asks, works] = ['asks', 'works'].map((id) => sessionIn(repository, id).sandbox);
  say(works ?? '', 'go on');
  say(asks ?? '', 'ask me');
  hook(asks ?? '', 'Notification', permission);
  const ids = (...words: string[]) =>
    JSON.parse(agtOk(repository, 'list', '--json', ...words)).map(
      (one: { session_id: string }) => one.session_id,
    );
  expect(ids('--sort=now')).toEqual(['asks', 'works', 'idle']);
  expect(ids('--state=waits')).toEqual(['asks']);
  hook(sandbox, 'Stop');
  expect(ids('--state=works,done', '--sort=-now')).toEqual(['idle', 'works']);
  expect(agt(repository, 'list', '--state=sleeps').stderr).toContain('waits, works, done');
});

test('a call that the front answers ends the wait, without agt', () => {
  const session = makeSession();
  const { sandbox } = session;
  const home = new Home();
  home.ok('install', 'claude-code');
  const front = (event: string) => {
    const fields = { tool_name: 'Bash', tool_input: { command: 'ls' } };
    const json = { session_id: 'c1', cwd: sandbox, hook_event_name: event, ...fields };
    return run(frontOf(home), ['hook', 'claude-code'], { cwd: sandbox, input: JSON.stringify(json) });
  };
  say(sandbox, 'look');
  front('PreToolUse');
  hook(sandbox, 'Notification', permission);
  expect(now(session)).toEqual(['waits', 'look']);
  expect(front('PostToolUse').exitCode).toBe(0);
  expect(now(session)).toEqual(['works', 'look']);
});

test('agt.notify runs once for each wait and each end, also by a kill', async () => {
  const session = makeSession();
  const { sandbox } = session;
  const told = join(makeTempDir(), 'told');
  const line = `printf '%s|' "$AGT_SESSION" "$AGT_STATE" "$AGT_PROMPT" >> '${told}'`;
  write(join(process.env['HOME'] ?? '', '.agtconfig'), '');
  agtOk(session.repository, 'config', 'set', '--global', 'agt.notify', line);
  const texts = () => (existsSync(told) ? readFileSync(told, 'utf8') : '');
  say(sandbox, 'do it');
  for (let i = 0; i < 2; i += 1) hook(sandbox, 'Notification', permission);
  await until(() => texts() !== '');
  for (let i = 0; i < 2; i += 1) hook(sandbox, 'Stop');
  await until(() => texts().includes('done'));
  expect(texts()).toBe(`${session.id}|waits|do it|${session.id}|done|do it|`);
  agtOk(session.repository, 'session', 'fail', session.id, '--reason', 'no answer');
  await until(() => texts().endsWith('|failed|do it|'));
  agt(session.repository, 'run', session.id, '--', 'sh', '-c', 'kill -9 $$');
  await until(() => texts().endsWith(`|failed|do it|${session.id}|failed|do it|`));
  expect(failures()).toEqual([]);
});

test('agt list --watch needs a terminal', () => {
  const { repository } = makeSession();
  const { exitCode, stderr } = agt(repository, 'list', '--watch');
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('needs a terminal')]);
});
