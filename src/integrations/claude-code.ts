/** Claude Code. Its documentation: https://code.claude.com/docs/en/hooks */
import { join } from 'node:path';
import { allHooksDisabled, blockPrompt, readClaudeEvent } from './claude-events.ts';
import { jsonHooks } from './install/json-hooks.ts';
import type { Integration } from './integration.ts';

const NAME = 'claude-code';

const HOOKS = {
  events: [
    ...['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure'],
    ...['SubagentStop', 'Stop', 'StopFailure', 'SessionEnd'],
  ],
  matchers: {
    PostToolUse: 'Bash|PowerShell|Edit|MultiEdit|Write|NotebookEdit|mcp__.*',
    PostToolUseFailure: 'Bash|PowerShell|mcp__.*',
  },
  // Seconds. A large repository takes its time to check out. For the end of a session it would allow one and a half.
  fields: (event: string) => ({ timeout: WORKTREE_EVENTS.includes(event) ? 600 : 30 }),
  offSwitch: allHooksDisabled,
};

const WORKTREE_EVENTS = ['WorktreeCreate', 'WorktreeRemove'];

export const claudeCode: Integration = {
  name: NAME,
  title: 'Claude Code',
  program: 'claude',
  readEvent: readClaudeEvent,
  succeeded: { begins: '"hook_event_name":"PostToolUse"' },
  blockPrompt,
  home: (env) => env['CLAUDE_CONFIG_DIR'] || join(env['HOME'] ?? '', '.claude'),
  file: 'settings.json',
  projectFile: '.claude/settings.local.json',
  settings: ({ worktrees }) =>
    jsonHooks(NAME, { ...HOOKS, events: [...HOOKS.events, ...(worktrees ? WORKTREE_EVENTS : [])] }),
  isolation: { variable: 'CLAUDE_CONFIG_DIR', login: ['.credentials.json'] },
  copiesTranscript: true,
  injectHooks: ({ text }) => ({ words: ['--settings', text], variables: {} }),
  worktrees: { prefix: 'cc-', subagentPrefix: 'cc-agent-' },
};
