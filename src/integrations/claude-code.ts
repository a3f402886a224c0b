/** Claude Code. Its documentation: https://code.claude.com/docs/en/hooks */
import { join } from 'node:path';
import { allHooksDisabled, likeClaude, readClaudeEvent } from './claude-events.ts';
import { jsonHooks } from './install/json-hooks.ts';
import { mcpServers } from './install/mcp-server.ts';
import type { Integration } from './integration.ts';

const TOOLS = 'Bash|PowerShell|Edit|MultiEdit|Write|NotebookEdit|mcp__.*';

const HOOKS = {
  events: [
    ...['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure'],
    ...['Notification', 'SubagentStop', 'Stop', 'StopFailure', 'SessionEnd'],
  ],
  matchers: {
    PreToolUse: TOOLS,
    PostToolUse: TOOLS,
    PostToolUseFailure: 'Bash|PowerShell|mcp__.*',
  },
  // Seconds. A large repository takes its time to check out. For the end of a session it would allow one and a half.
  fields: (event: string) => ({ timeout: WORKTREE_EVENTS.includes(event) ? 600 : 30 }),
  offSwitch: allHooksDisabled,
};

const WORKTREE_EVENTS = ['WorktreeCreate', 'WorktreeRemove'];

const home: Integration['home'] = (env) => env['CLAUDE_CONFIG_DIR'] || join(env['HOME'] ?? '', '.claude');

export const claudeCode: Integration = {
  name: 'claude-code',
  title: 'Claude Code',
  program: 'claude',
  readEvent: readClaudeEvent,
  ...likeClaude,
  home,
  file: 'settings.json',
  projectFile: '.claude/settings.local.json',
  mcp: {
    file: (env) => join(env['CLAUDE_CONFIG_DIR'] || env['HOME'] || '', '.claude.json'),
    projectFile: '.mcp.json',
    settings: mcpServers,
  },
  settings: (tool, { worktrees }) =>
    jsonHooks({ ...HOOKS, events: [...HOOKS.events, ...(worktrees ? WORKTREE_EVENTS : [])] })(tool),
  plugin: {
    directory: '.claude-plugin',
    home: `\${CLAUDE_CONFIG_DIR:-$HOME/.claude}`,
    hasCommands: true,
  },
  resume: {
    words: (id) => ['--resume', id],
    transcript: {
      directory: (env) => join(home(env), 'projects'),
      prompt: /^(?!.*"tool_result").*"type":"user"/,
      result: /"type":"tool_result"/,
    },
  },
  isolation: { variable: 'CLAUDE_CONFIG_DIR', login: ['.credentials.json'] },
  copiesTranscript: true,
  injectHooks: ({ text }) => ({ words: ['--settings', text], variables: {} }),
  worktrees: { prefix: 'cc-', subagentPrefix: 'cc-agent-' },
};
