/** Cline itself, with a plugin of agt. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { write } from '../harness/world.ts';
import { type AgentSpec, agentProblem, MODEL, TestAgent } from './agent.ts';
import { describeAgent } from './every-agent.ts';
import { script64 } from './model.ts';

const settings = { provider: 'openai-compatible', apiKey: 'none', model: 'stand-in', baseUrl: `${MODEL}/v1` };
const PROVIDERS = {
  version: 1,
  lastUsedProvider: 'openai-compatible',
  modes: {},
  providers: {
    'openai-compatible': { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' },
  },
};

const cline: AgentSpec = {
  name: 'cline',
  program: `cline/node_modules/@cline/cli-linux-${process.arch}/bin/cline`,
  prepare: (home) => write(join(home, '.cline/data/settings/providers.json'), JSON.stringify(PROVIDERS)),
  // It would leave a daemon behind.
  env: () => ({ CLINE_SESSION_BACKEND_MODE: 'local' }),
  args: (prompt) => [prompt],
  settings: '.cline/plugins/agt.js',
};

const problem = agentProblem(cline);
beforeEach(({ skip }) => skip(problem !== undefined, problem));

const shell = (command: string) => ({ tool: 'run_commands', args: { commands: [command] } });

describeAgent(cline, {
  shell,
  edit: (path, new_text) => ({ tool: 'editor', args: { path, new_text } }),
  names: { shell: 'run_commands', edit: 'editor' },
  reportsFailure: true,
  conversation: undefined,
  isInjected: false,
  blocksPrompts: false,
});

test('agt undo as a prompt: the files are back before the model repeats the answer', () => {
  const agent = new TestAgent(cline);
  const { sandbox } = makeSession();
  agent.install(sandbox);
  agent.run(sandbox, script64([shell('echo 1 > one'), { text: 'done' }]));
  const { asked } = agent.run(sandbox, 'agt undo');
  expect(existsSync(join(sandbox, 'one'))).toBe(false);
  const heard = asked.map(({ body }) => body).join();
  expect(heard).toContain('Repeat its answer word for word');
  expect(heard).toContain('s1: restored 1 path, verified');
  expect(agent.log(sandbox).filter(({ label }) => /undo/.test(`${label}`))).toEqual([]);
});
