/** GitHub Copilot CLI itself, with hooks of agt. */
import { beforeEach } from 'vitest';
import { type AgentSpec, agentProblem, MODEL } from './agent.ts';
import { describeAgent } from './every-agent.ts';

const copilot: AgentSpec = {
  name: 'copilot',
  program: 'copilot/node_modules/.bin/copilot',
  prepare: () => {},
  env: () => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${MODEL}/v1`,
    COPILOT_PROVIDER_API_KEY: 'none',
    COPILOT_MODEL: 'gpt-4.1',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  args: (prompt) => ['--allow-all-tools', '--allow-all-paths', '-p', prompt],
  settings: '.copilot/hooks/agt.json',
};

const problem = agentProblem(copilot);
beforeEach(({ skip }) => skip(problem !== undefined, problem));

describeAgent(copilot, {
  shell: (command) => ({ tool: 'bash', args: { command, description: 'test' } }),
  edit: (path, file_text) => ({ tool: 'create', args: { path, file_text } }),
  names: { shell: 'Bash', edit: 'Write' },
  reportsFailure: true,
  conversation: /^xdg\/copilot\/events\.jsonl$/m,
  isInjected: false,
  blocksPrompts: true,
});
