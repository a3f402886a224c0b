/** Claude Code. Its documentation: https://code.claude.com/docs/en/hooks */
import { readClaudeEvent } from './claude-events.ts';
import type { Integration } from './integration.ts';

export const claudeCode: Integration = {
  name: 'claude-code',
  title: 'Claude Code',
  program: 'claude',
  readEvent: readClaudeEvent,
  blockPrompt: (reason) => JSON.stringify({ decision: 'block', reason }),
};
