/** Events of each agent, and worktrees that agents make, without the agents themselves. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { failures, hook, log, metadata, silent } from './hooks.ts';

/** Events as the agents send them, so far as agt reads them. */
const EVENTS: Record<string, readonly (readonly [object, object | undefined])[]> = {
  codex: [
    [{ hook_event_name: 'UserPromptSubmit', prompt: 'do it' }, { label: 'prompt: do it' }],
    [{ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'a' } }, { tool: null }],
    [
      { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: 'c', tool_input: { command: 'a' } },
      { tool: 'Bash', call_id: 'c', summary: 'a', agent: 'codex' },
    ],
  ],
  gemini: [
    [{ hook_event_name: 'BeforeAgent', prompt: 'do it' }, { label: 'prompt: do it' }],
    [
      {
        hook_event_name: 'AfterTool',
        tool_name: 'run_shell_command',
        tool_input: { command: 'a' },
        tool_response: { returnDisplay: 'Command exited with code: 3' },
      },
      { tool: 'run_shell_command', outcome: 'failed', summary: 'a' },
    ],
    [{ hook_event_name: 'AfterAgent' }, { tool: null, agent: 'gemini' }],
    [{ hook_event_name: 'SessionEnd' }, undefined],
  ],
  qwen: [
    [{ hook_event_name: 'UserPromptSubmit', prompt: '' }, { label: null }],
    [
      { hook_event_name: 'PostToolUseFailure', tool_name: 'edit', tool_input: { file_path: 'x' } },
      { tool: 'edit', outcome: 'failed', summary: 'x' },
    ],
  ],
  opencode: [
    [
      { event: 'prompt', prompt: '"do it"', session: 'c1' },
      { label: 'prompt: do it', conversation: 'c1' },
    ],
    [
      { event: 'tool', tool: 'bash', call: 'c', input: { command: 'a' }, failed: true },
      { outcome: 'failed' },
    ],
    [{ event: 'tool', tool: 'read' }, undefined],
    [{ event: 'idle' }, { tool: null }],
  ],
};

test('events of the other agents', () => {
  const session = makeSession();
  const { sandbox } = session;
  // A .env file of the project may name these: agt must not write there.
  const env = { CLAUDE_ENV_FILE: join(sandbox, 'env'), CLAUDE_PID: `${process.pid}` };
  const send = (agent: string, event: object) =>
    run(AGT, ['hook', agent], { cwd: '/', input: JSON.stringify({ cwd: sandbox, ...event }), env });
  let n = 0;
  for (const [agent, events] of Object.entries(EVENTS)) {
    for (const [event] of events) {
      write(join(sandbox, 'file'), `${n++}`);
      expect(send(agent, event)).toEqual(silent);
    }
  }
  const wanted = Object.values(EVENTS).flatMap((events) => events.flatMap(([, expected]) => expected ?? []));
  expect(log(session).reverse()).toMatchObject(wanted);
  for (const agent of Object.keys(EVENTS))
    expect(send(agent, { hook_event_name: 'SessionStart', event: 'start' })).toEqual(silent);
  expect(existsSync(join(sandbox, 'env'))).toBe(false);
  expect(metadata(session).owner).toBeUndefined();
  expect(failures()).toEqual([]);
});

test('worktrees of an agent: made once, removed with their snapshots kept, also if they are gone', () => {
  const repository = makeRepository({ a: 'a\n' });
  const env = { CLAUDE_PID: `${process.pid}` };
  const create = (name: string) => hook(repository, 'WorktreeCreate', { name }, env);
  const made = create('fix/it now');
  const sandbox = `${repository}.agt/sessions/cc-fix-it-now-20824c/sandbox`;
  expect(made).toEqual({ ...silent, stdout: `${sandbox}\n` });
  expect(create('fix/it now').stdout).toBe(`${sandbox}\n`);
  write(join(sandbox, 'b'), 'b\n');
  const remove = () => hook('/nonexistent', 'WorktreeRemove', { worktree_path: sandbox }, env);
  expect(remove()).toEqual(silent);
  expect(existsSync(sandbox)).toBe(false);
  expect(remove()).toEqual(silent);
  const sessions = JSON.parse(agtOk(repository, 'session', 'list', '--all', '--json'));
  expect(sessions).toMatchObject([
    { session_id: 'cc-fix-it-now-20824c', state: 'removed', profile: 'claude-code' },
  ]);
  expect(git(repository, 'show', 'agtsessions/cc-fix-it-now-20824c:sandbox/b')).toBe('b');
  expect(create('fix/it now').stdout).toBe(`${repository}.agt/sessions/cc-fix-it-now-20824c-2/sandbox\n`);
  expect(hook(makeTempDir(), 'WorktreeCreate', { name: 'x' })).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: not in a git repository/),
  });
  expect(failures()).toHaveLength(1);
});
