/** Factory Droid itself, with hooks of agt. */
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { write } from '../harness/world.ts';
import { type AgentSpec, agentProblem, MODEL } from './agent.ts';
import { describeAgent } from './every-agent.ts';

const SETTINGS = {
  customModels: [
    {
      model: 'stand-in',
      displayName: 'Stand-in',
      baseUrl: `${MODEL}/v1`,
      apiKey: 'none',
      provider: 'generic-chat-completion-api',
    },
  ],
};

const droid: AgentSpec = {
  name: 'droid',
  program: `droid/node_modules/@factory/cli-linux-${process.arch}/bin/droid`,
  prepare: (home) => write(join(home, '.factory/settings.json'), `${JSON.stringify(SETTINGS, null, 2)}\n`),
  env: () => ({ FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false', FACTORY_DISABLE_SETTINGS_PERSISTENCE: 'true' }),
  args: (prompt) => ['exec', '-m', 'custom:Stand-in-0', '--skip-permissions-unsafe', prompt],
  settings: '.factory/settings.json',
};

const problem = agentProblem(droid);
beforeEach(({ skip }) => skip(problem !== undefined, problem));

describeAgent(droid, {
  shell: (command) => ({
    tool: 'Execute',
    args: { command, summary: 'test', riskLevel: 'low', riskLevelReason: 'a test' },
  }),
  edit: (path, content) => ({ tool: 'Create', args: { file_path: path, content } }),
  names: { shell: 'Execute', edit: 'Create' },
  reportsFailure: true,
  missesFailed: true,
  missesPrompts: true,
  conversation: /^xdg\/droid\/.*\.jsonl$/m,
  isInjected: false,
  blocksPrompts: false, // droid exec sends no prompts
});
