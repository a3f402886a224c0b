/** agt hook: events of agents become snapshots, and nothing that fails reaches the agent. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { failures, hook, log, metadata, say, silent, stateDir, toolOf, until } from './hooks.ts';

test('each prompt, each tool call that changes something or fails, and each end of a turn is a snapshot', () => {
  const session = makeSession({ a: 'a\n', b: 'b\n' });
  const { sandbox } = session;
  write(join(sandbox, 'mine'), 'before the prompt\n');
  expect(say(sandbox, '\n fix  the login form\nof the page')).toEqual(silent);
  write(join(sandbox, 'c'), 'c\n');
  expect(toolOf(sandbox, 'Write', { file_path: join(sandbox, 'c'), content: 'c\n' })).toEqual(silent);
  expect(toolOf(sandbox, 'Bash', { command: 'ls' }, 'PostToolUse', 'toolu_2')).toEqual(silent);
  rmSync(join(sandbox, 'a'));
  expect(toolOf(join(sandbox, '.'), 'Bash', { command: 'rm a; false' }, 'PostToolUseFailure')).toEqual(
    silent,
  );
  expect(toolOf(sandbox, 'Bash', { command: 'false' }, 'PostToolUseFailure')).toEqual(silent);
  write(join(session.folder, 'xdg/log'), 'x');
  expect(hook(sandbox, 'Stop')).toEqual(silent);
  expect(hook(sandbox, 'Stop')).toEqual(silent);
  expect(log(session)).toMatchObject([
    { tool: null, added: 1 },
    { tool: 'Bash', outcome: 'failed', summary: 'false', modified: 0 },
    { tool: 'Bash', outcome: 'failed', summary: 'rm a; false', deleted: 1 },
    { tool: 'Write', outcome: 'succeeded', call_id: 'toolu_1', summary: 'c', added: 1 },
    { label: 'prompt: fix the login form', added: 1 },
  ]);
  expect(failures()).toEqual([]);
});

test('a turn that fails marks the session until the agent goes on', () => {
  const session = makeSession();
  const { sandbox } = session;
  const state = () => {
    const { state, state_reason: reason } = metadata(session);
    return [state, reason];
  };
  const failed = ['failed', 'a turn of claude failed: rate_limit'];
  write(join(sandbox, 'half'), 'half\n');
  expect(hook(sandbox, 'StopFailure', { error: 'rate_limit' })).toEqual(silent);
  expect(state()).toEqual(failed);
  expect(log(session)).toMatchObject([{ added: 1 }]);
  write(join(sandbox, 'half'), 'more\n');
  agtOk(session.repository, 'autocommit', '--all');
  expect(hook(sandbox, 'SessionEnd')).toEqual(silent);
  expect(state()).toEqual(failed);
  expect(JSON.parse(agtOk(session.repository, 'list', '--json'))).toMatchObject([{ state: 'failed' }]);
  say(sandbox, 'go on');
  expect(state()).toEqual(['active', undefined]);
  expect(metadata(session).failure).toBeUndefined();
  expect(hook(makeTempDir(), 'StopFailure')).toEqual(silent);
  expect(failures()).toEqual([]);
});

test('a conversation owns its session, and git on its PATH is that of agt', async () => {
  const session = makeSession();
  const { sandbox } = session;
  write(join(sandbox, 'a'), 'a\n');
  const file = join(makeTempDir(), 'environment');
  const env = { CLAUDE_PID: `${process.pid}`, CLAUDE_ENV_FILE: file };
  write(file, 'export A=1\n');
  for (const source of ['startup', 'resume'])
    expect(hook(sandbox, 'SessionStart', { source }, env)).toEqual(silent);
  expect(metadata(session).owner).toMatchObject({ pid: process.pid, command: 'claude' });
  const bin = join(session.repository, '.git/agt/bin');
  expect(readFileSync(file, 'utf8')).toBe(`export A=1\nexport PATH=${bin}:"$PATH"\n`);
  const used = spawnSync('sh', ['-c', `. ${file}; command -v git`], { encoding: 'utf8' });
  expect(used.stdout.trim()).toBe(join(bin, 'git'));
  await until(() => log(session).length > 0);
  expect(log(session)).toMatchObject([{ added: 1, label: null }]);
  const removal = agt(session.repository, 'session', 'remove', session.id);
  expect(removal.stderr).toMatch(/^error: "claude" runs in session "s1"/);
  hook(sandbox, 'SessionEnd', {}, { CLAUDE_PID: '1' });
  expect(metadata(session).owner).toBeDefined();
  hook(sandbox, 'SessionEnd', {}, env);
  expect(metadata(session).owner).toBeUndefined();
});

test('tools that end at once wait for each other', async () => {
  const session = makeSession();
  const { sandbox } = session;
  const { spawn } = await import('node:child_process');
  await Promise.all(
    [1, 2, 3].map((n) => {
      write(join(sandbox, `f${n}`), `${n}`);
      const child = spawn(AGT, ['hook', 'claude-code'], { stdio: ['pipe', 'ignore', 'ignore'] });
      const call = { tool_name: `T${n}`, tool_use_id: `${n}`, tool_input: {} };
      child.stdin.end(JSON.stringify({ cwd: sandbox, hook_event_name: 'PostToolUseFailure', ...call }));
      return new Promise((resolve) => child.on('exit', resolve));
    }),
  );
  expect(
    log(session)
      .map(({ tool }) => tool)
      .sort(),
  ).toEqual(['T1', 'T2', 'T3']);
});

test('variables of a project reach neither git nor agt', () => {
  const session = makeSession();
  const other = makeRepository({ other: '1' });
  const evil = join(makeTempDir(), 'git');
  write(evil, `#!/bin/sh\ntouch ${evil}.was-here\n`, 0o755);
  write(join(session.sandbox, 'a'), 'a');
  const env = { AGT_GIT_PATH: evil, GIT_DIR: join(other, '.git'), GIT_WORK_TREE: other, AGT_SESSION: 'x' };
  expect(hook(session.sandbox, 'Stop', {}, env)).toEqual(silent);
  expect(log(session)).toMatchObject([{ added: 1 }]);
  expect(existsSync(`${evil}.was-here`)).toBe(false);
  expect(git(other, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

test('a failure of agt is a line in hooks.log and in agt status; the agent hears nothing', () => {
  const session = makeSession();
  const bad = (input: string, ...words: string[]) => run(AGT, ['hook', ...words], { cwd: '/', input });
  for (const [input, ...words] of [
    ['no JSON', 'claude-code'],
    ['[]', 'claude-code'],
    ['', 'claude-code', '--unknown'],
    ['{}', 'no-such-agent'],
    ['{"cwd":"relative"}', 'claude-code'],
    ['{"cwd":"/no/such","hook_event_name":"Stop"}', 'claude-code'],
  ])
    expect(bad(input ?? '', ...words)).toEqual(silent);
  expect(failures()).toHaveLength(4);
  expect(run(AGT, ['hook', 'claude-code'], { cwd: session.sandbox, input: 'no JSON' })).toEqual(silent);
  expect(agtOk(session.repository, 'status')).toMatch(/hook of claude-code: /);
  expect(failures()).toHaveLength(1);

  agtOk(session.repository, 'config', 'set', 'agt.maxFileSize', '1m');
  write(join(session.repository, '.git/agt/config'), '[agt]\n\tmaxFileSize = much\n');
  write(join(session.sandbox, 'a'), 'a');
  expect(hook(session.sandbox, 'Stop')).toEqual(silent);
  rmSync(join(session.repository, '.git/agt/config'));
  expect(log(session)).toHaveLength(1);
  expect(failures()).toMatchObject([{ event: 'Stop', reason: expect.stringMatching(/maxFileSize/) }]);

  write(join(session.repository, '.git/agt/config'), '[agt]\n\tmaxFileSize = much\n');
  expect(hook(session.sandbox, 'Stop')).toEqual(silent);
  rmSync(join(session.repository, '.git/agt/config'));
  const status = agt(session.repository, 'status');
  expect(status.stdout).toMatch(/hook of claude-code \(Stop\)/);
  expect(JSON.parse(agtOk(session.repository, 'status', '--json')).hook_failures).toMatchObject([
    { tool: 'claude-code', event: 'Stop', cwd: session.sandbox },
  ]);
  failures();
});

test('in any other folder the snapshots go to a store of its own', async () => {
  const checkout = makeRepository({ a: 'a\n' });
  const refs = git(checkout, 'for-each-ref');
  const stores = join(stateDir(), 'folders');
  expect(hook(checkout, 'SessionStart', {}, { CLAUDE_PID: `${process.pid}` })).toEqual(silent);
  const snapshots = () =>
    (existsSync(stores) ? readdirSync(stores) : [])
      .filter((name) => /^project-.*\.git$/.test(name))
      .flatMap(
        (name) => run(REAL_GIT, ['log', '--all', '--format=%s%n%b'], { cwd: join(stores, name) }).stdout,
      )
      .join('');
  await until(() => snapshots().includes('Agt-Agent: claude'));
  say(checkout, 'look');
  write(join(checkout, 'b'), 'b\n');
  toolOf(checkout, 'Write', { file_path: 'b' });
  expect(snapshots()).toMatch(
    /^Write: b\n(.*\n)*Agt-Conversation: c1\n(.*\n)*Agt-Call: toolu_1\n(.*\n)*prompt: look\n/,
  );
  expect(git(checkout, 'for-each-ref')).toBe(refs);
  expect(existsSync(join(checkout, '.git/agt'))).toBe(false);
  const home = process.env['HOME'] ?? '';
  for (const event of ['SessionStart', 'Stop', 'Stop']) expect(hook(home, event)).toEqual(silent);
  expect(failures()).toMatchObject([{ reason: expect.stringMatching(/^agt does not snapshot your home/) }]);
});

test('an agent that has deleted its own directory is still in the session above it', () => {
  const session = makeSession({ 'd/f': 'f\n' });
  const gone = join(session.sandbox, 'd/e');
  rmSync(join(session.sandbox, 'd'), { recursive: true });
  write(join(session.sandbox, 'important'), 'x');
  expect(toolOf(gone, 'Bash', { command: 'rm -r d' })).toEqual(silent);
  expect(log(session)).toMatchObject([{ tool: 'Bash', added: 1, deleted: 1 }]);
  expect(JSON.parse(say(gone, 'agt undo').stdout)).toMatchObject({ decision: 'block' });
  // Elsewhere the directory above need not have to do with the agent.
  const folder = makeTempDir();
  expect(hook(join(folder, 'gone'), 'Stop')).toEqual(silent);
  expect(agt(folder, 'snapshot', 'list').exitCode).not.toBe(0);
  expect(failures()).toEqual([]);
});

test('after one slow capture the next step is still captured before the hook ends', () => {
  const session = makeSession();
  const slow = join(session.repository, '.git/agt/slow/s1');
  write(slow, '.');
  write(join(session.sandbox, 'a'), 'a');
  expect(toolOf(session.sandbox, 'Write', { file_path: 'a' })).toEqual(silent);
  expect(log(session)).toMatchObject([{ tool: 'Write', added: 1 }]);
  expect(existsSync(slow)).toBe(false);
});

test('different names of worktrees are different sessions, and none is somebody else’s', () => {
  const repository = makeRepository();
  agtOk(repository, 'session', 'new', 'cc-fix');
  const made = (name: string) => hook(repository, 'WorktreeCreate', { name }).stdout.trim();
  const names = ['feature/x', 'feature-x', 'ünï', 'änä', '日本', '..', 'fix', 'plain'];
  const paths = names.map(made);
  expect(new Set(paths).size).toBe(names.length);
  expect(paths.at(-1)).toMatch(/\/cc-plain\/sandbox$/);
  expect(paths).not.toContain(agtOk(repository, 'session', 'path', 'cc-fix'));
  expect(names.map(made)).toEqual(paths);
  expect(failures()).toEqual([]);
});

test('agt goes by no variable that a project could have set', () => {
  const checkout = makeRepository({ a: 'a\n' });
  const planted = join(checkout, 'state');
  const settings = join(checkout, 'config');
  const ran = join(makeTempDir(), 'ran');
  write(join(settings, 'git/config'), `[core]\n\tfsmonitor = "touch ${ran}; false"\n[alias]\n\tx = y\n`);
  write(join(checkout, 'b'), 'b\n');
  for (const XDG_STATE_HOME of [planted, 'state'])
    expect(hook(checkout, 'Stop', {}, { XDG_STATE_HOME, XDG_CONFIG_HOME: settings })).toEqual(silent);
  expect(existsSync(planted)).toBe(false);
  expect(existsSync(ran)).toBe(false);
  expect(readdirSync(join(stateDir(), 'folders')).some((name) => name.startsWith('project-'))).toBe(true);
  expect(failures()).toEqual([]);
});

test('in a session that has ended, and with agt.hooks=false, agt does nothing', () => {
  const session = makeSession();
  write(join(session.sandbox, 'a'), 'a');
  agtOk(session.repository, 'config', 'set', 'agt.hooks', 'false');
  expect(say(session.sandbox, 'agt undo')).toEqual(silent);
  expect(hook(session.sandbox, 'Stop')).toEqual(silent);
  expect(log(session)).toEqual([]);
  const ended = sessionIn(session.repository, 's2');
  agtOk(session.repository, 'config', 'unset', 'agt.hooks');
  agtOk(session.repository, 'session', 'remove', 's2');
  mkdirSync(ended.sandbox, { recursive: true });
  expect(hook(ended.sandbox, 'Stop')).toEqual(silent);
  expect(failures()).toEqual([]);
});

test('the events that the guide shows are a turn with a call; a prompt without a change is none', () => {
  const { sandbox } = makeSession({ a: '1\n' });
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/agents.md'), 'utf8');
  const [, events = ''] = /\n\n( {4}tell\(\) .*?)\n\n/s.exec(guide) ?? [];
  const env = { PATH: `${dirname(AGT)}:${process.env['PATH']}` };
  const of = (chosen: RegExp) => {
    const lines = events.split('\n').filter((line) => chosen.test(line));
    return run('sh', ['-ec', lines.join('\n')], { cwd: sandbox, env }).stdout;
  };
  expect(of(/tell\(\)|agt hook|Prompt|Stop|agt log/)).toBe(
    'no turns: no call of a tool has changed anything yet; the first one that does begins turn 1\n',
  );
  expect(of(/./)).toMatch(/^TURN .*\n +1 .* claude +1 +1 +\+1 -0 +Add a file\n$/);
});

test('the background job of a start takes no work of a call for that of nobody', () => {
  const session = makeSession({ a: 'a\n' });
  const { sandbox } = session;
  const start = { kind: 'session-start', name: 'SessionStart', cwd: sandbox, conversation: 'c1' };
  const runJob = () =>
    run(AGT, ['hook', 'claude-code', '--background'], {
      cwd: '/',
      input: Buffer.from(JSON.stringify(start)),
    });
  say(sandbox, 'add b');
  toolOf(sandbox, 'Write', { file_path: 'b' }, 'PreToolUse');
  write(join(sandbox, 'b'), 'b\n');
  runJob();
  toolOf(sandbox, 'Write', { file_path: 'b' });
  write(join(sandbox, 'c'), 'c\n');
  runJob();
  expect(log(session)).toMatchObject([
    { tool: null, author: 'other', added: 1 },
    { tool: 'Write', author: 'agent', added: 1 },
    { label: 'prompt: add b' },
  ]);
  expect(failures()).toEqual([]);
});

test("the log does not call a change the agent's that somebody else made before the end of its turn", () => {
  const { sandbox, repository } = makeSession({ a: 'a\n' });
  say(sandbox, 'add b');
  toolOf(sandbox, 'Write', { file_path: 'b' }, 'PreToolUse');
  write(join(sandbox, 'b'), 'b\n');
  toolOf(sandbox, 'Write', { file_path: 'b' });
  write(join(sandbox, 'a'), 'by a person\n');
  hook(sandbox, 'Stop');
  const rows = agtOk(repository, 'session', 'log', 's1').split('\n').slice(1);
  expect(rows.map((row) => row.replace(/^.* \w{10} {2}/, ''))).toEqual([
    '(not by claude)',
    '(Write: b) (claude)',
    'prompt: add b (claude)',
  ]);
});
