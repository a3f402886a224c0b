/** Claude Code itself, with hooks of agt. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, git, makeRepository, makeTempDir, write } from '../harness/world.ts';
import { agentDirectory, agentProblem, TestAgent } from './agent.ts';
import { claude } from './claude.ts';
import { describeAgent } from './every-agent.ts';
import { script, script64 } from './model.ts';

const problem = agentProblem(claude);
beforeEach(({ skip }) => skip(problem !== undefined, problem));

describeAgent(claude, {
  shell: (command) => ({ tool: 'Bash', args: { command } }),
  edit: (path, content) => ({ tool: 'Write', args: { file_path: path, content } }),
  names: { shell: 'Bash', edit: 'Write' },
  reportsFailure: true,
  conversation: /^xdg\/claude-code\/.*\.jsonl$/m,
  isInjected: true,
  blocksPrompts: true,
});

test('git of the agent is that of agt', () => {
  const agent = new TestAgent(claude);
  const { sandbox, repository } = makeSession();
  agent.agt(sandbox, 'hooks', 'install', 'claude-code');
  const call = { tool: 'Bash', args: { command: 'command -v git > which' } };
  expect(agent.run(sandbox, script([call])).exitCode).toBe(0);
  expect(readFileSync(join(sandbox, 'which'), 'utf8').trim()).toBe(join(repository, '.git/agt/bin/git'));
});

test('the model hears with the next prompt of the conversation what has gone back', () => {
  const agent = new TestAgent(claude);
  const { sandbox } = makeSession({ a: 'a\n' });
  agent.install(sandbox);
  const call = { tool: 'Bash', args: { command: 'echo 1 >one' } };
  expect(agent.run(sandbox, script([call, { text: 'done' }])).exitCode).toBe(0);
  agent.agt(sandbox, 'undo');
  const told = (...more: string[]) =>
    agent
      .run(sandbox, 'go on', ...more)
      .asked.filter(({ body }) => /taken these files back.*: one\. /.test(body));
  expect(told('--continue').length).toBeGreaterThan(0);
  expect(told()).toEqual([]); // another conversation
});

test('in a checkout its git makes a snapshot before it destroys, also in the middle of a script', () => {
  const agent = new TestAgent(claude);
  const repository = makeRepository({ a: 'a\n' });
  agent.agt(repository, 'hooks', 'install', 'claude-code');
  const command =
    'command -v git >which; echo work >a; mkdir made; echo 1 >made/one; git clean -fdxq; git checkout -q .';
  expect(agent.run(repository, script([{ tool: 'Bash', args: { command } }])).exitCode).toBe(0);
  expect([existsSync(join(repository, 'made')), readFileSync(join(repository, 'a'), 'utf8')]).toEqual([
    false,
    'a\n',
  ]);
  expect(existsSync(join(repository, '.git/agt'))).toBe(false);
  agent.agt(repository, 'snapshot', 'restore', 'before git clean -fdxq');
  expect(readFileSync(join(repository, 'made/one'), 'utf8')).toBe('1\n');
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('work\n');
  const bin = join(agent.home, '.local/state/agt/hooks/bin');
  expect(readFileSync(join(repository, 'which'), 'utf8').trim()).toBe(join(bin, 'git'));
  agent.agt(repository, 'hooks', 'uninstall', 'claude-code');
  expect(existsSync(bin)).toBe(false);
});

test('takes the plugin of agt, and its command takes a turn back without the model', () => {
  const agent = new TestAgent({
    ...claude,
    env: () => ({ ...claude.env(''), PATH: `${bin}:${process.env['PATH']}` }),
  });
  const bin = makeTempDir('bin');
  symlinkSync(AGT, join(bin, 'agt'));
  const plugin = join(makeTempDir(), 'agt');
  const repository = makeRepository({ a: 'a\n' });
  agent.agt(repository, 'plugin', plugin);
  for (const strictness of [['--strict'], ['--profile', 'directory']]) {
    const { status, stdout } = spawnSync(
      agentDirectory(claude.program),
      ['plugin', 'validate', ...strictness, plugin],
      { encoding: 'utf8', env: { HOME: agent.home, PATH: process.env['PATH'] } },
    );
    expect([status, stdout]).toEqual([0, expect.stringContaining('Validation passed')]);
  }
  const call = { tool: 'Bash', args: { command: 'echo 1 >a' } };
  agent.run(repository, script([call, { text: 'done' }]), '--plugin-dir', plugin);
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('1\n');
  const { asked, stdout: said } = agent.run(repository, '/agt:undo', '--plugin-dir', plugin);
  expect(said).toContain('restored 1 path, verified');
  expect(asked).toEqual([]);
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('a\n');
});

test('goes on in a fork with its conversation before a prompt', () => {
  const agent = new TestAgent(claude);
  const { sandbox, repository, id } = makeSession({ a: 'a\n' });
  agent.install(sandbox);
  for (const n of ['first', 'second'])
    agent.run(
      sandbox,
      `${n} ${script([{ tool: 'Bash', args: { command: `echo ${n} >a` } }, { text: n }])}`,
      '--continue',
    );
  agent.agt(repository, 'session', 'fork', id, '--id', 'f1', '--at', 'prompt: second');
  const fork = sandbox.replace(id, 'f1');
  const { exitCode, asked } = agent.resume(fork, ...claude.args('third'));
  expect(exitCode).toBe(0);
  const body = asked.at(-1)?.body ?? '';
  expect(body).toMatch(/"first .*echo first >a.*third/);
  expect(body).not.toMatch(/echo second|sessions\/s1\//);
});

test('worktrees of the agent and of its subagents are sessions', () => {
  const agent = new TestAgent(claude);
  const repository = makeRepository({ a: 'a\n' });
  const sessions = () => readdirSync(join(`${repository}.agt/sessions`)).sort();
  agent.agt(repository, 'hooks', 'install', 'claude-code', '--worktrees');
  const write1 = { tool: 'Bash', args: { command: 'echo 1 > one' } };
  expect(agent.run(repository, script([write1, { text: 'done' }]), '--worktree', 'fix').stdout).toBe(
    'done\n',
  );
  expect(sessions()).toEqual(['cc-fix']);
  const sandbox = join(`${repository}.agt/sessions/cc-fix/sandbox`);
  expect(readFileSync(join(sandbox, 'one'), 'utf8')).toBe('1\n');
  expect(agent.log(sandbox)).toContainEqual(expect.objectContaining({ tool: 'Bash', added: 1 }));

  // The same name leads to the same sandbox. One subagent changes something, the other does not.
  const subagent = (steps: Parameters<typeof script64>[0]) => ({
    tool: 'Agent',
    args: {
      description: 'help',
      prompt: script64(steps),
      subagent_type: 'general-purpose',
      isolation: 'worktree',
      run_in_background: false,
    },
  });
  const changing = subagent([{ tool: 'Bash', args: { command: 'echo 2 > two' } }, { text: 'x' }]);
  const looking = subagent([{ tool: 'Bash', args: { command: 'ls' } }, { text: 'y' }]);
  const both = agent.run(repository, script([changing, looking, { text: 'done' }]), '--worktree', 'fix');
  expect(both.stdout).toBe('done\n');
  const left = () => sessions().filter((id) => id.startsWith('cc-agent-'));
  for (const end = Date.now() + 30_000; left().length > 1 && Date.now() < end; )
    Atomics.wait(waiting, 0, 0, 50);
  expect(left()).toHaveLength(1);
  const [id = ''] = left();
  expect(readFileSync(join(`${repository}.agt/sessions`, id, 'sandbox/two'), 'utf8')).toBe('2\n');
  expect(existsSync(join(repository, 'two'))).toBe(false);
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(agent.failures()).toBe('');
});

const waiting = new Int32Array(new SharedArrayBuffer(4));

test('an agt that never ends costs its time limit, and nothing else', () => {
  const agent = new TestAgent(claude);
  const folder = makeTempDir();
  agent.install(folder);
  const slow = join(makeTempDir(), 'slow-agt');
  write(slow, '#!/bin/sh\nexec sleep 100\n', 0o755);
  const file = join(agent.home, claude.settings);
  write(file, readFileSync(file, 'utf8').replaceAll(AGT, slow).replaceAll('"timeout": 30', '"timeout": 1'));
  const call = { tool: 'Bash', args: { command: 'echo 1 > one' } };
  const turn = agent.run(folder, script([call, { text: 'done' }]));
  expect(turn).toMatchObject({ exitCode: 0, stdout: 'done\n' });
  expect(existsSync(join(folder, 'one'))).toBe(true);
});

test('a worktree that cannot be made is an error of the agent', () => {
  const agent = new TestAgent(claude);
  const folder = makeTempDir();
  write(join(folder, 'a'), 'a');
  agent.agt(folder, 'hooks', 'install', 'claude-code', '--worktrees');
  const run = agent.run(folder, script([{ text: 'done' }]), '--worktree', 'fix');
  expect(run.exitCode).toBe(1);
  expect(run.stderr).toMatch(/not in a git repository/);
});
