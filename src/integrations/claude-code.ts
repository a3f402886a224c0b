/** Claude Code. Its documentation: https://code.claude.com/docs/en/hooks */
import { join } from 'node:path';
import { allHooksDisabled, readClaudeEvent } from './claude-events.ts';
import { type HookGroup, jsonHooks } from './install/json-hooks.ts';
import type { Integration } from './integration.ts';

const NAME = 'claude-code';

/** Seconds. For the end of a session Claude Code itself would allow one and a half. */
const fields = { timeout: 30 };

const GROUPS: readonly HookGroup[] = [
  { event: 'SessionStart', fields },
  { event: 'UserPromptSubmit', fields },
  { event: 'PostToolUse', matcher: 'Bash|PowerShell|Edit|MultiEdit|Write|NotebookEdit|mcp__.*', fields },
  { event: 'PostToolUseFailure', matcher: 'Bash|PowerShell|mcp__.*', fields },
  { event: 'SubagentStop', fields },
  { event: 'Stop', fields },
  { event: 'StopFailure', fields },
  { event: 'SessionEnd', fields },
];

/** A large repository takes its time to check out. */
const WORKTREE_GROUPS: readonly HookGroup[] = ['WorktreeCreate', 'WorktreeRemove'].map((event) => ({
  event,
  fields: { timeout: 600 },
}));

export const claudeCode: Integration = {
  name: NAME,
  title: 'Claude Code',
  program: 'claude',
  readEvent: readClaudeEvent,
  succeeded: { begins: '"hook_event_name":"PostToolUse"' },
  blockPrompt: (reason) => JSON.stringify({ decision: 'block', reason }),
  home: (env) => env['CLAUDE_CONFIG_DIR'] || join(env['HOME'] ?? '', '.claude'),
  file: 'settings.json',
  projectFile: '.claude/settings.local.json',
  settings: ({ worktrees }) =>
    jsonHooks(NAME, [...GROUPS, ...(worktrees ? WORKTREE_GROUPS : [])], allHooksDisabled),
  isolation: { variable: 'CLAUDE_CONFIG_DIR', login: ['.credentials.json'] },
  copiesTranscript: true,
  injectHooks: ({ text }) => ({ words: ['--settings', text], variables: {} }),
  worktrees: { prefix: 'cc-', subagentPrefix: 'cc-agent-' },
};
