/** Gemini CLI itself, with hooks of agt. */
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { write } from '../harness/world.ts';
import { type AgentSpec, agentProblem, MODEL } from './agent.ts';
import { describeAgent } from './every-agent.ts';

const gemini: AgentSpec = {
  name: 'gemini',
  program: 'gemini-cli/node_modules/.bin/gemini',
  prepare: (home) =>
    write(
      join(home, '.gemini/settings.json'),
      '{\n  // as the agent asks when it first starts\n  "security": { "auth": { "selectedType": "gemini-api-key" } }\n}\n',
    ),
  env: () => ({ GOOGLE_GEMINI_BASE_URL: MODEL, GEMINI_API_KEY: 'none', GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  args: (prompt) => ['-m', 'gemini-2.5-flash', '--approval-mode', 'yolo', '-p', prompt],
  settings: '.gemini/settings.json',
};

const problem = agentProblem(gemini);
beforeEach(({ skip }) => skip(problem !== undefined, problem));

describeAgent(gemini, {
  shell: (command) => ({ tool: 'run_shell_command', args: { command } }),
  edit: (path, content) => ({ tool: 'write_file', args: { file_path: path, content } }),
  names: { shell: 'run_shell_command', edit: 'write_file' },
  isFenced: false,
  reportsFailure: true,
  conversation: /^xdg\/gemini\/session.*\.jsonl$/m,
  isInjected: false,
  blocksPrompts: true,
});
