/** Codex itself, with hooks of agt. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, git, makeRepository, makeTempDir, write } from '../harness/world.ts';
import { type AgentSpec, agentDirectory, agentProblem, MODEL, TestAgent } from './agent.ts';
import { describeAgent } from './every-agent.ts';
import { script } from './model.ts';

const CONFIG = `# the model
model = "gpt-5.5"
model_provider = "stand-in"

[model_providers.stand-in]
name = "stand-in"
base_url = "${MODEL}/v1"
wire_api = "responses"
`;

const codex: AgentSpec = {
  name: 'codex',
  program: 'codex/node_modules/.bin/codex',
  prepare: (home) => write(join(home, '.codex/config.toml'), CONFIG),
  env: () => ({}),
  args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
  settings: '.codex/hooks.json',
  install: ['--trust'],
};

const problem = agentProblem(codex);
beforeEach(({ skip }) => skip(problem !== undefined, problem));

describeAgent(codex, {
  shell: (command) => ({ tool: 'exec_command', args: { cmd: command } }),
  edit: (path, content) => ({
    tool: 'apply_patch',
    args: { input: `*** Begin Patch\n*** Add File: ${path}\n+${content}*** End Patch\n` },
  }),
  names: { shell: 'Bash', edit: 'apply_patch' },
  reportsFailure: false,
  conversation: /^xdg\/codex\/rollout.*\.jsonl$/m,
  isInjected: false,
  blocksPrompts: true,
  showsAnswer: false,
});

test('Codex trusts the hooks only if the user says so, and forgets that with them', () => {
  const agent = new TestAgent(codex);
  const { sandbox } = makeSession();
  const config = join(agent.home, '.codex/config.toml');
  const state = () => JSON.parse(agent.agt(sandbox, 'hooks', 'status', 'codex', '--json'))[0].state;
  for (const option of [[], ['--no-trust']]) {
    agent.agt(sandbox, 'hooks', 'install', 'codex', ...option);
    expect(readFileSync(config, 'utf8')).toBe(CONFIG);
    expect(state()).toBe('untrusted');
  }
  agent.run(sandbox, script([{ tool: 'exec_command', args: { cmd: 'echo 1 > one' } }, { text: 'done' }]));
  expect(agent.log(sandbox)).toEqual([]);
  agent.agt(sandbox, 'hooks', 'install', 'codex', '--trust');
  expect(state()).toBe('installed');
  agent.agt(sandbox, 'hooks', 'install', 'codex');
  expect(state()).toBe('installed');
  agent.agt(sandbox, 'hooks', 'uninstall', 'codex');
  expect(readFileSync(config, 'utf8')).toBe(CONFIG);

  agent.agt(sandbox, 'hooks', 'install', 'codex', '--trust');
  writeFileSync(config, readFileSync(config, 'utf8').replace('# the model', '# my model'));
  agent.agt(sandbox, 'hooks', 'uninstall', 'codex');
  expect(readFileSync(config, 'utf8').trim()).toMatch(/^# my model\n/);
  expect(readFileSync(config, 'utf8')).not.toMatch(/trusted_hash/);
});

test('a patch that comes through the shell is in the next snapshot', () => {
  const agent = new TestAgent(codex);
  const { sandbox } = makeSession();
  agent.agt(sandbox, 'hooks', 'install', 'codex', '--trust');
  const patch = '*** Begin Patch\n*** Add File: five\n+5\n*** End Patch\n';
  const call = { tool: 'exec_command', args: { cmd: `apply_patch <<'EOF'\n${patch}EOF` } };
  agent.run(sandbox, script([call, { text: 'done' }]));
  expect(agent.log(sandbox).reduce((sum, { added }) => sum + Number(added), 0)).toBe(1);
});

test('in agt session run, git of Codex is that of agt', () => {
  const agent = new TestAgent(codex);
  const { sandbox, repository } = makeSession();
  const call = { tool: 'exec_command', args: { cmd: 'command -v git > which' } };
  agent.runInSession(sandbox, script([call, { text: 'done' }]));
  expect(readFileSync(join(sandbox, 'which'), 'utf8').trim()).toBe(join(repository, '.git/agt/bin/git'));
});

test('a worktree that Codex makes is a folder with snapshots of its own', () => {
  const agent = new TestAgent(codex);
  const repository = makeRepository({ a: 'a\n' });
  agent.install(repository);
  const call = { tool: 'exec_command', args: { cmd: 'echo 1 > one; pwd' } };
  const turn = agent.run(repository, script([call, { text: 'done' }]), '--worktree');
  expect(turn.exitCode).toBe(0);
  expect(existsSync(join(repository, 'one'))).toBe(false);
  const worktree =
    git(repository, 'worktree', 'list', '--porcelain').match(/^worktree (.*codex.*)$/m)?.[1] ?? '';
  expect(agent.log(worktree)).toContainEqual(expect.objectContaining({ tool: 'Bash', added: 1 }));
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('takes the plugin of agt: its hooks, its server and its skill', () => {
  const agent = new TestAgent(codex);
  const market = makeTempDir();
  agent.agt(market, 'plugin', 'plugins/agt', '--for', 'codex');
  const source = { source: 'local', path: './plugins/agt' };
  const policy = { installation: 'AVAILABLE', authentication: 'ON_INSTALL' };
  const listed = { name: 'local', plugins: [{ name: 'agt', source, policy, category: 'Productivity' }] };
  write(join(market, '.agents/plugins/marketplace.json'), JSON.stringify(listed));
  const call = (...args: string[]) =>
    spawnSync(agentDirectory(codex.program), args, {
      encoding: 'utf8',
      env: { HOME: agent.home, PATH: process.env['PATH'] },
    }).stdout;
  call('plugin', 'marketplace', 'add', market);
  expect(call('plugin', 'add', 'agt@local')).toContain('Added plugin `agt`');
  expect(call('mcp', 'list')).toMatch(/^agt +agt +mcp .* enabled/m);
  agent.agt(market, 'hooks', 'install', 'codex', '--mcp', '--no-trust');
  expect(call('mcp', 'get', 'agt')).toContain(AGT);
});
