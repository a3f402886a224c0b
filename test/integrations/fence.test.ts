/** An agent hears before a call that a file has another path in its sandbox, or that its session has ended. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { failures, silent, toolOf } from './hooks.ts';

const before = (cwd: string, input: object, tool = 'Write') => toolOf(cwd, tool, input, 'PreToolUse');

test('files of the checkout, of a linked worktree and of another session are refused, by any path', () => {
  const repository = makeRepository({ 'src/a': 'a\n' });
  const [one, two] = ['s1', 's2'].map((id) => sessionIn(repository, id));
  if (one === undefined || two === undefined) throw new Error('no session');
  const linked = join(makeTempDir(), 'linked');
  git(repository, 'worktree', 'add', '-q', '-b', 'side', linked);
  symlinkSync(repository, join(one.sandbox, 'up'));
  symlinkSync(join(repository, 'src'), join(one.sandbox, 'down'));
  symlinkSync('up/not there', join(one.sandbox, 'dead'));
  const refused: [string, string][] = [
    [join(repository, 'src/a'), 'src/a'],
    [join(repository, 'new/deep/file'), 'new/deep/file'],
    [join(one.sandbox, '../../../../project/src/a'), 'src/a'],
    [join(one.sandbox, 'up/src/a'), 'src/a'],
    // The system goes up from where the link leads to.
    [`${one.sandbox}/down/../a`, 'a'],
    [join(one.sandbox, 'dead'), 'not there'],
    [join(linked, 'b'), 'b'],
    [join(two.sandbox, 'c'), 'c'],
  ];
  for (const [file_path, inside] of refused) {
    const { stdout, ...others } = before(one.sandbox, { file_path, content: 'x' });
    expect(others).toEqual({ exitCode: 0, stderr: '' });
    const { hookSpecificOutput } = JSON.parse(stdout);
    expect(hookSpecificOutput).toMatchObject({ hookEventName: 'PreToolUse', permissionDecision: 'deny' });
    expect(hookSpecificOutput.permissionDecisionReason).toContain(`Use ${join(one.sandbox, inside)} instead`);
  }
  const allowed = [
    join(one.sandbox, 'src/a'),
    'src/a',
    join(one.folder, 'xdg/x'),
    '/tmp/x',
    join(repository, '..', 'x'),
  ];
  for (const file_path of allowed) expect(before(one.sandbox, { file_path })).toEqual(silent);
  expect(before(one.sandbox, { file_path: join(repository, 'a') }, 'mcp__files__read')).toEqual(silent);
  for (const tool of ['Read', 'read_file', 'Glob', 'mcp__fs__list_directory'])
    expect(before(one.sandbox, { file_path: join(repository, 'src/a') }, tool)).toEqual(silent);
  expect(before(one.sandbox, { file_path: join(repository, 'a') }, 'search_replace').stdout).toContain(
    'deny',
  );
  expect(before(one.sandbox, { command: `cat ${repository}/src/a` }, 'Bash')).toEqual(silent);
  // The checkout itself, and a session in it, are where the agent works.
  expect(before(repository, { file_path: join(repository, 'src/a') })).toEqual(silent);
  agtOk(repository, 'config', 'set', '--global', 'agt.fence', 'off');
  expect(before(one.sandbox, { file_path: join(repository, 'src/a') })).toEqual(silent);
  agtOk(repository, 'config', 'unset', '--global', 'agt.fence');
  expect(failures()).toEqual([]);
});

test('a repository cannot switch it off; the other agents hear it in their own form', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(repository, '.git/agt/config'), '[agt]\n\tfence = off\n');
  const say = (agent: string, event: string, tool: string, name = 'file_path') => {
    const input = { session_id: 'c', cwd: sandbox, hook_event_name: event, tool_name: tool };
    const text = JSON.stringify({ ...input, tool_input: { [name]: join(repository, 'a') } });
    return JSON.parse(run(AGT, ['hook', agent], { cwd: '/', input: text }).stdout);
  };
  const refused = expect.stringMatching(/^\/.* is not in the sandbox of this session/);
  const tell = (agent: string, tool: string, input: object) => {
    const event = { event: 'before', cwd: sandbox, tool, input, failed: false };
    return run(AGT, ['hook', agent], { cwd: '/', input: JSON.stringify(event) }).stdout;
  };
  for (const [agent, tool, name] of [
    ['opencode', 'write', 'filePath'],
    ['kilo', 'edit', 'filePath'],
    ['cline', 'editor', 'path'],
    ['amp', 'create_file', 'path'],
  ] as const) {
    const input = { [name]: join(repository, 'a') };
    expect(JSON.parse(tell(agent, tool, input))).toEqual({ answer: refused });
    expect(tell(agent, 'server_tool', input)).toBe('');
  }
  expect(say('cursor', 'preToolUse', 'Write')).toMatchObject({ permission: 'deny', agent_message: refused });
  const denied = { hookSpecificOutput: { permissionDecision: 'deny' } };
  expect(say('codex', 'PreToolUse', 'edit')).toMatchObject(denied);
  const patch = `*** Begin Patch\n*** Update File: b\n*** Move to: ${repository}/b\n*** End Patch\n`;
  const event = { session_id: 'c', cwd: sandbox, hook_event_name: 'PreToolUse', tool_name: 'apply_patch' };
  const input = JSON.stringify({ ...event, tool_input: { command: patch } });
  expect(JSON.parse(run(AGT, ['hook', 'codex'], { cwd: '/', input }).stdout)).toMatchObject(denied);
  expect(say('qwen', 'PreToolUse', 'edit')).toMatchObject(denied);
  expect(say('copilot', 'PreToolUse', 'Write', 'path')).toMatchObject(denied);
  expect(say('gemini', 'BeforeTool', 'replace')).toMatchObject({ decision: 'deny' });
});

test('an agent that goes on in a session that has ended hears of it before each call', () => {
  const { repository, sandbox } = makeSession({ 'sub/a': 'a\n' }, 'late');
  const ended = ({ stdout }: { stdout: string }) => /late\\" has ended \((.*?)\)/.exec(stdout)?.[1];
  const calls = () =>
    [sandbox, join(sandbox, 'sub')].map((cwd) => ended(toolOf(cwd, 'Bash', { command: 'ls' }, 'PreToolUse')));
  write(join(sandbox, 'sub/a'), 'b\n');
  expect(calls()).toEqual([undefined, undefined]);
  agtOk(repository, 'accept', 'late');
  expect(calls()).toEqual(['accepted on main', 'accepted on main']);
  mkdirSync(join(sandbox, 'sub'), { recursive: true });
  const answer = toolOf(sandbox, 'Write', { file_path: join(sandbox, 'x') }, 'PreToolUse').stdout;
  expect(JSON.parse(answer).hookSpecificOutput).toMatchObject({
    permissionDecision: 'deny',
    permissionDecisionReason: expect.stringMatching(
      / gone: stop, and tell the user; agt undo late brings it/,
    ),
  });
  expect(toolOf(sandbox, 'Write', {})).toEqual(silent);
  expect(toolOf(repository, 'Bash', { command: 'ls' }, 'PreToolUse')).toEqual(silent);
  rmSync(join(sandbox, 'sub'), { recursive: true });
  agtOk(repository, 'undo', 'late');
  expect(calls()).toEqual([undefined, undefined]);
  agtOk(repository, 'config', 'set', 'agt.hooks', 'false');
  agtOk(repository, 'reject', 'late');
  expect(calls()).toEqual([undefined, undefined]);
  expect(failures()).toEqual([]);
});
