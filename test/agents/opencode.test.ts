/** opencode itself, with a plugin of agt. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { write } from '../harness/world.ts';
import { type AgentSpec, agentDirectory, agentProblem, MODEL, TestAgent } from './agent.ts';
import { describeAgent } from './every-agent.ts';
import { script64 } from './model.ts';

const SETTINGS = {
  model: 'stand-in/model',
  small_model: 'stand-in/model',
  provider: {
    'stand-in': {
      npm: '@ai-sdk/openai-compatible',
      name: 'stand-in',
      options: { baseURL: `${MODEL}/v1`, apiKey: 'none' },
      models: { model: { name: 'model' } },
    },
  },
};

const opencode: AgentSpec = {
  name: 'opencode',
  program: `opencode-ai/node_modules/opencode-linux-${process.arch}/bin/opencode`,
  prepare: (home) => {
    const config = join(home, '.config/opencode');
    write(join(config, 'opencode.json'), JSON.stringify(SETTINGS));
    // opencode would install this package before it starts, from the network.
    for (const name of ['package.json', 'package-lock.json', 'node_modules'])
      cpSync(join(agentDirectory('plugin'), name), join(config, name), { recursive: true });
  },
  env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  args: (prompt) => ['run', prompt],
  settings: '.config/opencode/plugins/agt.js',
};

const problem = agentProblem(opencode);
beforeEach(({ skip }) => skip(problem !== undefined, problem));

describeAgent(opencode, {
  shell: (command) => ({ tool: 'bash', args: { command, description: 'test' } }),
  edit: (path, content) => ({ tool: 'write', args: { filePath: path, content } }),
  names: { shell: 'bash', edit: 'write' },
  reportsFailure: true,
  conversation: /^xdg\/opencode\.db$/m,
  isInjected: true,
  blocksPrompts: false,
});

test('git of opencode is that of agt', () => {
  const agent = new TestAgent(opencode);
  const { sandbox, repository } = makeSession();
  agent.install(sandbox);
  const call = { tool: 'bash', args: { command: 'command -v git > which', description: 'test' } };
  agent.run(sandbox, script64([call, { text: 'done' }]));
  expect(readFileSync(join(sandbox, 'which'), 'utf8').trim()).toBe(join(repository, '.git/agt/bin/git'));
});
