/** Qwen Code itself, with hooks of agt. */
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { write } from '../harness/world.ts';
import { type AgentSpec, agentProblem, MODEL } from './agent.ts';
import { describeAgent } from './every-agent.ts';

const qwen: AgentSpec = {
  name: 'qwen',
  program: 'qwen-code/node_modules/.bin/qwen',
  prepare: (home) =>
    write(
      join(home, '.qwen/settings.json'),
      '{ "security": { "auth": { "selectedType": "openai" } }, "$version": 4 }\n',
    ),
  env: () => ({ OPENAI_BASE_URL: `${MODEL}/v1`, OPENAI_API_KEY: 'none', OPENAI_MODEL: 'stand-in' }),
  args: (prompt) => ['--yolo', '-p', prompt],
  settings: '.qwen/settings.json',
};

const problem = agentProblem(qwen);
beforeEach(({ skip }) => skip(problem !== undefined, problem));

describeAgent(qwen, {
  shell: (command) => ({ tool: 'run_shell_command', args: { command, is_background: false } }),
  edit: (path, content) => ({ tool: 'write_file', args: { file_path: path, content } }),
  names: { shell: 'run_shell_command', edit: 'write_file' },
  reportsFailure: true,
  conversation: /^xdg\/qwen\/.*\.jsonl$/m,
  isInjected: false,
  blocksPrompts: true,
  showsAnswer: false,
});
