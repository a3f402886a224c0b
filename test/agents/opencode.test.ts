/** opencode itself, with a plugin of agt. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { write } from '../harness/world.ts';
import { type AgentSpec, agentDirectory, agentProblem, TestAgent } from './agent.ts';
import { describeAgent } from './every-agent.ts';
import { likeOpencode, SETTINGS } from './like-opencode.ts';
import { script64 } from './model.ts';

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
  ...likeOpencode,
  conversation: /^xdg\/opencode\.db$/m,
});

test('agt undo as a prompt: the files are back before the model repeats the answer', () => {
  const agent = new TestAgent(opencode);
  const { sandbox } = makeSession();
  agent.install(sandbox);
  const call = { tool: 'bash', args: { command: 'echo 1 > one', description: 'test' } };
  agent.run(sandbox, script64([call, call, { text: 'done' }]));
  const { asked } = agent.run(sandbox, 'agt undo');
  expect(existsSync(join(sandbox, 'one'))).toBe(false);
  const heard = asked.map(({ body }) => JSON.stringify(body)).join();
  expect(heard).toContain('Repeat its answer word for word');
  expect(heard).toContain('s1: restored 1 path, verified');
  expect(heard).not.toContain('agt undo');
  expect(agent.log(sandbox).filter(({ label }) => /undo/.test(`${label}`))).toEqual([]);
});

test('git of opencode is that of agt', () => {
  const agent = new TestAgent(opencode);
  const { sandbox, repository } = makeSession();
  agent.install(sandbox);
  const call = { tool: 'bash', args: { command: 'command -v git > which', description: 'test' } };
  agent.run(sandbox, script64([call, { text: 'done' }]));
  expect(readFileSync(join(sandbox, 'which'), 'utf8').trim()).toBe(join(repository, '.git/agt/bin/git'));
});
