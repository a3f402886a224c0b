/** Events of each agent, and worktrees that agents make, without the agents themselves. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { failures, hook, log, metadata, silent } from './hooks.ts';

/** Events as the agents send them, so far as agt reads them; of Amp, Crush and Cursor as their documentation says. */
const EVENTS: Record<string, readonly (readonly [object, object | undefined])[]> = {
  codex: [
    [{ hook_event_name: 'UserPromptSubmit', prompt: 'do it' }, { label: 'prompt: do it' }],
    [
      { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: 'c', tool_input: { command: 'a' } },
      { tool: null, before: 'Bash', call_id: 'c', outcome: null },
    ],
    [
      { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: 'c', tool_input: { command: 'a' } },
      { tool: 'Bash', call_id: 'c', summary: 'a', agent: 'codex' },
    ],
  ],
  gemini: [
    [{ hook_event_name: 'BeforeAgent', prompt: 'do it' }, { label: 'prompt: do it' }],
    [
      { hook_event_name: 'BeforeTool', tool_name: 'replace' },
      { before: 'replace', agent: 'gemini' },
    ],
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
    [{ hook_event_name: 'PreToolUse', tool_name: 'edit' }, { before: 'edit' }],
    [
      { hook_event_name: 'PostToolUseFailure', tool_name: 'edit', tool_input: { file_path: 'x' } },
      { tool: 'edit', outcome: 'failed', summary: 'x' },
    ],
  ],
  copilot: [
    [{ hook_event_name: 'UserPromptSubmit', prompt: 'do it' }, { label: 'prompt: do it' }],
    [
      { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: { path: 'two', file_text: '2' } },
      { before: 'Write' },
    ],
    [
      {
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        tool_input: { command: 'exit 3', description: 'x' },
        tool_result: {
          result_type: 'success',
          text_result_for_llm: '\n<shellId: 1 completed with exit code 3>',
        },
      },
      { tool: 'Bash', outcome: 'failed', summary: 'exit 3', agent: 'copilot' },
    ],
    [
      {
        hook_event_name: 'PostToolUse',
        tool_name: 'Write',
        tool_input: { path: 'two' },
        tool_result: { result_type: 'success', text_result_for_llm: 'Created file two with 2 characters' },
      },
      { tool: 'Write', outcome: 'succeeded', summary: 'two' },
    ],
    [{ hook_event_name: 'Stop', stop_reason: 'end_turn' }, { tool: null }],
    [{ hook_event_name: 'SessionEnd', reason: 'complete' }, { tool: null }],
  ],
  droid: [
    [{ hook_event_name: 'UserPromptSubmit', prompt: 'do it' }, { label: 'prompt: do it' }],
    [
      {
        hook_event_name: 'PreToolUse',
        tool_name: 'Execute',
        tool_input: { command: 'a', summary: 'x', riskLevel: 'low' },
      },
      { before: 'Execute' },
    ],
    [
      {
        hook_event_name: 'PostToolUse',
        tool_name: 'Create',
        tool_input: { file_path: 'two', content: '2' },
        tool_response: '{"success":true,"file_path":"two"}',
      },
      { tool: 'Create', outcome: 'succeeded', summary: 'two', agent: 'droid' },
    ],
    [{ hook_event_name: 'Stop', stop_hook_active: false }, { tool: null }],
    [{ hook_event_name: 'SessionEnd', reason: 'other' }, { tool: null }],
  ],
  crush: [
    [
      { event: 'PreToolUse', session_id: 'c1', tool_name: 'bash', tool_input: { command: 'a' } },
      { before: 'bash', conversation: 'c1', agent: 'crush' },
    ],
  ],
  cursor: [
    [
      { hook_event_name: 'beforeSubmitPrompt', conversation_id: 'c1', prompt: 'do it' },
      { label: 'prompt: do it', conversation: 'c1' },
    ],
    [
      { hook_event_name: 'preToolUse', tool_name: 'Shell', tool_use_id: 'c', tool_input: { command: 'a' } },
      { before: 'Shell', call_id: 'c' },
    ],
    [
      {
        hook_event_name: 'postToolUse',
        tool_name: 'Shell',
        tool_input: { command: 'a' },
        tool_output: '{"exitCode":2,"stdout":""}',
      },
      { tool: 'Shell', outcome: 'failed', summary: 'a', agent: 'cursor-agent' },
    ],
    [
      { hook_event_name: 'postToolUseFailure', tool_name: 'Write', tool_input: { file_path: 'x' } },
      { tool: 'Write', outcome: 'failed', summary: 'x' },
    ],
    [{ hook_event_name: 'stop', status: 'completed' }, { tool: null }],
    [{ hook_event_name: 'sessionEnd', reason: 'completed' }, { tool: null }],
  ],
  cline: [
    [
      { event: 'prompt', prompt: 'do it', session: 'c1' },
      { label: 'prompt: do it', conversation: 'c1' },
    ],
    [
      { event: 'before', tool: 'editor', call: 'c', input: { command: '', path: 'x' }, failed: false },
      { before: 'editor' },
    ],
    [
      { event: 'tool', tool: 'run_commands', call: 'c', input: { command: 'exit 3' }, failed: true },
      { tool: 'run_commands', outcome: 'failed', summary: 'exit 3', agent: 'cline' },
    ],
    [{ event: 'tool', tool: 'read_files' }, undefined],
    [{ event: 'idle' }, { tool: null }],
  ],
  amp: [
    [
      { event: 'prompt', prompt: 'do it', session: 'T-1' },
      { label: 'prompt: do it', conversation: 'T-1' },
    ],
    [
      { event: 'tool', tool: 'Bash', call: 'c', input: { command: 'a' }, failed: false },
      { tool: 'Bash', outcome: 'succeeded', summary: 'a', agent: 'amp' },
    ],
    [{ event: 'before', tool: 'Read', failed: false }, undefined],
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
    [
      { event: 'before', tool: 'bash', call: 'c', failed: false },
      { before: 'bash', call_id: 'c' },
    ],
    [{ event: 'before', tool: 'read', failed: false }, undefined],
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
  const [{ agent, agent_state: now }] = JSON.parse(agtOk(session.repository, 'list', '--json'));
  expect(agent).toBe(now.agent); // the row speaks of one agent
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
