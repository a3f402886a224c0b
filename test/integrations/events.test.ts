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

test.each(Object.entries(EVENTS))('events of %s', (agent, events) => {
  const session = makeSession();
  const { sandbox } = session;
  for (const [n, [event, expected]] of events.entries()) {
    write(join(sandbox, 'file'), `${n}`);
    const before = log(session).length;
    const input = JSON.stringify({ cwd: sandbox, ...event });
    // A .env file of the project names these: agt must not write there.
    const env = { CLAUDE_ENV_FILE: join(sandbox, 'env'), CLAUDE_PID: `${process.pid}` };
    expect(run(AGT, ['hook', agent], { cwd: '/', input, env })).toEqual(silent);
    const [last] = log(session).slice(0, -before || undefined);
    if (expected === undefined) expect(last).toBeUndefined();
    else expect(last).toMatchObject({ modified: n === 0 ? 0 : 1, ...expected });
  }
  const start = { cwd: sandbox, hook_event_name: 'SessionStart', event: 'start' };
  const env = { CLAUDE_ENV_FILE: join(sandbox, 'env'), CLAUDE_PID: `${process.pid}` };
  run(AGT, ['hook', agent], { cwd: '/', input: JSON.stringify(start), env });
  expect(existsSync(join(sandbox, 'env'))).toBe(false);
  expect(metadata(session).owner).toBeUndefined();
  expect(failures()).toEqual([]);
});

test('worktrees of an agent: made once, removed with their snapshots kept, also if they are gone', () => {
  const repository = makeRepository({ a: 'a\n' });
  const env = { CLAUDE_PID: `${process.pid}` };
  const create = (name: string) => hook(repository, 'WorktreeCreate', { name }, env);
  const made = create('fix/it now');
  const sandbox = `${repository}.agt/sessions/cc-fix-it-now/sandbox`;
  expect(made).toEqual({ ...silent, stdout: `${sandbox}\n` });
  expect(create('fix/it now').stdout).toBe(`${sandbox}\n`);
  write(join(sandbox, 'b'), 'b\n');
  const remove = () => hook('/nonexistent', 'WorktreeRemove', { worktree_path: sandbox }, env);
  expect(remove()).toEqual(silent);
  expect(existsSync(sandbox)).toBe(false);
  expect(remove()).toEqual(silent);
  const sessions = JSON.parse(agtOk(repository, 'session', 'list', '--all', '--json'));
  expect(sessions).toMatchObject([{ session_id: 'cc-fix-it-now', state: 'removed', profile: 'claude-code' }]);
  expect(git(repository, 'show', 'agtsessions/cc-fix-it-now:sandbox/b')).toBe('b');
  expect(create('fix/it now').stdout).toBe(`${repository}.agt/sessions/cc-fix-it-now-2/sandbox\n`);
  expect(hook(makeTempDir(), 'WorktreeCreate', { name: 'x' })).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: not in a git repository/),
  });
  expect(failures()).toHaveLength(1);
});
