/** Factory Droid. Its events are those of Claude Code. Its documentation: https://docs.factory.ai/reference/hooks-reference */
import { join } from 'node:path';
import { likeClaude, readClaudeEvent } from './claude-events.ts';
import { type EventJson, objectOf } from './event.ts';
import { jsonHooks } from './install/json-hooks.ts';
import { jsonServer } from './install/mcp-server.ts';
import type { Integration } from './integration.ts';

const TOOLS = 'Execute|Edit|MultiEdit|Create|ApplyPatch|mcp__.*';

export const droid: Integration = {
  name: 'droid',
  title: 'Factory Droid',
  program: 'droid',
  // The file for the environment that it names is for values as they stand: $PATH in it would be no path.
  readEvent: (json, _env, cwd) => readClaudeEvent(json, {}, cwd),
  ...likeClaude,
  home: (env) => join(env['FACTORY_HOME_OVERRIDE'] || env['HOME'] || '', '.factory'),
  file: 'settings.json',
  projectFile: '.factory/settings.local.json',
  copiesTranscript: true,
  settings: jsonHooks({
    events: [
      ...['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse'],
      ...['Notification', 'SubagentStop', 'Stop', 'SessionEnd'],
    ],
    matchers: { PreToolUse: TOOLS, PostToolUse: TOOLS },
    offSwitch: (settings: EventJson) =>
      objectOf(settings, 'hooks')['hooksDisabled'] === true ? 'hooks.hooksDisabled' : undefined,
  }),
  mcp: {
    file: 'mcp.json',
    projectFile: '.factory/mcp.json',
    settings: jsonServer('mcpServers', ([command = '', ...args]) => ({ type: 'stdio', command, args })),
  },
};
