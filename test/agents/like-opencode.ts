/** opencode, and agents that are made of it. */

import { MODEL } from './agent.ts';
import type { AgentTools } from './every-agent.ts';

/** The provider of the model. */
export const SETTINGS = {
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

export const likeOpencode = {
  shell: (command) => ({ tool: 'bash', args: { command, description: 'test' } }),
  edit: (path, content) => ({ tool: 'write', args: { filePath: path, content } }),
  names: { shell: 'bash', edit: 'write' },
  reportsFailure: true,
  isInjected: true,
  blocksPrompts: false,
} satisfies Partial<AgentTools>;
